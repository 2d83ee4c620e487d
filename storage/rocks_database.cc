#include "storage/rocks_database.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/names.h"
#include "common/status_util.h"
#include "rocksdb/env.h"
#include "rocksdb/snapshot.h"
#include "rocksdb/utilities/checkpoint.h"
#include "storage/key_format.h"
#include "storage/rocks_slice.h"
#include "storage/rocks_status.h"

namespace vectable {
namespace {

// Where CURRENT is missing RocksDB starts a new, empty database and removes the files of the old
// one.
absl::Status CheckNotHeadless(rocksdb::Env& env, const std::string& path) {
  std::vector<std::string> files;
  if (env.FileExists(path + "/CURRENT").ok() || !env.GetChildren(path, &files).ok()) {
    return absl::OkStatus();
  }
  for (const std::string& file : files) {
    if (file.ends_with(".log") || file.ends_with(".sst") || file.ends_with(".blob")) {
      return absl::DataLossError(
          absl::StrCat("the store's file CURRENT is missing beside ", Quoted(file)));
    }
  }
  return absl::OkStatus();
}

// The names of the families at `path`, with those that every store has.
std::vector<std::string> FamilyNames(const RocksOptions& options, const std::string& path) {
  std::vector<std::string> names;
  if (!rocksdb::DB::ListColumnFamilies(options.Database(), path, &names).ok()) {
    names = {rocksdb::kDefaultColumnFamilyName};  // new, or the open says what is wrong
  }
  if (std::find(names.begin(), names.end(), kLogFamily) == names.end()) {
    names.emplace_back(kLogFamily);
  }
  return names;
}

// A database with handles that are closed with it, unless they were taken away.
struct Opened {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;

