#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"
#include "storage/rocks_families.h"
#include "storage/rocks_options.h"
#include "storage/table_record.h"

namespace vectable {

// A database that is open: its families, its format checked, its catalogue. Thread-safe.
class RocksDatabase {
 public:
  // Opens or makes the one at `path` and removes families that no table names. Where files of some
  // tables are damaged so that RocksDB refuses to open them, the others can be used all the same;
  // reading those gives DATA_LOSS. On a full disk it can be read alone; the watch says that it
  // failed to take writes. DATA_LOSS for any other damage, FAILED_PRECONDITION for a newer format.
  // `options` and `events` must outlive the database.
  static absl::StatusOr<std::unique_ptr<RocksDatabase>> Open(const std::string& path,
                                                             const RocksOptions& options,
                                                             EventSink& events);
  ~RocksDatabase();
  RocksDatabase(const RocksDatabase&) = delete;
  RocksDatabase& operator=(const RocksDatabase&) = delete;

  rocksdb::DB& db() const { return *db_; }
  RocksFamilies& families() const { return *families_; }

  // Writes the batch, unless something failed since the open.
  absl::Status Write(rocksdb::WriteBatch& batch, bool sync, const std::string& what) const;

  // The catalogue.
  absl::StatusOr<std::vector<TableRecord>> Tables() const;
  absl::StatusOr<TableRecord> ReadTable(const rocksdb::ReadOptions& read, uint32_t table_id) const;
  // Copies the database as it is at one moment to the new folder `path` on the same disk, by hard
  // links; the copy's catalogue.
  absl::StatusOr<std::vector<TableRecord>> Checkpoint(const std::string& path) const;
  // The families of its tables of which some file is known to be damaged.
  std::vector<std::string> DamagedFamilies() const;
  // An id that no table had; callers take turns.
  absl::StatusOr<uint32_t> TakeTableId() const;

 private:
  RocksDatabase(std::unique_ptr<rocksdb::DB> db,
                const std::vector<rocksdb::ColumnFamilyHandle*>& handles,
                const RocksOptions& options);

  absl::Status CheckOrWriteFormat() const;
  absl::Status KeepNamedFamilies(bool drop_others) const;

  const RocksOptions& options_;
  std::unique_ptr<rocksdb::DB> db_;
  std::unique_ptr<RocksFamilies> families_;
};

}  // namespace vectable
