#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "rocksdb/db.h"
#include "storage/rocks_families.h"
#include "storage/store.h"

namespace vectable {

// The row id of each word, or nothing, in the view of `read`.
absl::StatusOr<std::vector<std::optional<uint64_t>>> FindWordsIn(
    rocksdb::DB& db, const rocksdb::ReadOptions& read, const TableFamilies& families,
    std::span<const std::string_view> words);

// The row of each id, or nothing, in the view of `read`.
absl::StatusOr<std::vector<std::optional<StoredRow>>> GetRowsIn(rocksdb::DB& db,
                                                                const rocksdb::ReadOptions& read,
                                                                const TableFamilies& families,
                                                                std::span<const uint64_t> row_ids);

// What became of each id, as of now.
absl::StatusOr<std::vector<RowIdState>> FindRowIdsIn(rocksdb::DB& db, const TableFamilies& families,
                                                     std::span<const uint64_t> row_ids);

// Up to `max` log entries of a table with a sequence above `after`, by sequence.
absl::StatusOr<std::vector<LogEntry>> ReadLogIn(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* log,
                                                uint32_t table_id, uint64_t after, size_t max);

}  // namespace vectable
