#include "storage/rocks_read.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "storage/key_format.h"
#include "storage/rocks_slice.h"
#include "storage/rocks_status.h"

namespace vectable {
namespace {

// RocksDB keeps some hundred bytes for each key of a lookup: so many stay in the cache.
constexpr size_t kKeysAtOnce = 128;

// The values of `keys` in `family`, each or nothing, in the view of `read`.
absl::StatusOr<std::vector<std::optional<rocksdb::PinnableSlice>>> MultiGet(
    rocksdb::DB& db, const rocksdb::ReadOptions& read, rocksdb::ColumnFamilyHandle* family,
    const std::vector<rocksdb::Slice>& keys) {
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  for (size_t i = 0; i < keys.size(); i += kKeysAtOnce) {
    db.MultiGet(read, family, std::min(kKeysAtOnce, keys.size() - i), keys.data() + i,
                values.data() + i, statuses.data() + i);
  }
  std::vector<std::optional<rocksdb::PinnableSlice>> found(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].IsNotFound()) continue;
    VT_RETURN_IF_ERROR(FromRocks(statuses[i], "reading " + family->GetName()));
    found[i] = std::move(values[i]);
  }
  return found;
}

}  // namespace

absl::StatusOr<std::vector<std::optional<uint64_t>>> FindWordsIn(
    rocksdb::DB& db, const rocksdb::ReadOptions& read, const TableFamilies& families,
    std::span<const std::string_view> words) {
  std::vector<rocksdb::Slice> keys;
  keys.reserve(words.size());
  for (const std::string_view word : words) keys.push_back(ToSlice(word));
  using Values = std::vector<std::optional<rocksdb::PinnableSlice>>;
  VT_ASSIGN_OR_RETURN(const Values values, MultiGet(db, read, families.words(), keys));
  std::vector<std::optional<uint64_t>> ids(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    if (!values[i]) continue;
    absl::StatusOr<uint64_t> id = DecodeWordValue(values[i]->ToStringView());
    if (!id.ok()) return Annotate(id.status(), absl::StrCat("word ", Quoted(words[i])));
    ids[i] = *id;
  }
  return ids;
}

absl::StatusOr<std::vector<std::optional<StoredRow>>> GetRowsIn(rocksdb::DB& db,
                                                                const rocksdb::ReadOptions& read,
                                                                const TableFamilies& families,
                                                                std::span<const uint64_t> row_ids) {
  std::vector<std::string> keys;
  keys.reserve(row_ids.size());
  for (const uint64_t id : row_ids) keys.push_back(RowKey(id));
  using Values = std::vector<std::optional<rocksdb::PinnableSlice>>;
  VT_ASSIGN_OR_RETURN(
      const Values values,
      MultiGet(db, read, families.rows(), std::vector<rocksdb::Slice>(keys.begin(), keys.end())));
  std::vector<std::optional<StoredRow>> rows(row_ids.size());
  for (size_t i = 0; i < row_ids.size(); ++i) {
    if (!values[i]) continue;
    absl::StatusOr<DecodedRow> row = DecodeRow(values[i]->ToStringView());
    if (!row.ok()) return Annotate(row.status(), absl::StrCat("row id ", row_ids[i]));
    if (row->deleted) continue;
    rows[i] = StoredRow{row_ids[i], std::string(row->word), std::string(row->codes)};
  }
  return rows;
}

absl::StatusOr<std::vector<RowIdState>> FindRowIdsIn(rocksdb::DB& db, const TableFamilies& families,
                                                     std::span<const uint64_t> row_ids) {
  std::vector<RowIdState> states(row_ids.size(), RowIdState::kUnused);
  for (size_t i = 0; i < row_ids.size(); ++i) {
    rocksdb::PinnableSlice value;
    const rocksdb::Status found =
        db.Get(rocksdb::ReadOptions(), families.rows(), RowKey(row_ids[i]), &value);
    if (found.IsNotFound()) continue;
    VT_RETURN_IF_ERROR(FromRocks(found, "reading rows"));
    absl::StatusOr<DecodedRow> row = DecodeRow(value.ToStringView());
    if (!row.ok()) return Annotate(row.status(), absl::StrCat("row id ", row_ids[i]));
    states[i] = row->deleted ? RowIdState::kDeleted : RowIdState::kLive;
  }
  return states;
}

absl::StatusOr<std::vector<LogEntry>> ReadLogIn(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* log,
                                                uint32_t table_id, uint64_t after, size_t max) {
  std::vector<LogEntry> entries;
  const std::string end = LogKey(table_id + 1, 0);
  rocksdb::ReadOptions read;
  const rocksdb::Slice bound(end);
  read.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(read, log));
  for (it->Seek(LogKey(table_id, after + 1)); it->Valid() && entries.size() < max; it->Next()) {
    VT_ASSIGN_OR_RETURN(const uint64_t sequence, DecodeLogKey(it->key().ToStringView(), table_id));
    absl::StatusOr<LogEntry> entry = DecodeLogEntry(it->value().ToStringView());
    if (!entry.ok()) return Annotate(entry.status(), absl::StrCat("log entry ", sequence));
    entry->sequence = sequence;
    entries.push_back(*std::move(entry));
  }
  VT_RETURN_IF_ERROR(FromRocks(it->status(), "reading the log"));
  return entries;
}

}  // namespace vectable
