#include "storage/rocks_store.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "common/names.h"
#include "common/status_util.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/snapshot.h"
#include "rocksdb/version.h"
#include "rocksdb/write_batch.h"
#include "storage/directory_lock.h"
#include "storage/key_format.h"
#include "storage/rocks_cursor.h"
#include "storage/rocks_families.h"
#include "storage/rocks_options.h"
#include "storage/rocks_status.h"
#include "storage/rocks_usage.h"

namespace vectable {
namespace {

// Up to this many log entries are removed one by one, more of them by a range.
constexpr uint64_t kTrimOneByOne = 256;

// A batch of more bytes isn't kept for the next write.
constexpr size_t kSpareBatchBytes = size_t{16} << 20;

// RocksDB keeps some hundred bytes for each key of a lookup: so many stay in the cache.
constexpr size_t kKeysAtOnce = 128;

rocksdb::Slice ToSlice(std::string_view view) { return rocksdb::Slice(view.data(), view.size()); }

// What commits do to a word's record.
struct WordChange {
  std::string_view word;
  uint64_t row_id = 0;
  RowChange::Kind kind = RowChange::Kind::kPut;
};

// The changes in the order of the family's keys, so that each finds its place in the memtable near
// that of the one before; changes of the same word stay in order.
std::vector<WordChange> WordsInOrder(std::span<const Commit> commits) {
  std::vector<WordChange> words;
  for (const Commit& commit : commits) {
    for (const RowChange& change : commit.changes) {
      words.push_back({change.word, change.row_id, commit.kind});
    }
  }
  std::stable_sort(words.begin(), words.end(),
                   [](const WordChange& a, const WordChange& b) { return a.word < b.word; });
  return words;
}

class RocksStore final : public Store {
 public:
  RocksStore(const RocksStoreOptions& options, std::unique_ptr<DirectoryLock> lock)
      : settings_(options), options_(options), lock_(std::move(lock)) {}
  ~RocksStore() override;

  // Opens the database, checks its format, and removes families that no table names.
  absl::Status Open();

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
  absl::Status Compact(uint32_t table_id) override;
  absl::Status Flush() override;

 private:
  // The values of `keys` in `family`, each or nothing, in the view of `read`.
  absl::StatusOr<std::vector<std::optional<rocksdb::PinnableSlice>>> MultiGet(
      const rocksdb::ReadOptions& read, rocksdb::ColumnFamilyHandle* family,
      const std::vector<rocksdb::Slice>& keys) const;
  absl::StatusOr<std::vector<std::optional<uint64_t>>> FindWordsIn(
      const rocksdb::ReadOptions& read, const TableFamilies& families,
      std::span<const std::string_view> words) const;
  absl::StatusOr<std::vector<std::optional<StoredRow>>> GetRowsIn(
      const rocksdb::ReadOptions& read, const TableFamilies& families,
      std::span<const uint64_t> row_ids) const;
  absl::StatusOr<TableRecord> ReadTable(const rocksdb::ReadOptions& read, uint32_t table_id) const;
  absl::StatusOr<std::unique_ptr<CursorView>> MakeView(uint32_t table_id) const;
  absl::StatusOr<std::map<std::string, std::string>> ReadAll(const rocksdb::ReadOptions& read,
                                                             std::string_view prefix) const;
  absl::Status CheckNotHeadless(const std::string& path) const;
  absl::Status CheckOrWriteFormat();
  absl::StatusOr<uint32_t> TakeTableId() ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_mu_);
  absl::Status WriteTo(rocksdb::WriteBatch& batch, bool sync, const std::string& what);
  // An empty batch, with the memory of an earlier one where there is one: fresh memory for each
  // would cost as much as filling it.
  std::unique_ptr<rocksdb::WriteBatch> TakeBatch() ABSL_LOCKS_EXCLUDED(spare_mu_);
  void GiveBack(std::unique_ptr<rocksdb::WriteBatch> batch) ABSL_LOCKS_EXCLUDED(spare_mu_);
  void FillBatch(rocksdb::WriteBatch& batch, const TableFamilies& families,
                 const TableRecord& after, std::span<const Commit> commits) const;
  void TrimLog(rocksdb::WriteBatch& batch, uint32_t table_id, uint64_t from,
               uint64_t through) const;

