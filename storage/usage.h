#pragma once

#include <cstdint>
#include <map>

namespace vectable {

// What one table takes in a store. Bytes.
struct TableUsage {
  // On disk: sizes of whole files.
  uint64_t row_files = 0;    // rows whose values are small, and the references to blobs
  uint64_t blob_files = 0;   // rows whose values are large
  uint64_t word_files = 0;   // word -> row id
  uint64_t index_files = 0;  // of the table's folder index/t<id>, beside the store
  // What a compaction of all of these would give back: an estimate, which takes all rows for
  // equally large. Too low in a table whose row ids were given with gaps.
  uint64_t reclaimable = 0;

  // In memory, not yet in files.
  uint64_t memtables = 0;

  uint64_t disk() const { return row_files + blob_files + word_files + index_files; }
};

// What a store does by itself.
struct StoreActivity {
  uint64_t flushes = 0;             // running
  uint64_t compactions = 0;         // running
  uint64_t compaction_backlog = 0;  // bytes that compactions will have to rewrite: an estimate
  uint64_t background_errors = 0;   // so far
  bool writes_delayed = false;      // since flushes or compactions lag behind
  bool writes_stopped = false;      // for that reason, or after an error
};

// What a store takes. The disk parts are disjoint and add up to `directory`.
struct StoreUsage {
  std::map<uint32_t, TableUsage> tables;  // by table id

  uint64_t write_ahead_log = 0;
  uint64_t mutation_log = 0;  // files of the family `log`
  uint64_t catalogue = 0;     // files of the family of the catalogue
  uint64_t obsolete_files =
      0;                     // row, word and blob files that no table uses: being made or removed
  uint64_t other_files = 0;  // what the database keeps of itself
  uint64_t snapshots = 0;    // files that only snapshots have
  uint64_t reserve = 0;      // held back for deletes and drops on a full disk
  // The sizes of all files in the data directory, each inode counted once.
  uint64_t directory = 0;

  // In memory.
  uint64_t memtables = 0;  // of all families
  uint64_t block_cache = 0;
  uint64_t table_readers = 0;  // indexes and filters outside the cache: an estimate

  StoreActivity activity;
};

}  // namespace vectable
