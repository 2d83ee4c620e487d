#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/store.h"
#include "storage/table_record.h"

// The bytes of every key and value in RocksDB, and nothing else knows them. docs/storage_format.md
// says the same in prose, with the rule for changing it. Decoders check lengths and return
// DATA_LOSS for bytes that no encoder made, UNIMPLEMENTED for a version newer than this code.

namespace vectable {

// Column families.
inline constexpr std::string_view kLogFamily = "log";
std::string RowsFamilyName(uint32_t table_id);   // "t<id>.rows"
std::string WordsFamilyName(uint32_t table_id);  // "t<id>.words"

// Keys of the default family.
inline constexpr std::string_view kFormatKey = "format";
inline constexpr std::string_view kNextTableIdKey = "next_table_id";
inline constexpr std::string_view kTableKeyPrefix = "table/";
std::string TableKey(uint32_t table_id);     // what a table is
std::string CountersKey(uint32_t table_id);  // its counters, rewritten by every mutation
absl::StatusOr<uint32_t> DecodeTableKey(std::string_view key);

// Values of the default family.
std::string EncodeU32(uint32_t value);
absl::StatusOr<uint32_t> DecodeU32(std::string_view bytes);
std::string EncodeTable(const TableRecord& record);     // without the counters and the id
std::string EncodeCounters(const TableRecord& record);  // the counters alone
// Reads both into `record`.
absl::Status DecodeTable(std::string_view bytes, TableRecord& record);
absl::Status DecodeCounters(std::string_view bytes, TableRecord& record);

// Rows family: key and value of a row.
std::string RowKey(uint64_t row_id);
absl::StatusOr<uint64_t> DecodeRowKey(std::string_view key);
void EncodeRow(std::string& out, std::string_view word, std::string_view codes);
std::string EncodeDeletedRow();

// A stored row, or the mark that a deleted row leaves so that its id isn't used again.
struct DecodedRow {
  bool deleted = false;
  std::string_view word;   // inside the bytes given
  std::string_view codes;  // inside the bytes given
};
absl::StatusOr<DecodedRow> DecodeRow(std::string_view bytes);

// Words family: the key is the word itself; this is the value.
std::string EncodeWordValue(uint64_t row_id);
absl::StatusOr<uint64_t> DecodeWordValue(std::string_view bytes);

// Log family.
std::string LogKey(uint32_t table_id, uint64_t sequence);
absl::StatusOr<uint64_t> DecodeLogKey(std::string_view key, uint32_t table_id);
std::string EncodeLogEntry(const Commit& commit);
// The entry without its sequence, which is in the key.
absl::StatusOr<LogEntry> DecodeLogEntry(std::string_view bytes);

}  // namespace vectable
