#pragma once

#include <memory>

#include "rocksdb/cache.h"
#include "rocksdb/options.h"
#include "storage/rocks_store.h"

namespace vectable {

// How each kind of column family is kept. One block cache serves all.
class RocksOptions {
 public:
  explicit RocksOptions(const RocksStoreOptions& options);

  rocksdb::DBOptions Database() const;
  // The family called `name`.
  rocksdb::ColumnFamilyOptions Family(const std::string& name) const;
  // Vectors by row id: not compressed, values of 1 KiB and more in blob files.
  rocksdb::ColumnFamilyOptions Rows() const;
  // Row ids by word: compressed.
  rocksdb::ColumnFamilyOptions Words() const;

 private:
  rocksdb::ColumnFamilyOptions Common() const;

  const RocksStoreOptions options_;
  const std::shared_ptr<rocksdb::Cache> cache_;
};

}  // namespace vectable
