#include "storage/rocks_store.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "common/names.h"
#include "common/status_util.h"
#include "rocksdb/env.h"
#include "rocksdb/transaction_log.h"
#include "rocksdb/version.h"
#include "rocksdb/write_batch.h"
#include "storage/data_directory.h"
#include "storage/directory_lock.h"
#include "storage/disk_room.h"
#include "storage/key_format.h"
#include "storage/rocks_batch.h"
#include "storage/rocks_cursor.h"
#include "storage/rocks_database.h"
#include "storage/rocks_options.h"
#include "storage/rocks_read.h"
#include "storage/rocks_status.h"
#include "storage/rocks_usage.h"

namespace vectable {
namespace {

// A batch of more bytes isn't kept for the next write.
constexpr size_t kSpareBatchBytes = size_t{16} << 20;

// What RocksDB writes of itself now and then, with room to spare.
constexpr uint64_t kOwnBytes = uint64_t{2} << 20;

// Memtables of a small disk: one in so many of its bytes, which must be free to write them out.
constexpr uint64_t kDiskShare = 32;
constexpr uint64_t kLeastMemtable = uint64_t{256} << 10;

// From so many bytes in the write-ahead log a drop writes the memtables out, to be rid of it.
constexpr uint64_t kLogWorthRemoving = uint64_t{8} << 20;

class RocksStore final : public Store {
 public:
  RocksStore(const RocksStoreOptions& options, std::unique_ptr<DirectoryLock> lock)
      : settings_(options),
        path_(options.directory + "/" + kStoreFolder),
        events_(options.events != nullptr ? *options.events : no_events_),
        options_(options),
        lock_(std::move(lock)),
        room_(options.directory, options.reserve_bytes) {}

  absl::Status Open() ABSL_LOCKS_EXCLUDED(gate_);

  absl::StatusOr<std::vector<TableRecord>> Tables() const override;
  absl::StatusOr<TableRecord> CreateTable(TableRecord record) override;
  absl::Status RenameTable(const TableRecord& record, std::optional<uint32_t> replaced) override;
  absl::Status DropTable(uint32_t table_id) override;
  absl::Status Write(const TableRecord& after, std::span<const Commit> commits,
                     uint64_t trim_log_through) override;
  absl::StatusOr<std::vector<std::optional<uint64_t>>> FindWords(
      uint32_t table_id, std::span<const std::string_view> words) const override;
  absl::StatusOr<std::vector<RowIdState>> FindRowIds(
      uint32_t table_id, std::span<const uint64_t> row_ids) const override;
  absl::StatusOr<std::vector<std::optional<StoredRow>>> GetByWords(
      uint32_t table_id, std::span<const std::string_view> words) const override;
  absl::StatusOr<std::vector<std::optional<StoredRow>>> GetByRowIds(
      uint32_t table_id, std::span<const uint64_t> row_ids) const override;
  absl::StatusOr<std::unique_ptr<RowCursor>> ScanRows(uint32_t table_id, uint64_t begin,
                                                      std::optional<uint64_t> end) const override;
  absl::StatusOr<std::unique_ptr<RowCursor>> ScanWords(uint32_t table_id, std::string_view prefix,
                                                       std::optional<std::string_view> after,
                                                       bool with_codes) const override;
  absl::StatusOr<std::vector<LogEntry>> ReadLog(uint32_t table_id, uint64_t after,
                                                size_t max) const override;
  absl::StatusOr<StoreUsage> Usage() const override;
  absl::Status CheckRoom(uint64_t bytes) override;
  absl::StatusOr<std::vector<TableRecord>> Checkpoint(const std::string& path) override;
  absl::Status Compact(uint32_t table_id) override;
  absl::Status Flush() override;
  bool failed() const override { return options_.watch().failed(); }
  absl::Status Recover() override ABSL_LOCKS_EXCLUDED(gate_);

 private:
  // The database; why it couldn't be opened again where it is closed.
  absl::StatusOr<RocksDatabase*> Opened() const ABSL_SHARED_LOCKS_REQUIRED(gate_);
  // The database, and the families of a table in it.
  struct Place {
    RocksDatabase& database;
    std::shared_ptr<TableFamilies> families;

    rocksdb::DB& db() const { return database.db(); }
    std::unique_ptr<CursorView> MakeView() const {
      return std::make_unique<CursorView>(db(), families);
    }
  };
  absl::StatusOr<Place> Find(uint32_t table_id) const ABSL_SHARED_LOCKS_REQUIRED(gate_);

