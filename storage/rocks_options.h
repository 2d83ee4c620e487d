#pragma once

#include <memory>

#include "common/events.h"
#include "rocksdb/cache.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_manager.h"
#include "rocksdb/write_buffer_manager.h"
#include "storage/rocks_store.h"
#include "storage/rocks_watch.h"

namespace vectable {

// How each kind of column family is kept. One block cache and one watch serve all, and every open.
class RocksOptions {
 public:
  explicit RocksOptions(const RocksStoreOptions& options);

  RocksWatch& watch() const { return *watch_; }
  rocksdb::Env& env() const;
  // What all memtables take in memory, those being written out too.
  size_t memtable_bytes() const { return memtables_->memory_usage(); }

  rocksdb::DBOptions Database() const;
  // The family called `name`; one that is damaged isn't compacted.
  rocksdb::ColumnFamilyOptions Family(const std::string& name) const;
  // Vectors by row id: not compressed, values of 1 KiB and more in blob files.
  rocksdb::ColumnFamilyOptions Rows() const;
  // Row ids by word: compressed.
  rocksdb::ColumnFamilyOptions Words() const;

 private:
  rocksdb::ColumnFamilyOptions Common() const;

  const RocksStoreOptions options_;
  const std::shared_ptr<rocksdb::Cache> cache_;
  const std::shared_ptr<RocksWatch> watch_ = std::make_shared<RocksWatch>();
  const std::shared_ptr<rocksdb::WriteBufferManager> memtables_;
  const std::shared_ptr<rocksdb::SstFileManager> files_;
  NullEventSink no_events_;
  const std::shared_ptr<rocksdb::Logger> logger_;
};

}  // namespace vectable
