#include "storage/rocks_families.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "storage/key_format.h"
#include "storage/rocks_status.h"

namespace vectable {

TableFamilies::~TableFamilies() {
  // Only frees memory and, for a dropped family, its files: nothing that can fail matters here.
  db_.DestroyColumnFamilyHandle(rows_).PermitUncheckedError();
  db_.DestroyColumnFamilyHandle(words_).PermitUncheckedError();
}

RocksFamilies::RocksFamilies(rocksdb::DB& db, const RocksOptions& options,
                             const std::vector<rocksdb::ColumnFamilyHandle*>& handles)
    : db_(db), options_(options) {
  absl::MutexLock lock(&mu_);
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    if (handle->GetName() == rocksdb::kDefaultColumnFamilyName) {
      main_ = handle;
    } else if (handle->GetName() == kLogFamily) {
      log_ = handle;
    } else {
      unclaimed_[handle->GetName()] = handle;
    }
  }
}

RocksFamilies::~RocksFamilies() {
  absl::MutexLock lock(&mu_);
  tables_.clear();
  for (const auto& [name, handle] : unclaimed_) {
    db_.DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  if (log_ != nullptr) db_.DestroyColumnFamilyHandle(log_).PermitUncheckedError();
  if (main_ != nullptr) db_.DestroyColumnFamilyHandle(main_).PermitUncheckedError();
}

absl::StatusOr<std::shared_ptr<TableFamilies>> RocksFamilies::Find(uint32_t table_id) const {
  absl::MutexLock lock(&mu_);
  const auto found = tables_.find(table_id);
  if (found == tables_.end()) {
    return absl::NotFoundError(absl::StrCat("the store has no table with id ", table_id));
  }
  return found->second;
}

absl::StatusOr<rocksdb::ColumnFamilyHandle*> RocksFamilies::CreateOne(
    const rocksdb::ColumnFamilyOptions& options, const std::string& name) {
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  const rocksdb::Status created = db_.CreateColumnFamily(options, name, &handle);
  if (created.ok()) return handle;
  // It may be made all the same, when only the file of options couldn't be written.
  if (handle != nullptr) {
    IgnoreStatus(DropStray(handle), "the next open removes a family that no table names");
  }
  return FromRocks(created, "making the family " + name);
}

absl::Status RocksFamilies::Create(uint32_t table_id) {
  VT_ASSIGN_OR_RETURN(rocksdb::ColumnFamilyHandle* const rows,
                      CreateOne(options_.Rows(), RowsFamilyName(table_id)));
  absl::StatusOr<rocksdb::ColumnFamilyHandle*> words =
      CreateOne(options_.Words(), WordsFamilyName(table_id));
  if (!words.ok()) {
    IgnoreStatus(DropStray(rows), "the next open removes a family that no table names");
    return words.status();
  }
  absl::MutexLock lock(&mu_);
  tables_[table_id] = std::make_shared<TableFamilies>(db_, rows, *words);
  return absl::OkStatus();
}

absl::Status RocksFamilies::DropStray(rocksdb::ColumnFamilyHandle* handle) {
  const absl::Status status =
      FromRocks(db_.DropColumnFamily(handle), "dropping " + handle->GetName());
  db_.DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  return status;
}

absl::Status RocksFamilies::Drop(uint32_t table_id) {
  std::shared_ptr<TableFamilies> families;
  {
    absl::MutexLock lock(&mu_);
    const auto found = tables_.find(table_id);
    if (found == tables_.end()) return absl::OkStatus();
    families = std::move(found->second);
    tables_.erase(found);
  }
  return FromRocks(db_.DropColumnFamilies({families->rows(), families->words()}),
                   absl::StrCat("dropping the families of table id ", table_id));
}

absl::Status RocksFamilies::KeepOnly(const std::vector<uint32_t>& table_ids, bool drop_others) {
  Handles strays;
  {
    absl::MutexLock lock(&mu_);
    for (const uint32_t id : table_ids) {
      const auto rows = unclaimed_.find(RowsFamilyName(id));
      const auto words = unclaimed_.find(WordsFamilyName(id));
      if (rows == unclaimed_.end() || words == unclaimed_.end()) {
        return absl::DataLossError(absl::StrCat("table id ", id, " lacks a column family"));
      }
      tables_[id] = std::make_shared<TableFamilies>(db_, rows->second, words->second);
      unclaimed_.erase(rows);
      unclaimed_.erase(words);
    }
    if (!drop_others) return absl::OkStatus();
    strays.swap(unclaimed_);
  }
  absl::Status status;
  for (const auto& [name, handle] : strays) status.Update(DropStray(handle));
  return status;
}

std::vector<rocksdb::ColumnFamilyHandle*> RocksFamilies::All() const {
  absl::MutexLock lock(&mu_);
  std::vector<rocksdb::ColumnFamilyHandle*> all = {main_, log_};
  for (const auto& [id, families] : tables_) {
    all.push_back(families->rows());
    all.push_back(families->words());
  }
  return all;
}

}  // namespace vectable