  // Room for `bytes` more in the log and in table files, and for all memtables.
  uint64_t BytesFor(size_t bytes) const;
  absl::Status CheckGrowth(RocksDatabase& database, size_t bytes);
  // Says when the disk becomes full, and when it has room again.
  void ReportRoom(const absl::Status& status);
  // The bytes of the write-ahead log's files.
  uint64_t LogBytes() const;
  // What an open writes: of the log all that isn't in table files yet.
  uint64_t BytesToOpen() const;
  absl::Status CheckDisk();
  absl::Status FlushAll(RocksDatabase& database, bool wait) ABSL_LOCKS_EXCLUDED(flush_mu_);

  // An empty batch, with the memory of an earlier one where there is one: fresh memory for each
  // would cost as much as filling it.
  std::unique_ptr<rocksdb::WriteBatch> TakeBatch() ABSL_LOCKS_EXCLUDED(spare_mu_);
  void GiveBack(std::unique_ptr<rocksdb::WriteBatch> batch) ABSL_LOCKS_EXCLUDED(spare_mu_);

  const RocksStoreOptions settings_;
  const std::string path_;
  NullEventSink no_events_;
  EventSink& events_;
  const RocksOptions options_;
  const std::unique_ptr<DirectoryLock> lock_;
  DiskRoom room_;
  std::atomic<bool> refusing_{false};  // what makes the data grow
  mutable OpenCursors cursors_;

  // Held, shared, through each call; alone to close the database and open it again.
  mutable absl::Mutex gate_;
  std::unique_ptr<RocksDatabase> database_ ABSL_GUARDED_BY(gate_);
  absl::Status closed_ ABSL_GUARDED_BY(gate_);  // why there is no database

