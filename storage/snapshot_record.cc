#include "storage/snapshot_record.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/bytes.h"
#include "common/status_util.h"
#include "storage/key_format.h"

namespace vectable {
namespace {

constexpr std::string_view kMagic = "VTSNAP\n\n";
constexpr uint32_t kVersion = 1;

}  // namespace

std::string EncodeSnapshot(const SnapshotRecord& record) {
  std::string out(kMagic);
  PutU32Le(out, kVersion);
  PutU64Le(out, static_cast<uint64_t>(record.created_unix_micros));
  PutVarint(out, record.tables.size());
  for (const TableRecord& table : record.tables) {
    PutVarint(out, table.table_id);
    PutString(out, EncodeTable(table));
    PutString(out, EncodeCounters(table));
  }
  PutU64Le(out, XXH3_64bits(out.data(), out.size()));
  return out;
}

absl::StatusOr<SnapshotRecord> DecodeSnapshot(std::string_view bytes) {
  if (bytes.size() < kMagic.size() + sizeof(uint64_t) || !bytes.starts_with(kMagic)) {
    return absl::DataLossError("not the description of a snapshot");
  }
  const std::string_view body = bytes.substr(0, bytes.size() - sizeof(uint64_t));
  ByteReader in(body.substr(kMagic.size()));
  VT_ASSIGN_OR_RETURN(const uint32_t version, in.U32Le());
  if (version > kVersion) {
    return absl::FailedPreconditionError(absl::StrCat("the snapshot has format version ", version,
                                                      "; this program knows ", kVersion));
  }
  ByteReader end(bytes.substr(body.size()));
  VT_ASSIGN_OR_RETURN(const uint64_t hash, end.U64Le());
  if (hash != XXH3_64bits(body.data(), body.size())) {
    return absl::DataLossError("the description of the snapshot is damaged");
  }
  SnapshotRecord record;
  VT_ASSIGN_OR_RETURN(const uint64_t created, in.U64Le());
  record.created_unix_micros = static_cast<int64_t>(created);
  VT_ASSIGN_OR_RETURN(const uint64_t tables, in.VarintUpTo(body.size()));
  for (uint64_t i = 0; i < tables; ++i) {
    TableRecord table;
    VT_ASSIGN_OR_RETURN(const uint64_t table_id, in.VarintUpTo(UINT32_MAX));
    table.table_id = static_cast<uint32_t>(table_id);
    VT_ASSIGN_OR_RETURN(const std::string_view what, in.String());
    VT_RETURN_IF_ERROR(DecodeTable(what, table));
    VT_ASSIGN_OR_RETURN(const std::string_view counters, in.String());
    VT_RETURN_IF_ERROR(DecodeCounters(counters, table));
    record.tables.push_back(std::move(table));
  }
  VT_RETURN_IF_ERROR(in.ExpectEnd());
  return record;
}

}  // namespace vectable