  const RocksStoreOptions settings_;
  const RocksOptions options_;
  const std::unique_ptr<DirectoryLock> lock_;
  std::unique_ptr<rocksdb::DB> db_;
  std::unique_ptr<RocksFamilies> families_;
  absl::Mutex catalogue_mu_;  // creates, renames and drops come one at a time
  absl::Mutex spare_mu_;
  std::unique_ptr<rocksdb::WriteBatch> spare_batch_ ABSL_GUARDED_BY(spare_mu_);
};

RocksStore::~RocksStore() {
  families_.reset();
  if (db_ != nullptr) FromRocks(db_->Close(), "closing").IgnoreError();
}

absl::Status RocksStore::Open() {
  const std::string path = settings_.directory + "/store";
  VT_RETURN_IF_ERROR(CheckNotHeadless(path));
  std::vector<std::string> names;
  if (!rocksdb::DB::ListColumnFamilies(options_.Database(), path, &names).ok()) {
    names = {rocksdb::kDefaultColumnFamilyName};  // new, or Open says what is wrong
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  bool has_log = false;
  for (const std::string& name : names) {
    descriptors.emplace_back(name, options_.Family(name));
    has_log = has_log || name == kLogFamily;
  }
  if (!has_log) {
    descriptors.emplace_back(std::string(kLogFamily), options_.Family(std::string(kLogFamily)));
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  VT_RETURN_IF_ERROR(
      FromRocks(rocksdb::DB::Open(options_.Database(), path, descriptors, &handles, &db),
                "opening the store"));
  db_.reset(db);
  families_ = std::make_unique<RocksFamilies>(*db_, options_, handles);
  VT_RETURN_IF_ERROR(CheckOrWriteFormat());
  VT_ASSIGN_OR_RETURN(const std::vector<TableRecord> tables, Tables());
  std::vector<uint32_t> ids;
  ids.reserve(tables.size());
  for (const TableRecord& table : tables) ids.push_back(table.table_id);
  return families_->KeepOnly(ids);
}

// Where CURRENT is missing RocksDB starts a new, empty database and removes the files of the old
// one.
absl::Status RocksStore::CheckNotHeadless(const std::string& path) const {
  rocksdb::Env* env = settings_.env != nullptr ? settings_.env : rocksdb::Env::Default();
  std::vector<std::string> files;
  if (env->FileExists(path + "/CURRENT").ok() || !env->GetChildren(path, &files).ok()) {
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

absl::Status RocksStore::CheckOrWriteFormat() {
  std::string value;
  const rocksdb::Status found =
      db_->Get(rocksdb::ReadOptions(), families_->main(), ToSlice(kFormatKey), &value);
  if (found.IsNotFound()) {
    rocksdb::WriteBatch batch;
    VT_RETURN_IF_ERROR(FromRocks(
        batch.Put(families_->main(), ToSlice(kFormatKey), EncodeU32(kStorageFormatVersion)),
        "writing the format version"));
    return WriteTo(batch, /*sync=*/true, "writing the format version");
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

absl::Status RocksStore::WriteTo(rocksdb::WriteBatch& batch, bool sync, const std::string& what) {
  rocksdb::WriteOptions write;
  write.sync = sync;
  return FromRocks(db_->Write(write, &batch),
                   what + " (nothing more is written until the data are opened again)");
}

absl::StatusOr<std::map<std::string, std::string>> RocksStore::ReadAll(
    const rocksdb::ReadOptions& read, std::string_view prefix) const {
  std::map<std::string, std::string> all;
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read, families_->main()));
  for (it->Seek(ToSlice(prefix)); it->Valid() && it->key().starts_with(ToSlice(prefix));
       it->Next()) {
    all[it->key().ToString()] = it->value().ToString();
  }
  VT_RETURN_IF_ERROR(FromRocks(it->status(), "reading the catalogue"));
  return all;
}

absl::StatusOr<TableRecord> RocksStore::ReadTable(const rocksdb::ReadOptions& read,
                                                  uint32_t table_id) const {
  TableRecord record;
  record.table_id = table_id;
  const std::string what = absl::StrCat("reading the catalogue row of table id ", table_id);
  std::string value;
  VT_RETURN_IF_ERROR(
      FromRocks(db_->Get(read, families_->main(), TableKey(table_id), &value), what));
  VT_RETURN_IF_ERROR(Annotate(DecodeTable(value, record), what));
  VT_RETURN_IF_ERROR(
      FromRocks(db_->Get(read, families_->main(), CountersKey(table_id), &value), what));
  VT_RETURN_IF_ERROR(Annotate(DecodeCounters(value, record), what));
  return record;
}

absl::StatusOr<std::vector<TableRecord>> RocksStore::Tables() const {
  rocksdb::ManagedSnapshot snapshot(db_.get());
  rocksdb::ReadOptions read;
  read.snapshot = snapshot.snapshot();
  using Catalogue = std::map<std::string, std::string>;
  VT_ASSIGN_OR_RETURN(const Catalogue catalogue, ReadAll(read, kTableKeyPrefix));
  std::vector<TableRecord> tables;
  for (const auto& [key, value] : catalogue) {
    VT_ASSIGN_OR_RETURN(const uint32_t table_id, DecodeTableKey(key));
    VT_ASSIGN_OR_RETURN(TableRecord record, ReadTable(read, table_id));
    tables.push_back(std::move(record));
  }
  return tables;
}

absl::StatusOr<uint32_t> RocksStore::TakeTableId() {
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
  VT_RETURN_IF_ERROR(WriteTo(batch, /*sync=*/true, "taking a table id"));
  return id;
}

absl::StatusOr<TableRecord> RocksStore::CreateTable(TableRecord record) {
  absl::MutexLock lock(&catalogue_mu_);
  // The id is spent first, then the families are made, then the row names them: a crash in between
  // leaves families that the next open removes.
  VT_ASSIGN_OR_RETURN(record.table_id, TakeTableId());
  VT_RETURN_IF_ERROR(families_->Create(record.table_id));
  rocksdb::WriteBatch batch;
  batch.Put(families_->main(), TableKey(record.table_id), EncodeTable(record))
      .PermitUncheckedError();
  batch.Put(families_->main(), CountersKey(record.table_id), EncodeCounters(record))
      .PermitUncheckedError();
  if (absl::Status status = WriteTo(batch, /*sync=*/true, "writing the catalogue"); !status.ok()) {
    IgnoreStatus(families_->Drop(record.table_id), "the next open removes what no table names");
    return status;
  }
  return record;
}

absl::Status RocksStore::RenameTable(const TableRecord& record, std::optional<uint32_t> replaced) {
  absl::MutexLock lock(&catalogue_mu_);
  VT_RETURN_IF_ERROR(families_->Find(record.table_id).status());
  if (replaced) VT_RETURN_IF_ERROR(families_->Find(*replaced).status());
  rocksdb::WriteBatch batch;
  batch.Put(families_->main(), TableKey(record.table_id), EncodeTable(record))
      .PermitUncheckedError();
  if (replaced) {
    batch.Delete(families_->main(), TableKey(*replaced)).PermitUncheckedError();
    batch.Delete(families_->main(), CountersKey(*replaced)).PermitUncheckedError();
    batch.DeleteRange(families_->log(), LogKey(*replaced, 0), LogKey(*replaced + 1, 0))
        .PermitUncheckedError();
  }
  VT_RETURN_IF_ERROR(WriteTo(batch, /*sync=*/true, "writing the catalogue"));
  if (replaced)
    IgnoreStatus(families_->Drop(*replaced), "the next open removes what no table names");
  return absl::OkStatus();
}

absl::Status RocksStore::DropTable(uint32_t table_id) {
  absl::MutexLock lock(&catalogue_mu_);
  VT_RETURN_IF_ERROR(families_->Find(table_id).status());
  rocksdb::WriteBatch batch;
  batch.Delete(families_->main(), TableKey(table_id)).PermitUncheckedError();
  batch.Delete(families_->main(), CountersKey(table_id)).PermitUncheckedError();
  batch.DeleteRange(families_->log(), LogKey(table_id, 0), LogKey(table_id + 1, 0))
      .PermitUncheckedError();
  VT_RETURN_IF_ERROR(WriteTo(batch, /*sync=*/true, "writing the catalogue"));
  IgnoreStatus(families_->Drop(table_id), "the next open removes what no table names");
  return absl::OkStatus();
}

void RocksStore::TrimLog(rocksdb::WriteBatch& batch, uint32_t table_id, uint64_t from,
                         uint64_t through) const {
  if (through - from > kTrimOneByOne) {
    batch.DeleteRange(families_->log(), LogKey(table_id, 0), LogKey(table_id, through + 1))
        .PermitUncheckedError();
    return;
  }
  for (uint64_t sequence = from + 1; sequence <= through; ++sequence) {
    batch.Delete(families_->log(), LogKey(table_id, sequence)).PermitUncheckedError();
  }
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

// A batch in memory refuses nothing but a size limit, which isn't set.
void RocksStore::FillBatch(rocksdb::WriteBatch& batch, const TableFamilies& families,
                           const TableRecord& after, std::span<const Commit> commits) const {
  std::string value;
  for (const Commit& commit : commits) {
    for (const RowChange& change : commit.changes) {
      value.clear();
      if (commit.kind == RowChange::Kind::kPut) {
        EncodeRow(value, change.word, change.codes);
      } else {
        value = EncodeDeletedRow();
      }
      batch.Put(families.rows(), RowKey(change.row_id), value).PermitUncheckedError();
    }
    batch.Put(families_->log(), LogKey(after.table_id, commit.sequence), EncodeLogEntry(commit))
        .PermitUncheckedError();
  }
  for (const WordChange& change : WordsInOrder(commits)) {
    if (change.kind == RowChange::Kind::kPut) {
      batch.Put(families.words(), ToSlice(change.word), EncodeWordValue(change.row_id))
          .PermitUncheckedError();
    } else {
      batch.Delete(families.words(), ToSlice(change.word)).PermitUncheckedError();
    }
  }
  batch.Put(families_->main(), CountersKey(after.table_id), EncodeCounters(after))
      .PermitUncheckedError();
}

absl::Status RocksStore::Write(const TableRecord& after, std::span<const Commit> commits,
                               uint64_t trim_log_through) {
  VT_ASSIGN_OR_RETURN(const std::shared_ptr<TableFamilies> families,
                      families_->Find(after.table_id));
  std::unique_ptr<rocksdb::WriteBatch> batch = TakeBatch();
  FillBatch(*batch, *families, after, commits);
  if (trim_log_through > families->trimmed_through) {
    TrimLog(*batch, after.table_id, families->trimmed_through, trim_log_through);
  }
  const absl::Status status = WriteTo(*batch, settings_.sync, "writing to the store");
  GiveBack(std::move(batch));
  VT_RETURN_IF_ERROR(status);
  families->trimmed_through = std::max(families->trimmed_through, trim_log_through);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::optional<rocksdb::PinnableSlice>>> RocksStore::MultiGet(
    const rocksdb::ReadOptions& read, rocksdb::ColumnFamilyHandle* family,
    const std::vector<rocksdb::Slice>& keys) const {
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  for (size_t i = 0; i < keys.size(); i += kKeysAtOnce) {
    db_->MultiGet(read, family, std::min(kKeysAtOnce, keys.size() - i), keys.data() + i,
                  values.data() + i, statuses.data() + i);
  }
  std::vector<std::optional<rocksdb::PinnableSlice>> found(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].IsNotFound()) continue;
    VT_RETURN_IF_ERROR(FromRocks(statuses[i], "reading " + family->GetName()));
    found[i] = std::move(values[i]);
  }
  return found;
}

absl::StatusOr<std::vector<std::optional<uint64_t>>> RocksStore::FindWordsIn(
    const rocksdb::ReadOptions& read, const TableFamilies& families,
    std::span<const std::string_view> words) const {
  std::vector<rocksdb::Slice> keys;
  keys.reserve(words.size());
  for (const std::string_view word : words) keys.push_back(ToSlice(word));
  using Values = std::vector<std::optional<rocksdb::PinnableSlice>>;
  VT_ASSIGN_OR_RETURN(const Values values, MultiGet(read, families.words(), keys));
  std::vector<std::optional<uint64_t>> ids(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    if (!values[i]) continue;
    absl::StatusOr<uint64_t> id = DecodeWordValue(values[i]->ToStringView());
    if (!id.ok()) return Annotate(id.status(), absl::StrCat("word ", Quoted(words[i])));
    ids[i] = *id;
  }
  return ids;
}

absl::StatusOr<std::vector<std::optional<StoredRow>>> RocksStore::GetRowsIn(
    const rocksdb::ReadOptions& read, const TableFamilies& families,
    std::span<const uint64_t> row_ids) const {
  std::vector<std::string> keys;
  keys.reserve(row_ids.size());
  for (const uint64_t id : row_ids) keys.push_back(RowKey(id));
  using Values = std::vector<std::optional<rocksdb::PinnableSlice>>;
  VT_ASSIGN_OR_RETURN(
      const Values values,
      MultiGet(read, families.rows(), std::vector<rocksdb::Slice>(keys.begin(), keys.end())));
  std::vector<std::optional<StoredRow>> rows(row_ids.size());
  for (size_t i = 0; i < row_ids.size(); ++i) {
    if (!values[i]) continue;
    absl::StatusOr<DecodedRow> row = DecodeRow(values[i]->ToStringView());
    if (!row.ok()) return Annotate(row.status(), absl::StrCat("row id ", row_ids[i]));
    if (row->deleted) continue;
    rows[i] = StoredRow{row_ids[i], std::string(row->word), std::string(row->codes)};
  }
  return rows;
}

absl::StatusOr<std::vector<std::optional<uint64_t>>> RocksStore::FindWords(
    uint32_t table_id, std::span<const std::string_view> words) const {
  VT_ASSIGN_OR_RETURN(const std::shared_ptr<TableFamilies> families, families_->Find(table_id));
  return FindWordsIn(rocksdb::ReadOptions(), *families, words);
}

absl::StatusOr<std::vector<RowIdState>> RocksStore::FindRowIds(
    uint32_t table_id, std::span<const uint64_t> row_ids) const {
  VT_ASSIGN_OR_RETURN(const std::shared_ptr<TableFamilies> families, families_->Find(table_id));
  std::vector<RowIdState> states(row_ids.size(), RowIdState::kUnused);
  for (size_t i = 0; i < row_ids.size(); ++i) {
    rocksdb::PinnableSlice value;
    const rocksdb::Status found =
        db_->Get(rocksdb::ReadOptions(), families->rows(), RowKey(row_ids[i]), &value);
    if (found.IsNotFound()) continue;
    VT_RETURN_IF_ERROR(FromRocks(found, "reading rows"));
    absl::StatusOr<DecodedRow> row = DecodeRow(value.ToStringView());
    if (!row.ok()) return Annotate(row.status(), absl::StrCat("row id ", row_ids[i]));
    states[i] = row->deleted ? RowIdState::kDeleted : RowIdState::kLive;
  }
  return states;
}

absl::StatusOr<std::vector<std::optional<StoredRow>>> RocksStore::GetByWords(
    uint32_t table_id, std::span<const std::string_view> words) const {
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<CursorView> view, MakeView(table_id));
  using Ids = std::vector<std::optional<uint64_t>>;
  VT_ASSIGN_OR_RETURN(const Ids ids, FindWordsIn(view->Read(), *view->families, words));
  std::vector<uint64_t> known;
  for (const std::optional<uint64_t>& id : ids) {
    if (id) known.push_back(*id);
  }
  using Rows = std::vector<std::optional<StoredRow>>;
  VT_ASSIGN_OR_RETURN(Rows found, GetRowsIn(view->Read(), *view->families, known));
  Rows rows(words.size());
  size_t next = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if (ids[i]) rows[i] = std::move(found[next++]);
  }
  return rows;
}

absl::StatusOr<std::vector<std::optional<StoredRow>>> RocksStore::GetByRowIds(
    uint32_t table_id, std::span<const uint64_t> row_ids) const {
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<CursorView> view, MakeView(table_id));
  return GetRowsIn(view->Read(), *view->families, row_ids);
}

absl::StatusOr<std::unique_ptr<CursorView>> RocksStore::MakeView(uint32_t table_id) const {
  VT_ASSIGN_OR_RETURN(std::shared_ptr<TableFamilies> families, families_->Find(table_id));
  return std::make_unique<CursorView>(*db_, std::move(families));
}

absl::StatusOr<std::unique_ptr<RowCursor>> RocksStore::ScanRows(uint32_t table_id, uint64_t begin,
                                                                std::optional<uint64_t> end) const {
  VT_ASSIGN_OR_RETURN(std::unique_ptr<CursorView> view, MakeView(table_id));
  VT_ASSIGN_OR_RETURN(view->record, ReadTable(view->Read(), table_id));
  return MakeRowIdCursor(std::move(view), begin, end);
}

absl::StatusOr<std::unique_ptr<RowCursor>> RocksStore::ScanWords(
    uint32_t table_id, std::string_view prefix, std::optional<std::string_view> after,
    bool with_codes) const {
  VT_ASSIGN_OR_RETURN(std::unique_ptr<CursorView> view, MakeView(table_id));
  VT_ASSIGN_OR_RETURN(view->record, ReadTable(view->Read(), table_id));
  return MakeWordCursor(std::move(view), std::string(prefix),
                        after ? std::optional<std::string>(*after) : std::nullopt, with_codes);
}

absl::StatusOr<std::vector<LogEntry>> RocksStore::ReadLog(uint32_t table_id, uint64_t after,
                                                          size_t max) const {
  VT_RETURN_IF_ERROR(families_->Find(table_id).status());
  std::vector<LogEntry> entries;
  const std::string end = LogKey(table_id + 1, 0);
  rocksdb::ReadOptions read;
  const rocksdb::Slice bound(end);
  read.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read, families_->log()));
  for (it->Seek(LogKey(table_id, after + 1)); it->Valid() && entries.size() < max; it->Next()) {
    VT_ASSIGN_OR_RETURN(const uint64_t sequence, DecodeLogKey(it->key().ToStringView(), table_id));
    absl::StatusOr<LogEntry> entry = DecodeLogEntry(it->value().ToStringView());
    if (!entry.ok()) return Annotate(entry.status(), absl::StrCat("log entry ", sequence));
    entry->sequence = sequence;
    entries.push_back(*std::move(entry));
  }
  VT_RETURN_IF_ERROR(FromRocks(it->status(), "reading the log"));
  return entries;
}