  // Flushes come one at a time: RocksDB's build ends the process when one meets a log whose last
  // record failed under another.
  absl::Mutex flush_mu_;
  absl::Mutex catalogue_mu_;  // creates, renames and drops come one at a time
  absl::Mutex spare_mu_;
  std::unique_ptr<rocksdb::WriteBatch> spare_batch_ ABSL_GUARDED_BY(spare_mu_);
};

absl::Status RocksStore::Open() {
  IgnoreStatus(room_.MakeRoom(BytesToOpen()), "the open says whether that was enough");
  options_.env().CreateDirIfMissing(path_).PermitUncheckedError();  // the open says what is wrong
  absl::MutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(database_, RocksDatabase::Open(path_, options_, events_));
  return absl::OkStatus();
}

absl::StatusOr<RocksDatabase*> RocksStore::Opened() const {
  if (database_ == nullptr) return closed_;
  return database_.get();
}

absl::StatusOr<RocksStore::Place> RocksStore::Find(uint32_t table_id) const {
  VT_ASSIGN_OR_RETURN(RocksDatabase* const database, Opened());
  VT_ASSIGN_OR_RETURN(std::shared_ptr<TableFamilies> families, database->families().Find(table_id));
  return Place{*database, std::move(families)};
}

absl::StatusOr<std::vector<TableRecord>> RocksStore::Tables() const {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(RocksDatabase* const database, Opened());
  return database->Tables();
}

absl::StatusOr<TableRecord> RocksStore::CreateTable(TableRecord record) {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(RocksDatabase* const database, Opened());
  absl::MutexLock catalogue_lock(&catalogue_mu_);
  VT_RETURN_IF_ERROR(CheckGrowth(*database, 0));
  // The id is spent first, then the families are made, then the row names them: a crash in between
  // leaves families that the next open removes.
  VT_ASSIGN_OR_RETURN(record.table_id, database->TakeTableId());
  RocksFamilies& families = database->families();
  VT_RETURN_IF_ERROR(families.Create(record.table_id));
  rocksdb::WriteBatch batch;
  AddTable(families, record, batch);
  batch.Put(families.main(), CountersKey(record.table_id), EncodeCounters(record))
      .PermitUncheckedError();
  if (absl::Status status = database->Write(batch, /*sync=*/true, "writing the catalogue");
      !status.ok()) {
    IgnoreStatus(families.Drop(record.table_id), "the next open removes what no table names");
    return status;
  }
  return record;
}

absl::Status RocksStore::RenameTable(const TableRecord& record, std::optional<uint32_t> replaced) {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(const Place place, Find(record.table_id));
  absl::MutexLock catalogue_lock(&catalogue_mu_);
  RocksFamilies& families = place.database.families();
  if (replaced) VT_RETURN_IF_ERROR(families.Find(*replaced).status());
  IgnoreStatus(room_.MakeRoom(BytesFor(0)), "the write says whether that was enough");
  rocksdb::WriteBatch batch;
  AddTable(families, record, batch);
  if (replaced) AddDrop(families, *replaced, batch);
  VT_RETURN_IF_ERROR(place.database.Write(batch, /*sync=*/true, "writing the catalogue"));
  if (replaced) {
    IgnoreStatus(families.Drop(*replaced), "the next open removes what no table names");
  }
  return absl::OkStatus();
}

absl::Status RocksStore::DropTable(uint32_t table_id) {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(Place place, Find(table_id));
  absl::MutexLock catalogue_lock(&catalogue_mu_);
  RocksFamilies& families = place.database.families();
  IgnoreStatus(room_.MakeRoom(BytesFor(0)), "the write says whether that was enough");
  rocksdb::WriteBatch batch;
  AddDrop(families, table_id, batch);
  VT_RETURN_IF_ERROR(place.database.Write(batch, /*sync=*/true, "writing the catalogue"));
  place.families.reset();  // the last to hold them removes their files
  IgnoreStatus(families.Drop(table_id), "the next open removes what no table names");
  // The table's rows are in the write-ahead log, too, which goes when nothing else needs it.
  if (LogBytes() >= kLogWorthRemoving) {
    IgnoreStatus(FlushAll(place.database, /*wait=*/true), "the log is removed later");
  }
  return absl::OkStatus();
}

uint64_t RocksStore::BytesFor(size_t bytes) const {
  return 2 * bytes + options_.memtable_bytes() + kOwnBytes;
}

absl::Status RocksStore::CheckGrowth(RocksDatabase& database, size_t bytes) {
  absl::Status status = room_.CheckGrowth(BytesFor(bytes));
  if (status.ok() == refusing_.load(std::memory_order_relaxed)) ReportRoom(status);
  if (!status.ok() && options_.memtable_bytes() > kOwnBytes && room_.Has(BytesFor(0))) {
    // What is in memory takes less room in table files than is kept free for it, and the log of it
    // goes.
    IgnoreStatus(FlushAll(database, /*wait=*/false), "it is tried again with the next write");
  }
  return status;
}

void RocksStore::ReportRoom(const absl::Status& status) {
  if (refusing_.exchange(!status.ok()) == !status.ok()) return;
  events_.Report(EventSink::Level::kWarning,
                 status.ok() ? "there is room on the disk again"
                             : absl::StrCat("writes are refused: ", status.message()));
}

uint64_t RocksStore::LogBytes() const {
  std::vector<std::string> files;
  uint64_t bytes = 0;
  if (!options_.env().GetChildren(path_, &files).ok()) return 0;
  for (const std::string& file : files) {
    uint64_t size = 0;
    if (file.ends_with(".log") && options_.env().GetFileSize(path_ + "/" + file, &size).ok()) {
      bytes += size;
    }
  }
  return bytes;
}

std::unique_ptr<rocksdb::WriteBatch> RocksStore::TakeBatch() {
  absl::MutexLock lock(&spare_mu_);
  if (spare_batch_ == nullptr) return std::make_unique<rocksdb::WriteBatch>();
  return std::move(spare_batch_);
}

void RocksStore::GiveBack(std::unique_ptr<rocksdb::WriteBatch> batch) {
  if (batch->GetDataSize() > kSpareBatchBytes) return;
  batch->Clear();
  absl::MutexLock lock(&spare_mu_);
  spare_batch_ = std::move(batch);
}

absl::Status RocksStore::Write(const TableRecord& after, std::span<const Commit> commits,
                               uint64_t trim_log_through) {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(const Place place, Find(after.table_id));
  TableFamilies& families = *place.families;
  std::unique_ptr<rocksdb::WriteBatch> batch = TakeBatch();
  AddCommits(place.database.families(), families, after, commits, *batch);
  if (trim_log_through > families.trimmed_through) {
    AddTrim(place.database.families(), after.table_id, families.trimmed_through, trim_log_through,
            *batch);
  }
  const bool grows = std::any_of(commits.begin(), commits.end(), [](const Commit& commit) {
    return commit.kind == RowChange::Kind::kPut;
  });
  absl::Status status;
  if (grows) {
    status = CheckGrowth(place.database, batch->GetDataSize());
  } else {
    IgnoreStatus(room_.MakeRoom(BytesFor(batch->GetDataSize())),
                 "the write says whether that was enough");
  }
  if (status.ok()) status = place.database.Write(*batch, settings_.sync, "writing to the store");
  GiveBack(std::move(batch));
  VT_RETURN_IF_ERROR(status);
  families.trimmed_through = std::max(families.trimmed_through, trim_log_through);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::optional<uint64_t>>> RocksStore::FindWords(
    uint32_t table_id, std::span<const std::string_view> words) const {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(const Place place, Find(table_id));
  return FindWordsIn(place.db(), rocksdb::ReadOptions(), *place.families, words);
}

absl::StatusOr<std::vector<RowIdState>> RocksStore::FindRowIds(
    uint32_t table_id, std::span<const uint64_t> row_ids) const {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(const Place place, Find(table_id));
  return FindRowIdsIn(place.db(), *place.families, row_ids);
}

absl::StatusOr<std::vector<std::optional<StoredRow>>> RocksStore::GetByWords(
    uint32_t table_id, std::span<const std::string_view> words) const {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(const Place place, Find(table_id));
  const std::unique_ptr<CursorView> view = place.MakeView();
  using Ids = std::vector<std::optional<uint64_t>>;
  VT_ASSIGN_OR_RETURN(const Ids ids, FindWordsIn(place.db(), view->Read(), *place.families, words));
  std::vector<uint64_t> known;
  for (const std::optional<uint64_t>& id : ids) {
    if (id) known.push_back(*id);
  }
  using Rows = std::vector<std::optional<StoredRow>>;
  VT_ASSIGN_OR_RETURN(Rows found, GetRowsIn(place.db(), view->Read(), *place.families, known));
  Rows rows(words.size());
  size_t next = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if (ids[i]) rows[i] = std::move(found[next++]);
  }
  return rows;
}

absl::StatusOr<std::vector<std::optional<StoredRow>>> RocksStore::GetByRowIds(
    uint32_t table_id, std::span<const uint64_t> row_ids) const {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(const Place place, Find(table_id));
  const std::unique_ptr<CursorView> view = place.MakeView();
  return GetRowsIn(place.db(), view->Read(), *place.families, row_ids);
}

absl::StatusOr<std::unique_ptr<RowCursor>> RocksStore::ScanRows(uint32_t table_id, uint64_t begin,
                                                                std::optional<uint64_t> end) const {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(const Place place, Find(table_id));
  std::unique_ptr<CursorView> view = place.MakeView();
  VT_ASSIGN_OR_RETURN(view->record, place.database.ReadTable(view->Read(), table_id));
  return MakeRowIdCursor(std::move(view), cursors_, begin, end);
}

absl::StatusOr<std::unique_ptr<RowCursor>> RocksStore::ScanWords(
    uint32_t table_id, std::string_view prefix, std::optional<std::string_view> after,
    bool with_codes) const {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(const Place place, Find(table_id));
  std::unique_ptr<CursorView> view = place.MakeView();
  VT_ASSIGN_OR_RETURN(view->record, place.database.ReadTable(view->Read(), table_id));
  return MakeWordCursor(std::move(view), cursors_, std::string(prefix),
                        after ? std::optional<std::string>(*after) : std::nullopt, with_codes);
}

absl::StatusOr<std::vector<LogEntry>> RocksStore::ReadLog(uint32_t table_id, uint64_t after,
                                                          size_t max) const {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(const Place place, Find(table_id));
  return ReadLogIn(place.db(), place.database.families().log(), table_id, after, max);
}

absl::StatusOr<StoreUsage> RocksStore::Usage() const {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(RocksDatabase* const database, Opened());
  VT_ASSIGN_OR_RETURN(const std::vector<TableRecord> tables, database->Tables());
  return MeasureUsage(database->db(), database->families(), tables, settings_.directory);
}

absl::Status RocksStore::CheckRoom(uint64_t bytes) {
  return room_.CheckGrowth(bytes + BytesFor(0));
}

absl::StatusOr<std::vector<TableRecord>> RocksStore::Checkpoint(const std::string& path) {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(RocksDatabase* const database, Opened());
  if (const std::vector<std::string> damaged = database->DamagedFamilies(); !damaged.empty()) {
    return absl::DataLossError(
        absl::StrCat("files of ", absl::StrJoin(damaged, ", "),
                     " are damaged, and a snapshot with them can't be restored; drop those tables "
                     "first"));
  }
  VT_RETURN_IF_ERROR(CheckGrowth(*database, 0));
  absl::MutexLock flush_lock(&flush_mu_);
  VT_RETURN_IF_ERROR(options_.watch().failure());
  return database->Checkpoint(path);
}

absl::Status RocksStore::Compact(uint32_t table_id) {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(const Place place, Find(table_id));
  absl::MutexLock flush_lock(&flush_mu_);
  VT_RETURN_IF_ERROR(options_.watch().failure());
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
  options.blob_garbage_collection_age_cutoff = 1;  // all blob files
  for (rocksdb::ColumnFamilyHandle* family : {place.families->rows(), place.families->words()}) {
    VT_RETURN_IF_ERROR(FromRocks(place.db().CompactRange(options, family, nullptr, nullptr),
                                 "compacting " + family->GetName()));
  }
  return absl::OkStatus();
}

absl::Status RocksStore::FlushAll(RocksDatabase& database, bool wait) {
  absl::MutexLock lock(&flush_mu_);
  VT_RETURN_IF_ERROR(options_.watch().failure());
  rocksdb::FlushOptions options;
  options.wait = wait;
  return FromRocks(database.db().Flush(options, database.families().All()), "flushing the store");
}

absl::Status RocksStore::Flush() {
  absl::ReaderMutexLock lock(&gate_);
  VT_ASSIGN_OR_RETURN(RocksDatabase* const database, Opened());
  return FlushAll(*database, /*wait=*/true);
}

uint64_t RocksStore::BytesToOpen() const {
  return std::min<uint64_t>(LogBytes(), settings_.memtable_bytes / 4 * 5) + kOwnBytes;
}

// Whether the disk takes what an open writes.
absl::Status RocksStore::CheckDisk() {
  VT_RETURN_IF_ERROR(room_.MakeRoom(BytesToOpen()));
  const std::string path = settings_.directory + "/PROBE";
  std::unique_ptr<rocksdb::WritableFile> file;
  VT_RETURN_IF_ERROR(FromRocks(options_.env().NewWritableFile(path, &file, rocksdb::EnvOptions()),
                               "making " + path));
  rocksdb::Status status = file->Append(std::string(4096, '\0'));
  if (status.ok()) status = file->Sync();
  file->Close().PermitUncheckedError();
  options_.env().DeleteFile(path).PermitUncheckedError();
  return FromRocks(status, "writing " + path);
}

absl::Status RocksStore::Recover() {
  absl::MutexLock lock(&gate_);
  if (database_ != nullptr) {
    if (!failed()) return absl::OkStatus();
    VT_RETURN_IF_ERROR(CheckDisk());
    events_.Report(EventSink::Level::kWarning, absl::StrCat("opening the store again after: ",
                                                            options_.watch().failure().message()));
    cursors_.BreakAll();
    database_.reset();
  }
  absl::StatusOr<std::unique_ptr<RocksDatabase>> opened =
      RocksDatabase::Open(path_, options_, events_);
  if (!opened.ok()) {
    closed_ = Annotate(opened.status(), "the store can't be opened again");
    options_.watch().SetFailed(closed_);
    return closed_;
  }
  database_ = *std::move(opened);
  events_.Report(EventSink::Level::kWarning, "the store is open again");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenRocksStore(const RocksStoreOptions& options) {
  absl::StatusOr<std::unique_ptr<DirectoryLock>> lock = DirectoryLock::Acquire(options.directory);
  if (!lock.ok()) return lock.status();
  RocksStoreOptions fitted = options;
  fitted.memtable_bytes = std::min<uint64_t>(
      options.memtable_bytes, std::max(kLeastMemtable, DiskBytes(options.directory) / kDiskShare));
  auto store = std::make_unique<RocksStore>(fitted, *std::move(lock));
  if (absl::Status status = store->Open(); !status.ok()) {
    return Annotate(status, absl::StrCat("data directory ", Quoted(options.directory)));
  }
  return std::unique_ptr<Store>(std::move(store));
}

std::string RocksDbVersion() { return rocksdb::GetRocksVersionAsString(/*with_patch=*/true); }

}  // namespace vectable