  ~Opened() {
    if (db == nullptr) return;
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
  }
};

std::vector<rocksdb::ColumnFamilyDescriptor> Describe(const RocksOptions& options,
                                                      const std::vector<std::string>& names) {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  descriptors.reserve(names.size());
  for (const std::string& name : names) descriptors.emplace_back(name, options.Family(name));
  return descriptors;
}

rocksdb::Status OpenFamilies(const RocksOptions& options, const rocksdb::DBOptions& settings,
                             const std::string& path, const std::vector<std::string>& names,
                             Opened& opened) {
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(settings, path, Describe(options, names), &opened.handles, &db);
  opened.db.reset(db);
  return status;
}

// Opens some of the families to be read, with what the write-ahead log has.
rocksdb::Status OpenToRead(const RocksOptions& options, const std::string& path,
                           const std::vector<std::string>& names, Opened& opened) {
  rocksdb::DB* db = nullptr;
  rocksdb::DBOptions settings = options.Database();
  settings.listeners.clear();
  const rocksdb::Status status =
      rocksdb::DB::OpenForReadOnly(settings, path, Describe(options, names), &opened.handles, &db);
  opened.db.reset(db);
  return status;
}

// Whether these families can be read, the write-ahead log included.
rocksdb::Status TryReading(const RocksOptions& options, const std::string& path,
                           const std::vector<std::string>& names) {
  Opened opened;
  return OpenToRead(options, path, names, opened);
}

// Opens a database some of whose tables have damaged files. RocksDB does so only without its
// paranoid checks, and then would pass over damage in the write-ahead log in silence: everything
// else is shown to be whole first, with the checks.
absl::Status OpenWithoutDamaged(const RocksOptions& options, const std::string& path,
                                const std::vector<std::string>& names, EventSink& events,
                                Opened& opened) {
  std::vector<std::string> whole;
  std::vector<std::string> damaged;
  const std::string main = rocksdb::kDefaultColumnFamilyName;
  for (const std::string& name : names) {
    const bool of_table = name != main && name != kLogFamily;
    const rocksdb::Status status =
        TryReading(options, path, of_table ? std::vector{main, name} : std::vector{main});
    if (of_table && status.IsCorruption()) {
      damaged.push_back(name);
      events.Report(EventSink::Level::kError,
                    absl::StrCat("the files of ", name, " are damaged: ", status.ToString()));
    } else {
      whole.push_back(name);
    }
  }
  VT_RETURN_IF_ERROR(FromRocks(TryReading(options, path, whole), "opening the store"));
  for (const std::string& name : damaged) options.watch().SetDamaged(name);
  rocksdb::DBOptions settings = options.Database();
  settings.paranoid_checks = false;
  VT_RETURN_IF_ERROR(
      FromRocks(OpenFamilies(options, settings, path, names, opened), "opening the store"));
  events.Report(EventSink::Level::kError,
                absl::StrCat("the store is opened without ", absl::StrJoin(damaged, ", "),
                             ": drop those tables, or restore a snapshot"));
  return absl::OkStatus();
}

absl::StatusOr<TableRecord> ReadTableIn(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* main,
                                        const rocksdb::ReadOptions& read, uint32_t table_id) {
  TableRecord record;
  record.table_id = table_id;
  const std::string what = absl::StrCat("reading the catalogue row of table id ", table_id);
  std::string value;
  VT_RETURN_IF_ERROR(FromRocks(db.Get(read, main, TableKey(table_id), &value), what));
  VT_RETURN_IF_ERROR(Annotate(DecodeTable(value, record), what));
  VT_RETURN_IF_ERROR(FromRocks(db.Get(read, main, CountersKey(table_id), &value), what));
  VT_RETURN_IF_ERROR(Annotate(DecodeCounters(value, record), what));
  return record;
}

absl::StatusOr<std::vector<TableRecord>> TablesIn(rocksdb::DB& db,
                                                  rocksdb::ColumnFamilyHandle* main) {
  rocksdb::ManagedSnapshot snapshot(&db);
  rocksdb::ReadOptions read;
  read.snapshot = snapshot.snapshot();
  std::vector<TableRecord> tables;
  const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(read, main));
  for (it->Seek(ToSlice(kTableKeyPrefix));
       it->Valid() && it->key().starts_with(ToSlice(kTableKeyPrefix)); it->Next()) {
    VT_ASSIGN_OR_RETURN(const uint32_t table_id, DecodeTableKey(it->key().ToString()));
    VT_ASSIGN_OR_RETURN(tables.emplace_back(), ReadTableIn(db, main, read, table_id));
  }
  VT_RETURN_IF_ERROR(FromRocks(it->status(), "reading the catalogue"));
  return tables;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RocksDatabase>> RocksDatabase::Open(const std::string& path,
                                                                   const RocksOptions& options,
                                                                   EventSink& events) {
  VT_RETURN_IF_ERROR(CheckNotHeadless(options.env(), path));
  options.watch().Reset();
  const std::vector<std::string> names = FamilyNames(options, path);
  Opened opened;
  const rocksdb::Status status = OpenFamilies(options, options.Database(), path, names, opened);
  bool to_read_alone = false;
  if (status.IsNoSpace()) {
    // Reads need no room. Writes come when there is some, and with them another open.
    VT_RETURN_IF_ERROR(FromRocks(OpenToRead(options, path, names, opened), "opening the store"));
    to_read_alone = true;
    options.watch().SetFailed(FromRocks(status, "opening the store"));
    events.Report(
        EventSink::Level::kError,
        absl::StrCat("the store can only be read until there is room: ", status.ToString()));
  } else if (status.IsCorruption()) {
    // What was wrong first is what a store that can't be used says.
    if (!OpenWithoutDamaged(options, path, names, events, opened).ok()) {
      return FromRocks(status, "opening the store");
    }
  } else {
    VT_RETURN_IF_ERROR(FromRocks(status, "opening the store"));
  }
  std::unique_ptr<RocksDatabase> database(
      new RocksDatabase(std::move(opened.db), std::exchange(opened.handles, {}), options));
  VT_RETURN_IF_ERROR(database->CheckOrWriteFormat());
  VT_RETURN_IF_ERROR(database->KeepNamedFamilies(/*drop_others=*/!to_read_alone));
  return database;
}

RocksDatabase::RocksDatabase(std::unique_ptr<rocksdb::DB> db,
                             const std::vector<rocksdb::ColumnFamilyHandle*>& handles,
                             const RocksOptions& options)
    : options_(options),
      db_(std::move(db)),
      families_(std::make_unique<RocksFamilies>(*db_, options, handles)) {}

RocksDatabase::~RocksDatabase() {
  families_.reset();
  FromRocks(db_->Close(), "closing").IgnoreError();
}

absl::Status RocksDatabase::Write(rocksdb::WriteBatch& batch, bool sync,
                                  const std::string& what) const {
  absl::Status status = options_.watch().failure();
  if (status.ok()) {
    rocksdb::WriteOptions write;
    write.sync = sync;
    status = FromRocks(db_->Write(write, &batch), what);
    if (status.ok()) return status;
    options_.watch().SetFailed(status);
  }
  // A compaction that met damage, of any table: the table of this write may well be whole.
  const absl::StatusCode code =
      absl::IsDataLoss(status) ? absl::StatusCode::kUnavailable : status.code();
  return absl::Status(
      code,
      absl::StrCat(status.message(), " (nothing more is written until the data are opened again)"));
}

absl::Status RocksDatabase::CheckOrWriteFormat() const {
  std::string value;
  const rocksdb::Status found =
      db_->Get(rocksdb::ReadOptions(), families_->main(), ToSlice(kFormatKey), &value);
  if (found.IsNotFound()) {
    rocksdb::WriteBatch batch;
    VT_RETURN_IF_ERROR(FromRocks(
        batch.Put(families_->main(), ToSlice(kFormatKey), EncodeU32(kStorageFormatVersion)),
        "writing the format version"));
    return Write(batch, /*sync=*/true, "writing the format version");
  }
  VT_RETURN_IF_ERROR(FromRocks(found, "reading the format version"));
  VT_ASSIGN_OR_RETURN(const uint32_t version, DecodeU32(value));
  if (version > kStorageFormatVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("storage format ", version, " is newer than this program, which reads up to ",
                     kStorageFormatVersion));
  }
  return absl::OkStatus();
}

absl::Status RocksDatabase::KeepNamedFamilies(bool drop_others) const {
  VT_ASSIGN_OR_RETURN(const std::vector<TableRecord> tables, Tables());
  std::vector<uint32_t> ids;
  ids.reserve(tables.size());
  for (const TableRecord& table : tables) ids.push_back(table.table_id);
  return families_->KeepOnly(ids, drop_others);
}

absl::StatusOr<TableRecord> RocksDatabase::ReadTable(const rocksdb::ReadOptions& read,
                                                     uint32_t table_id) const {
  return ReadTableIn(*db_, families_->main(), read, table_id);
}

absl::StatusOr<std::vector<TableRecord>> RocksDatabase::Tables() const {
  return TablesIn(*db_, families_->main());
}

absl::StatusOr<std::vector<TableRecord>> RocksDatabase::Checkpoint(const std::string& path) const {
  rocksdb::Checkpoint* made = nullptr;
  VT_RETURN_IF_ERROR(
      FromRocks(rocksdb::Checkpoint::Create(db_.get(), &made), "beginning a checkpoint"));
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  VT_RETURN_IF_ERROR(FromRocks(checkpoint->CreateCheckpoint(path), "making a checkpoint"));
  Opened opened;
  VT_RETURN_IF_ERROR(
      FromRocks(OpenToRead(options_, path, {rocksdb::kDefaultColumnFamilyName}, opened),
                "opening the checkpoint"));
  return TablesIn(*opened.db, opened.handles[0]);
}

std::vector<std::string> RocksDatabase::DamagedFamilies() const {
  const std::set<std::string> damaged = options_.watch().damaged();
  std::vector<std::string> names;
  for (const rocksdb::ColumnFamilyHandle* family : families_->All()) {
    if (damaged.contains(family->GetName())) names.push_back(family->GetName());
  }
  return names;
}

absl::StatusOr<uint32_t> RocksDatabase::TakeTableId() const {
  uint32_t id = 1;
  std::string value;
  const rocksdb::Status found =
      db_->Get(rocksdb::ReadOptions(), families_->main(), ToSlice(kNextTableIdKey), &value);
  if (!found.IsNotFound()) {
    VT_RETURN_IF_ERROR(FromRocks(found, "reading the next table id"));
    VT_ASSIGN_OR_RETURN(id, DecodeU32(value));
  }
  rocksdb::WriteBatch batch;
  VT_RETURN_IF_ERROR(
      FromRocks(batch.Put(families_->main(), ToSlice(kNextTableIdKey), EncodeU32(id + 1)),
                "taking a table id"));
  VT_RETURN_IF_ERROR(Write(batch, /*sync=*/true, "taking a table id"));
  return id;
}

}  // namespace vectable
