#include "storage/rocks_usage.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "rocksdb/metadata.h"
#include "storage/data_directory.h"

namespace vectable {
namespace {

// Which part of a usage each numbered file counts in.
using FileParts = absl::flat_hash_map<uint64_t, uint64_t*>;

uint64_t Property(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const std::string& name) {
  uint64_t value = 0;
  return db.GetIntProperty(family, name, &value) ? value : 0;
}

constexpr uint64_t kMarkBytes = 20;  // of a deleted row: key, value and what RocksDB adds

// Entries that a compaction keeps.
struct Kept {
  uint64_t rows = 0;
  uint64_t marks = 0;  // of deleted rows
};

// What of `bytes`, which `entries` entries take, a compaction would drop.
uint64_t DeadBytes(uint64_t bytes, uint64_t entries, const Kept& kept) {
  const uint64_t marks = std::min(kept.marks, entries);
  const uint64_t full = entries - marks;
  if (full <= kept.rows) return 0;
  const double of_full = static_cast<double>(bytes - std::min(bytes, marks * kMarkBytes));
  return static_cast<uint64_t>(of_full * static_cast<double>(full - kept.rows) /
                               static_cast<double>(full));
}

// Notes which part each file of a family counts in. Returns an estimate of what a compaction of
// them would drop.
uint64_t NoteFiles(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, uint64_t* tables,
                   uint64_t* blobs, const Kept& kept, FileParts& parts) {
  rocksdb::ColumnFamilyMetaData meta;
  db.GetColumnFamilyMetaData(family, &meta);
  uint64_t bytes = 0;
  uint64_t entries = 0;
  for (const rocksdb::LevelMetaData& level : meta.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      parts[file.file_number] = tables;
      bytes += file.size;
      entries += file.num_entries;
    }
  }
  uint64_t blob_bytes = 0;
  uint64_t blob_entries = 0;
  for (const rocksdb::BlobMetaData& file : meta.blob_files) {
    parts[file.blob_file_number] = blobs;
    blob_bytes += file.blob_file_size;
    blob_entries += file.total_blob_count;
  }
  return DeadBytes(bytes, entries, kept) + DeadBytes(blob_bytes, blob_entries, {kept.rows, 0});
}

// The number in "000012.sst", if it is a file that belongs to a family.
std::optional<uint64_t> FamilyFileNumber(const std::filesystem::path& path) {
  if (path.extension() != ".sst" && path.extension() != ".blob") return std::nullopt;
  const std::string stem = path.stem().string();
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(stem.data(), stem.data() + stem.size(), number);
  if (error != std::errc() || end != stem.data() + stem.size()) return std::nullopt;
  return number;
}

// The table whose index, in .../index/t<id>/, the file belongs to.
std::optional<uint32_t> IndexedTable(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  const std::string name = folder.filename().string();
  if (!name.starts_with('t') || folder.parent_path().filename() != "index") return std::nullopt;
  uint32_t table_id = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), table_id);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return table_id;
}

void AddFile(const std::filesystem::path& path, uint64_t bytes, const FileParts& parts,
             StoreUsage& usage) {
  usage.directory += bytes;
  if (const std::optional<uint32_t> table_id = IndexedTable(path)) {
    const auto table = usage.tables.find(*table_id);
    *(table == usage.tables.end() ? &usage.obsolete_files : &table->second.index_files) += bytes;
  } else if (const std::optional<uint64_t> number = FamilyFileNumber(path)) {
    const auto part = parts.find(*number);
    *(part == parts.end() ? &usage.obsolete_files : part->second) += bytes;
  } else if (path.extension() == ".log") {
    usage.write_ahead_log += bytes;
  } else if (path.filename() == kReserveFile) {
    usage.reserve += bytes;
  } else {
    usage.other_files += bytes;
  }
}

// A file's place on its disk.
using Inodes = std::set<std::pair<dev_t, ino_t>>;

