#include "storage/rocks_usage.h"

#include <sys/stat.h>

#include <charconv>
#include <filesystem>
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

namespace vectable {
namespace {

// Which part of a usage each numbered file counts in.
using FileParts = absl::flat_hash_map<uint64_t, uint64_t*>;

uint64_t Property(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const std::string& name) {
  uint64_t value = 0;
  return db.GetIntProperty(family, name, &value) ? value : 0;
}

// What of `bytes`, which `entries` entries take, is not one of the `live` ones.
uint64_t DeadBytes(uint64_t bytes, uint64_t entries, uint64_t live) {
  if (entries <= live) return 0;
  return static_cast<uint64_t>(static_cast<double>(bytes) * static_cast<double>(entries - live) /
                               static_cast<double>(entries));
}

// Notes which part each file of a family counts in. Returns an estimate of what isn't live in them;
// `live` entries are.
uint64_t NoteFiles(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, uint64_t* tables,
                   uint64_t* blobs, uint64_t live, FileParts& parts) {
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
  return DeadBytes(bytes, entries, live) + DeadBytes(blob_bytes, blob_entries, live);
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

void AddFile(const std::filesystem::path& path, uint64_t bytes, const FileParts& parts,
             StoreUsage& usage) {
  usage.directory += bytes;
  if (const std::optional<uint64_t> number = FamilyFileNumber(path)) {
    const auto part = parts.find(*number);
    *(part == parts.end() ? &usage.obsolete_files : part->second) += bytes;
  } else if (path.extension() == ".log") {
    usage.write_ahead_log += bytes;
  } else {
    usage.other_files += bytes;
  }
}

absl::Status AddDirectory(const std::string& directory, const FileParts& parts, StoreUsage& usage) {
  std::set<std::pair<dev_t, ino_t>> seen;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator();
       entry.increment(error)) {
    struct stat file;
    // A file that is gone by now takes nothing.
    if (lstat(entry->path().c_str(), &file) != 0 || !S_ISREG(file.st_mode)) continue;
    if (!seen.emplace(file.st_dev, file.st_ino).second) continue;
    AddFile(entry->path(), static_cast<uint64_t>(file.st_size), parts, usage);
  }
  if (!error) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("reading the data directory ", Quoted(directory), ": ", error.message()));
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
    part.reclaimable =
        NoteFiles(db, its->rows(), &part.row_files, &part.blob_files, table.rows, parts) +
        NoteFiles(db, its->words(), &part.word_files, &part.blob_files, table.rows, parts);
    for (rocksdb::ColumnFamilyHandle* family : {its->rows(), its->words()}) {
      part.memtables += Property(db, family, Names::kSizeAllMemTables);
      all.push_back(family);
    }
  }
  NoteFiles(db, families.log(), &usage.mutation_log, &usage.mutation_log, 0, parts);
  NoteFiles(db, families.main(), &usage.catalogue, &usage.catalogue, 0, parts);
  VT_RETURN_IF_ERROR(AddDirectory(directory, parts, usage));
  for (rocksdb::ColumnFamilyHandle* family : all) {
    usage.memtables += Property(db, family, Names::kSizeAllMemTables);
    usage.table_readers += Property(db, family, Names::kEstimateTableReadersMem);
  }
  usage.block_cache = Property(db, families.main(), Names::kBlockCacheUsage);
  return usage;
}

}  // namespace vectable
