#include "storage/key_format.h"

#include "absl/strings/str_cat.h"
#include "common/bytes.h"
#include "common/limits.h"
#include "common/status_util.h"

namespace vectable {
namespace {

constexpr std::string_view kCountersKeyPrefix = "counters/";
constexpr uint8_t kTableVersion = 1;
constexpr uint8_t kCountersVersion = 1;
constexpr uint8_t kRowVersion = 1;
constexpr uint8_t kLogVersion = 1;
constexpr uint8_t kRowDeletedFlag = 1;

absl::Status ReadVersion(ByteReader& reader, uint8_t newest, const char* what) {
  VT_ASSIGN_OR_RETURN(const uint8_t version, reader.U8());
  if (version > newest) {
    return absl::UnimplementedError(
        absl::StrCat(what, " of version ", version, "; this program reads up to ", newest));
  }
  if (version == 0) return absl::DataLossError(absl::StrCat(what, " of version 0"));
  return absl::OkStatus();
}

// Sections that later versions add: tag, length, bytes. This version knows none and passes over
// them.
absl::Status SkipSections(ByteReader& reader) {
  while (reader.remaining() > 0) {
    VT_RETURN_IF_ERROR(reader.Varint().status());
    VT_RETURN_IF_ERROR(reader.String().status());
  }
  return absl::OkStatus();
}

uint64_t ZigZag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

}  // namespace

std::string RowsFamilyName(uint32_t table_id) { return absl::StrCat("t", table_id, ".rows"); }
std::string WordsFamilyName(uint32_t table_id) { return absl::StrCat("t", table_id, ".words"); }

std::string TableKey(uint32_t table_id) {
  std::string key(kTableKeyPrefix);
  PutU32Be(key, table_id);
  return key;
}

std::string CountersKey(uint32_t table_id) {
  std::string key(kCountersKeyPrefix);
  PutU32Be(key, table_id);
  return key;
}

absl::StatusOr<uint32_t> DecodeTableKey(std::string_view key) {
  if (!key.starts_with(kTableKeyPrefix)) return absl::DataLossError("not a table's key");
  ByteReader reader(key.substr(kTableKeyPrefix.size()));
  VT_ASSIGN_OR_RETURN(const uint32_t table_id, reader.U32Be());
  VT_RETURN_IF_ERROR(reader.ExpectEnd());
  return table_id;
}

std::string EncodeU32(uint32_t value) {
  std::string out;
  PutU32Le(out, value);
  return out;
}

absl::StatusOr<uint32_t> DecodeU32(std::string_view bytes) {
  ByteReader reader(bytes);
  VT_ASSIGN_OR_RETURN(const uint32_t value, reader.U32Le());
  VT_RETURN_IF_ERROR(reader.ExpectEnd());
  return value;
}

std::string EncodeTable(const TableRecord& record) {
  std::string out;
  PutU8(out, kTableVersion);
  PutString(out, record.name);
  PutU32Le(out, record.dimensions);
  PutU8(out, static_cast<uint8_t>(record.precision));
  PutU8(out, static_cast<uint8_t>(record.metric));
  PutU64Le(out, static_cast<uint64_t>(record.created_unix_micros));
  PutVarint(out, record.dimension_names.size());
  for (const std::string& name : record.dimension_names) PutString(out, name);
  return out;
}

absl::Status DecodeTable(std::string_view bytes, TableRecord& record) {
  ByteReader reader(bytes);
  VT_RETURN_IF_ERROR(ReadVersion(reader, kTableVersion, "table"));
  VT_ASSIGN_OR_RETURN(const std::string_view name, reader.String());
  record.name = name;
  VT_ASSIGN_OR_RETURN(record.dimensions, reader.U32Le());
  VT_ASSIGN_OR_RETURN(const uint8_t precision, reader.U8());
  VT_ASSIGN_OR_RETURN(const uint8_t metric, reader.U8());
  if (!PrecisionFromNumber(precision) || !MetricFromNumber(metric) || record.dimensions == 0 ||
      record.dimensions > kMaxDimensions) {
    return absl::DataLossError(absl::StrCat(
        "table of ", record.dimensions, " dimensions, precision ", precision, ", metric ", metric));
  }
  record.precision = *PrecisionFromNumber(precision);
  record.metric = *MetricFromNumber(metric);
  VT_ASSIGN_OR_RETURN(const uint64_t created, reader.U64Le());
  record.created_unix_micros = static_cast<int64_t>(created);
  VT_ASSIGN_OR_RETURN(const uint64_t names, reader.VarintUpTo(record.dimensions));
  if (names != 0 && names != record.dimensions) {
    return absl::DataLossError(
        absl::StrCat(names, " names for ", record.dimensions, " dimensions"));
  }
  record.dimension_names.clear();
  for (uint64_t i = 0; i < names; ++i) {
    VT_ASSIGN_OR_RETURN(const std::string_view dimension, reader.String());
    record.dimension_names.emplace_back(dimension);
  }
  return SkipSections(reader);
}

std::string EncodeCounters(const TableRecord& record) {
  std::string out;
  PutU8(out, kCountersVersion);
  PutU64Le(out, record.rows);
  PutU64Le(out, record.next_row_id);
  PutU64Le(out, record.applied_sequence);
  return out;
}

absl::Status DecodeCounters(std::string_view bytes, TableRecord& record) {
  ByteReader reader(bytes);
  VT_RETURN_IF_ERROR(ReadVersion(reader, kCountersVersion, "counters"));
  VT_ASSIGN_OR_RETURN(record.rows, reader.U64Le());
  VT_ASSIGN_OR_RETURN(record.next_row_id, reader.U64Le());
  VT_ASSIGN_OR_RETURN(record.applied_sequence, reader.U64Le());
  return SkipSections(reader);
}

std::string RowKey(uint64_t row_id) {
  std::string key;
  PutU64Be(key, row_id);
  return key;
}

absl::StatusOr<uint64_t> DecodeRowKey(std::string_view key) {
  ByteReader reader(key);
  VT_ASSIGN_OR_RETURN(const uint64_t row_id, reader.U64Be());
  VT_RETURN_IF_ERROR(reader.ExpectEnd());
  return row_id;
}

void EncodeRow(std::string& out, std::string_view word, std::string_view codes) {
  PutU8(out, kRowVersion);
  PutU8(out, 0);
  PutString(out, word);
  PutString(out, codes);
}

std::string EncodeDeletedRow() {
  std::string out;
  PutU8(out, kRowVersion);
  PutU8(out, kRowDeletedFlag);
  return out;
}

absl::StatusOr<DecodedRow> DecodeRow(std::string_view bytes) {
  ByteReader reader(bytes);
  VT_RETURN_IF_ERROR(ReadVersion(reader, kRowVersion, "row"));
  VT_ASSIGN_OR_RETURN(const uint8_t flags, reader.U8());
  if (flags > kRowDeletedFlag) {
    return absl::DataLossError(absl::StrCat("row with unknown flags ", flags));
  }
  DecodedRow row;
  row.deleted = flags == kRowDeletedFlag;
  if (!row.deleted) {
    VT_ASSIGN_OR_RETURN(row.word, reader.String());
    VT_ASSIGN_OR_RETURN(row.codes, reader.String());
  }
  VT_RETURN_IF_ERROR(SkipSections(reader));
  return row;
}

std::string EncodeWordValue(uint64_t row_id) {
  std::string out;
  PutU64Le(out, row_id);
  return out;
}

absl::StatusOr<uint64_t> DecodeWordValue(std::string_view bytes) {
  ByteReader reader(bytes);
  VT_ASSIGN_OR_RETURN(const uint64_t row_id, reader.U64Le());
  VT_RETURN_IF_ERROR(reader.ExpectEnd());
  return row_id;
}

std::string LogKey(uint32_t table_id, uint64_t sequence) {
  std::string key;
  PutU32Be(key, table_id);
  PutU64Be(key, sequence);
  return key;
}

absl::StatusOr<uint64_t> DecodeLogKey(std::string_view key, uint32_t table_id) {
  ByteReader reader(key);
  VT_ASSIGN_OR_RETURN(const uint32_t table, reader.U32Be());
  VT_ASSIGN_OR_RETURN(const uint64_t sequence, reader.U64Be());
  VT_RETURN_IF_ERROR(reader.ExpectEnd());
  if (table != table_id) return absl::DataLossError("log key of another table");
  return sequence;
}

std::string EncodeLogEntry(const Commit& commit) {
  std::string out;
  PutU8(out, kLogVersion);
  PutU8(out, static_cast<uint8_t>(commit.kind));
  PutVarint(out, commit.changes.size());
  uint64_t previous = 0;
  for (const RowChange& change : commit.changes) {
    PutVarint(out, ZigZag(static_cast<int64_t>(change.row_id - previous)));
    previous = change.row_id;
  }
  return out;
}

absl::StatusOr<LogEntry> DecodeLogEntry(std::string_view bytes) {
  ByteReader reader(bytes);
  VT_RETURN_IF_ERROR(ReadVersion(reader, kLogVersion, "log entry"));
  VT_ASSIGN_OR_RETURN(const uint8_t kind, reader.U8());
  if (kind < 1 || kind > 2) return absl::DataLossError(absl::StrCat("log entry of kind ", kind));
  LogEntry entry;
  entry.kind = static_cast<RowChange::Kind>(kind);
  VT_ASSIGN_OR_RETURN(const uint64_t count, reader.VarintUpTo(reader.remaining()));
  entry.row_ids.reserve(count);
  uint64_t previous = 0;
  for (uint64_t i = 0; i < count; ++i) {
    VT_ASSIGN_OR_RETURN(const uint64_t delta, reader.Varint());
    previous += static_cast<uint64_t>(UnZigZag(delta));
    if (previous > kMaxRowId) {
      return absl::DataLossError(absl::StrCat("row id ", previous, " in a log entry"));
    }
    entry.row_ids.push_back(previous);
  }
  VT_RETURN_IF_ERROR(reader.ExpectEnd());
  return entry;
}

}  // namespace vectable
