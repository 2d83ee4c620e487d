#include "storage/rocks_options.h"

#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/listener.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "storage/rocks_logger.h"

namespace vectable {
namespace {

constexpr uint64_t kMinBlobBytes = 1024;
constexpr double kBloomBitsPerKey = 10;

}  // namespace

RocksOptions::RocksOptions(const RocksStoreOptions& options)
    : options_(options),
      cache_(rocksdb::NewLRUCache(options.block_cache_bytes)),
      memtables_(std::make_shared<rocksdb::WriteBufferManager>(options.memtable_bytes)),
      files_(rocksdb::NewSstFileManager(&env())),
      logger_(std::make_shared<RocksLogger>(options.events != nullptr ? *options.events
                                                                      : no_events_)) {}

rocksdb::Env& RocksOptions::env() const {
  return options_.env != nullptr ? *options_.env : *rocksdb::Env::Default();
}

rocksdb::DBOptions RocksOptions::Database() const {
  rocksdb::DBOptions db;
  db.create_if_missing = true;
  db.create_missing_column_families = true;
  db.env = &env();
  // Anything but a torn end of the log is damage, said at open: the default mode would drop what
  // follows a flipped bit in silence.
  db.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  db.track_and_verify_wals_in_manifest = true;
  db.write_buffer_manager = memtables_;
  // With it a compaction that finds no room is tried again when there is some.
  db.sst_file_manager = files_;
  db.max_total_wal_size = options_.max_wal_bytes;
  db.max_background_jobs = 2;
  db.bytes_per_sync = 1 << 20;
  db.stats_dump_period_sec = 0;
  db.info_log = logger_;
  db.listeners.push_back(watch_);
  return db;
}

rocksdb::ColumnFamilyOptions RocksOptions::Common() const {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache_;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kBloomBitsPerKey));
  table.format_version = 5;
  rocksdb::ColumnFamilyOptions family;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  family.write_buffer_size = options_.memtable_bytes / 4;
  family.compression = rocksdb::kNoCompression;
  return family;
}

rocksdb::ColumnFamilyOptions RocksOptions::Rows() const {
  rocksdb::ColumnFamilyOptions family = Common();
  family.enable_blob_files = true;
  family.min_blob_size = kMinBlobBytes;
  family.enable_blob_garbage_collection = true;
  return family;
}

rocksdb::ColumnFamilyOptions RocksOptions::Words() const {
  rocksdb::ColumnFamilyOptions family = Common();
  family.compression = rocksdb::kLZ4Compression;
  // Most words of an import are new: a filter says so without a walk through the memtable.
  family.memtable_whole_key_filtering = true;
  family.memtable_prefix_bloom_size_ratio = 0.05;
  // A batch brings its words in order: each is looked for from where the one before went (a prefix
  // of no bytes makes that one place for all).
  family.memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewCappedPrefixTransform(0));
  return family;
}

rocksdb::ColumnFamilyOptions RocksOptions::Family(const std::string& name) const {
  rocksdb::ColumnFamilyOptions family = name.ends_with(".rows")    ? Rows()
                                        : name.ends_with(".words") ? Words()
                                                                   : Common();
  family.disable_auto_compactions = watch_->damaged().contains(name);
  return family;
}

}  // namespace vectable