absl::StatusOr<StoreUsage> RocksStore::Usage() const {
  VT_ASSIGN_OR_RETURN(const std::vector<TableRecord> tables, Tables());
  return MeasureUsage(*db_, *families_, tables, settings_.directory);
}

absl::Status RocksStore::Compact(uint32_t table_id) {
  VT_ASSIGN_OR_RETURN(const std::shared_ptr<TableFamilies> families, families_->Find(table_id));
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
  options.blob_garbage_collection_age_cutoff = 1;  // all blob files
  for (rocksdb::ColumnFamilyHandle* family : {families->rows(), families->words()}) {
    VT_RETURN_IF_ERROR(FromRocks(db_->CompactRange(options, family, nullptr, nullptr),
                                 "compacting " + family->GetName()));
  }
  return absl::OkStatus();
}

absl::Status RocksStore::Flush() {
  return FromRocks(db_->Flush(rocksdb::FlushOptions(), families_->All()), "flushing the store");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenRocksStore(const RocksStoreOptions& options) {
  absl::StatusOr<std::unique_ptr<DirectoryLock>> lock = DirectoryLock::Acquire(options.directory);
  if (!lock.ok()) return lock.status();
  auto store = std::make_unique<RocksStore>(options, *std::move(lock));
  if (absl::Status status = store->Open(); !status.ok()) {
    return Annotate(status, absl::StrCat("data directory ", Quoted(options.directory)));
  }
  return std::unique_ptr<Store>(std::move(store));
}

std::string RocksDbVersion() { return rocksdb::GetRocksVersionAsString(/*with_patch=*/true); }

}  // namespace vectable
