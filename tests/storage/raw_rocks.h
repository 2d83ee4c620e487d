#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/db.h"

namespace vectable {

// The store's database opened as RocksDB sees it, to look behind the store or to damage it.
class RawRocks {
 public:
  explicit RawRocks(const std::string& path) {
    const rocksdb::Options options;
    std::vector<std::string> names;
    Check(rocksdb::DB::ListColumnFamilies(options, path, &names));
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, options);
    rocksdb::DB* db = nullptr;
    Check(rocksdb::DB::Open(options, path, families, &handles_, &db));
    db_.reset(db);
  }
  ~RawRocks() {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      Check(db_->DestroyColumnFamilyHandle(handle));
    }
  }
  RawRocks(const RawRocks&) = delete;
  RawRocks& operator=(const RawRocks&) = delete;

  std::vector<std::string> families() const {
    std::vector<std::string> names;
    for (const rocksdb::ColumnFamilyHandle* handle : handles_) names.push_back(handle->GetName());
    return names;
  }
  void CreateFamily(const std::string& name) {
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    Check(db_->CreateColumnFamily(rocksdb::ColumnFamilyOptions(), name, &handle));
    handles_.push_back(handle);
  }
  void DropFamily(const std::string& name) { Check(db_->DropColumnFamily(Family(name))); }
  void Put(const std::string& family, const std::string& key, const std::string& value) {
    Check(db_->Put(rocksdb::WriteOptions(), Family(family), key, value));
  }
  std::string Get(const std::string& family, const std::string& key) {
    std::string value;
    Check(db_->Get(rocksdb::ReadOptions(), Family(family), key, &value));
    return value;
  }

 private:
  static void Check(const rocksdb::Status& status) {
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  rocksdb::ColumnFamilyHandle* Family(const std::string& name) {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      if (handle->GetName() == name) return handle;
    }
    ADD_FAILURE() << "no family " << name;
    return nullptr;
  }

  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

}  // namespace vectable