// Calls `add` for each regular file under `path` that isn't in `seen` yet, but for those under the
// folder `except`.
absl::Status ForEachFile(
    const std::string& path, const std::filesystem::path& except, Inodes& seen,
    const std::function<void(const std::filesystem::path&, uint64_t bytes)>& add) {
  std::error_code error;
  // A folder that can't be read holds nothing of ours.
  std::filesystem::recursive_directory_iterator entry(
      path, std::filesystem::directory_options::skip_permission_denied, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator();
       entry.increment(error)) {
    if (entry->path() == except) {
      entry.disable_recursion_pending();
      continue;
    }
    struct stat file;
    // A file that is gone by now takes nothing.
    if (lstat(entry->path().c_str(), &file) != 0 || !S_ISREG(file.st_mode)) continue;
    if (!seen.emplace(file.st_dev, file.st_ino).second) continue;
    add(entry->path(), static_cast<uint64_t>(file.st_size));
  }
  if (!error || error == std::errc::no_such_file_or_directory) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("reading the data directory ", Quoted(path), ": ", error.message()));
}

// What is in use comes first: a snapshot takes what it alone has.
absl::Status AddDirectory(const std::string& directory, const FileParts& parts, StoreUsage& usage) {
  const std::string snapshots = directory + "/" + kSnapshotFolder;
  Inodes seen;
  VT_RETURN_IF_ERROR(ForEachFile(directory, snapshots, seen,
                                 [&](const std::filesystem::path& path, uint64_t bytes) {
                                   AddFile(path, bytes, parts, usage);
                                 }));
  return ForEachFile(snapshots, "", seen, [&](const std::filesystem::path&, uint64_t bytes) {
    usage.directory += bytes;
    usage.snapshots += bytes;
  });
}

}  // namespace

absl::StatusOr<StoreUsage> MeasureUsage(rocksdb::DB& db, const RocksFamilies& families,
                                        const std::vector<TableRecord>& tables,
                                        const std::string& directory) {
  using Names = rocksdb::DB::Properties;
  StoreUsage usage;
  FileParts parts;
  std::vector<std::shared_ptr<TableFamilies>> held;  // a table may be dropped meanwhile
  std::vector<rocksdb::ColumnFamilyHandle*> all = {families.main(), families.log()};
  for (const TableRecord& table : tables) {
    absl::StatusOr<std::shared_ptr<TableFamilies>> found = families.Find(table.table_id);
    if (!found.ok()) continue;
    const std::shared_ptr<TableFamilies>& its = held.emplace_back(*std::move(found));
    TableUsage& part = usage.tables[table.table_id];
    // Each id that was given and isn't a row's left a mark, unless ids were given with gaps.
    const Kept rows{table.rows, table.next_row_id - std::min(table.next_row_id, table.rows)};
    part.reclaimable =
        NoteFiles(db, its->rows(), &part.row_files, &part.blob_files, rows, parts) +
        NoteFiles(db, its->words(), &part.word_files, &part.blob_files, {table.rows, 0}, parts);
    for (rocksdb::ColumnFamilyHandle* family : {its->rows(), its->words()}) {
      part.memtables += Property(db, family, Names::kSizeAllMemTables);
      all.push_back(family);
    }
  }
  NoteFiles(db, families.log(), &usage.mutation_log, &usage.mutation_log, {}, parts);
  NoteFiles(db, families.main(), &usage.catalogue, &usage.catalogue, {}, parts);
  VT_RETURN_IF_ERROR(AddDirectory(directory, parts, usage));
  for (rocksdb::ColumnFamilyHandle* family : all) {
    usage.memtables += Property(db, family, Names::kSizeAllMemTables);
    usage.table_readers += Property(db, family, Names::kEstimateTableReadersMem);
    usage.activity.compaction_backlog +=
        Property(db, family, Names::kEstimatePendingCompactionBytes);
  }
  usage.block_cache = Property(db, families.main(), Names::kBlockCacheUsage);
  StoreActivity& activity = usage.activity;
  activity.flushes = Property(db, families.main(), Names::kNumRunningFlushes);
  activity.compactions = Property(db, families.main(), Names::kNumRunningCompactions);
  activity.background_errors = Property(db, families.main(), Names::kBackgroundErrors);
  activity.writes_delayed = Property(db, families.main(), Names::kActualDelayedWriteRate) > 0;
  activity.writes_stopped = Property(db, families.main(), Names::kIsWriteStopped) > 0;
  return usage;
}

}  // namespace vectable
