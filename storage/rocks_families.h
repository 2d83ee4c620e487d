#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/db.h"
#include "storage/rocks_options.h"

namespace vectable {

// The two column families of one table. Whoever holds them may go on reading after the table is
// dropped; they must end before the database does.
class TableFamilies {
 public:
  TableFamilies(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* rows,
                rocksdb::ColumnFamilyHandle* words)
      : db_(db), rows_(rows), words_(words) {}
  ~TableFamilies();
  TableFamilies(const TableFamilies&) = delete;
  TableFamilies& operator=(const TableFamilies&) = delete;

  rocksdb::ColumnFamilyHandle* rows() const { return rows_; }
  rocksdb::ColumnFamilyHandle* words() const { return words_; }

  // Log entries up to this sequence are removed already. Touched by the table's one writer.
  uint64_t trimmed_through = 0;

 private:
  rocksdb::DB& db_;
  rocksdb::ColumnFamilyHandle* const rows_;
  rocksdb::ColumnFamilyHandle* const words_;
};

// Every column family of an open database, found by name. Thread-safe.
class RocksFamilies {
 public:
  // Takes the handles that DB::Open gave, with their names.
  RocksFamilies(rocksdb::DB& db, const RocksOptions& options,
                const std::vector<rocksdb::ColumnFamilyHandle*>& handles);
  ~RocksFamilies();
  RocksFamilies(const RocksFamilies&) = delete;
  RocksFamilies& operator=(const RocksFamilies&) = delete;

  rocksdb::ColumnFamilyHandle* main() const { return main_; }
  rocksdb::ColumnFamilyHandle* log() const { return log_; }

  // The families of a table. NOT_FOUND when there are none.
  absl::StatusOr<std::shared_ptr<TableFamilies>> Find(uint32_t table_id) const;

  // Makes the families of a new table.
  absl::Status Create(uint32_t table_id);

  // Drops a table's families and gives their disk back; fine when there are none.
  absl::Status Drop(uint32_t table_id);

  // Finds the families of these tables, and drops all others, if asked to; DATA_LOSS when a table
  // lacks a family.
  absl::Status KeepOnly(const std::vector<uint32_t>& table_ids, bool drop_others);

  // Every family's handle, for a flush.
  std::vector<rocksdb::ColumnFamilyHandle*> All() const;

 private:
  using Handles = std::map<std::string, rocksdb::ColumnFamilyHandle*>;

  absl::StatusOr<rocksdb::ColumnFamilyHandle*> CreateOne(
      const rocksdb::ColumnFamilyOptions& options, const std::string& name);
  absl::Status DropStray(rocksdb::ColumnFamilyHandle* handle);

  rocksdb::DB& db_;
  const RocksOptions& options_;
  rocksdb::ColumnFamilyHandle* main_ = nullptr;
  rocksdb::ColumnFamilyHandle* log_ = nullptr;

  mutable absl::Mutex mu_;
  Handles unclaimed_ ABSL_GUARDED_BY(mu_);  // opened, not yet given to a table
  std::map<uint32_t, std::shared_ptr<TableFamilies>> tables_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vectable
