#include "engine/restore.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/names.h"
#include "common/status_util.h"
#include "common/vector_codec.h"
#include "engine/file_tree.h"
#include "engine/snapshot_folder.h"
#include "storage/data_directory.h"
#include "storage/directory_lock.h"

namespace vectable {
namespace {

namespace fs = std::filesystem;

constexpr char kReadyFile[] = "READY";  // holds the folder that what was there goes to
constexpr uint64_t kMaxReadyBytes = 4'096;

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// Files that are never changed once they are written.
bool IsImmutable(const std::string& name) {
  return name.ends_with(".sst") || name.ends_with(".blob") || name.ends_with(".segment");
}

// Copies a folder of a snapshot, linking what can be.
absl::Status CopyTree(const std::string& from, const std::string& to) {
  VT_RETURN_IF_ERROR(MakeFolder(to));
  std::error_code error;
  for (fs::recursive_directory_iterator entry(from, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const std::string target = (to / fs::relative(entry->path(), from)).string();
    const std::string source = entry->path().string();
    if (entry->is_directory()) {
      VT_RETURN_IF_ERROR(MakeFolder(target));
    } else if (IsImmutable(source)) {
      VT_RETURN_IF_ERROR(LinkOrCopyFile(source, target));
    } else {
      VT_RETURN_IF_ERROR(CopyFile(source, target));
    }
  }
  if (error) return absl::InternalError(absl::StrCat("reading ", from, ": ", error.message()));
  return absl::OkStatus();
}

// The sum of what identifies each row; the same for its rows and its words where they fit.
absl::StatusOr<uint64_t> SumRows(RowCursor& cursor, const TableRecord& table, bool by_word) {
  const VectorCodec codec(table.precision, table.dimensions);
  uint64_t rows = 0;
  uint64_t sum = 0;
  while (true) {
    VT_ASSIGN_OR_RETURN(const bool more, cursor.Next());
    if (!more) break;
    const RowView row = cursor.row();
    if (row.row_id >= table.next_row_id) {
      return absl::DataLossError(absl::StrCat("row id ", row.row_id, " was never given"));
    }
    if (!by_word) {
      VT_RETURN_IF_ERROR(
          Annotate(codec.CheckLength(row.codes), absl::StrCat("row id ", row.row_id)));
    }
    ++rows;
    sum += absl::HashOf(row.row_id, row.word);
  }
  if (rows == table.rows) return sum;
  return absl::DataLossError(absl::StrCat(rows, by_word ? " words" : " rows",
                                          " are there; the catalogue says ", table.rows));
}

absl::Status CheckTable(const Store& store, const TableRecord& table) {
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<RowCursor> rows,
                      store.ScanRows(table.table_id, 0, std::nullopt));
  VT_ASSIGN_OR_RETURN(const uint64_t of_rows, SumRows(*rows, table, /*by_word=*/false));
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<RowCursor> words,
                      store.ScanWords(table.table_id, "", std::nullopt, /*with_codes=*/false));
  VT_ASSIGN_OR_RETURN(const uint64_t of_words, SumRows(*words, table, /*by_word=*/true));
  if (of_rows == of_words) return absl::OkStatus();
  return absl::DataLossError("its rows and its words aren't the same");
}

// Where the snapshot lies.
absl::StatusOr<std::string> FindSnapshot(const std::string& directory,
                                         const std::string& snapshot) {
  if (absl::StrContains(snapshot, '/')) return snapshot;
  VT_RETURN_IF_ERROR(SnapshotFolder::CheckName(snapshot));
  return absl::StrCat(directory, "/", kSnapshotFolder, "/", snapshot);
}

std::string ReplacedFolder(const std::string& directory) {
  const std::string base = absl::StrCat(
      "replaced-", absl::FormatTime("%Y%m%dT%H%M%SZ", absl::Now(), absl::UTCTimeZone()));
  std::string name = base;
  for (int i = 2; Exists(absl::StrCat(directory, "/", name)); ++i)
    name = absl::StrCat(base, "-", i);
  return name;
}

// The steps that can be done again from wherever a crash stopped them: the data that are there are
// the old ones as long as the new ones are still in the folder of the restore.
absl::Status Exchange(const std::string& directory, const std::string& restoring,
                      const std::string& replaced) {
  for (const char* const part : {kStoreFolder, kIndexFolder}) {
    const std::string fresh = absl::StrCat(restoring, "/", part);
    const std::string current = absl::StrCat(directory, "/", part);
    if (!Exists(fresh)) continue;
    if (Exists(current)) {
      VT_RETURN_IF_ERROR(MakeFolder(replaced));
      VT_RETURN_IF_ERROR(RenameDurably(current, absl::StrCat(replaced, "/", part)));
    }
    VT_RETURN_IF_ERROR(RenameDurably(fresh, current));
  }
  return RemoveTree(restoring);
}

absl::Status FinishLocked(const std::string& directory, EventSink& events) {
  const std::string restoring = absl::StrCat(directory, "/", kRestoreFolder);
  if (!Exists(restoring)) return absl::OkStatus();
  const std::string ready = absl::StrCat(restoring, "/", kReadyFile);
  if (!Exists(ready)) return RemoveTree(restoring);
  VT_ASSIGN_OR_RETURN(const std::string name, ReadWholeFile(ready, kMaxReadyBytes));
  const std::string replaced = absl::StrCat(directory, "/", name);
  VT_RETURN_IF_ERROR(Exchange(directory, restoring, replaced));
  if (Exists(replaced)) {
    events.Report(EventSink::Level::kWarning,
                  absl::StrCat("what was there before the restore is in ", replaced,
                               "; delete it when it isn't needed any more"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckStore(const Store& store) {
  VT_ASSIGN_OR_RETURN(const std::vector<TableRecord> tables, store.Tables());
  for (const TableRecord& table : tables) {
    VT_RETURN_IF_ERROR(
        Annotate(CheckTable(store, table), absl::StrCat("table ", Quoted(table.name))));
  }
  return absl::OkStatus();
}

absl::Status FinishRestore(const std::string& directory, EventSink& events) {
  if (!Exists(absl::StrCat(directory, "/", kRestoreFolder))) return absl::OkStatus();
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<DirectoryLock> lock, DirectoryLock::Acquire(directory));
  return Annotate(FinishLocked(directory, events), "finishing a restore");
}

absl::Status RestoreSnapshot(
    const std::string& directory, const std::string& snapshot,
    const std::function<absl::StatusOr<std::unique_ptr<Store>>(const std::string& directory)>&
        open_store,
    EventSink& events) {
  VT_ASSIGN_OR_RETURN(const std::string source, FindSnapshot(directory, snapshot));
  const std::string label = absl::StrCat("snapshot ", Quoted(snapshot));
  const absl::StatusOr<SnapshotRecord> record = SnapshotFolder::ReadRecord(source);
  if (absl::IsNotFound(record.status())) {
    return absl::NotFoundError(absl::StrCat("no ", label, " in ", source));
  }
  if (!record.ok()) return Annotate(record.status(), label);
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<DirectoryLock> lock, DirectoryLock::Acquire(directory));
  VT_RETURN_IF_ERROR(FinishLocked(directory, events));

  const std::string restoring = absl::StrCat(directory, "/", kRestoreFolder);
  const absl::Status status = [&]() -> absl::Status {
    VT_RETURN_IF_ERROR(CopyTree(absl::StrCat(source, "/", kStoreFolder),
                                absl::StrCat(restoring, "/", kStoreFolder)));
    VT_RETURN_IF_ERROR(MakeFolder(absl::StrCat(restoring, "/", kIndexFolder)));
    if (const std::string index = absl::StrCat(source, "/", kIndexFolder); Exists(index)) {
      VT_RETURN_IF_ERROR(CopyTree(index, absl::StrCat(restoring, "/", kIndexFolder)));
    }
    VT_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, open_store(restoring));
    VT_ASSIGN_OR_RETURN(const std::vector<TableRecord> tables, store->Tables());
    if (tables != record->tables) {
      return absl::DataLossError("its tables aren't those of its description");
    }
    return CheckStore(*store);
  }();
  if (!status.ok()) {
    IgnoreStatus(RemoveTree(restoring), "the next start removes it");
    return Annotate(status, label + " can't be restored, and nothing is changed");
  }
  const std::string ready = absl::StrCat(restoring, "/", kReadyFile);
  VT_RETURN_IF_ERROR(SyncTree(restoring));
  VT_RETURN_IF_ERROR(WriteWholeFile(ready + ".new", ReplacedFolder(directory)));
  VT_RETURN_IF_ERROR(SyncTree(restoring));
  VT_RETURN_IF_ERROR(RenameDurably(ready + ".new", ready));
  VT_RETURN_IF_ERROR(FinishLocked(directory, events));
  uint64_t rows = 0;
  for (const TableRecord& table : record->tables) rows += table.rows;
  events.Report(EventSink::Level::kInfo,
                absl::StrCat(label, " is restored: ", record->tables.size(), " tables with ", rows,
                             " rows, each of which was read"));
  return absl::OkStatus();
}

}  // namespace vectable
