#include "engine/snapshot_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/names.h"
#include "common/status_util.h"
#include "engine/file_tree.h"
#include "engine/near_words.h"

namespace vectable {
namespace {

namespace fs = std::filesystem;

constexpr char kRecordFile[] = "SNAPSHOT";
constexpr uint64_t kMaxRecordBytes = uint64_t{1} << 30;

std::string NameOfNow() {
  return absl::FormatTime("%Y%m%dT%H%M%SZ", absl::Now(), absl::UTCTimeZone());
}

}  // namespace

std::string SnapshotFolder::PathOf(std::string_view name) const {
  return absl::StrCat(path_, "/", std::string(name));
}

absl::Status SnapshotFolder::CheckName(std::string_view name) {
  // The rules of tables' names: a folder of that name is fine on any disk.
  const absl::Status status = CheckTableName(name);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrCat("snapshot name ", Quoted(name),
                   ": it must be 1 to 128 letters, digits, '_', '.' or '-', not beginning with '.' "
                   "or '-'"));
}

absl::StatusOr<SnapshotRecord> SnapshotFolder::ReadRecord(const std::string& folder) {
  const std::string path = absl::StrCat(folder, "/", kRecordFile);
  VT_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(path, kMaxRecordBytes));
  absl::StatusOr<SnapshotRecord> record = DecodeSnapshot(bytes);
  if (!record.ok()) return Annotate(record.status(), path);
  return record;
}

void SnapshotFolder::RemoveLeftovers() {
  absl::MutexLock lock(&mu_);
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
    if (entry.path().filename().string().starts_with('.')) leftovers.push_back(entry.path());
  }
  for (const fs::path& leftover : leftovers) fs::remove_all(leftover, error);
}

std::vector<std::string> SnapshotFolder::Names() const {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
    const std::string name = entry.path().filename().string();
    // What else lies there is none of ours.
    if (CheckName(name).ok() && fs::exists(entry.path() / kRecordFile, error)) {
      names.push_back(name);
    }
  }
  return names;
}

absl::StatusOr<SnapshotDescription> SnapshotFolder::Create(
    std::string name,
    const std::function<absl::StatusOr<std::vector<TableRecord>>(const std::string& folder)>&
        fill) {
  absl::MutexLock lock(&mu_);
  std::error_code error;
  if (name.empty()) {
    const std::string now = NameOfNow();
    name = now;
    for (int i = 2; fs::exists(PathOf(name), error); ++i) name = absl::StrCat(now, "-", i);
  }
  VT_RETURN_IF_ERROR(CheckName(name));
  const std::string final_path = PathOf(name);
  if (fs::exists(final_path, error)) {
    return absl::AlreadyExistsError(absl::StrCat("snapshot ", Quoted(name), " exists already"));
  }
  const std::string path = PathOf(absl::StrCat(".", name, ".new"));
  SnapshotDescription made{.name = name, .record = {}};
  const absl::Status status = [&]() -> absl::Status {
    VT_RETURN_IF_ERROR(RemoveTree(path));
    VT_RETURN_IF_ERROR(MakeFolder(path));
    made.record.created_unix_micros = absl::ToUnixMicros(absl::Now());
    VT_ASSIGN_OR_RETURN(made.record.tables, fill(path));
    VT_RETURN_IF_ERROR(
        WriteWholeFile(absl::StrCat(path, "/", kRecordFile), EncodeSnapshot(made.record)));
    VT_RETURN_IF_ERROR(SyncTree(path));
    return RenameDurably(path, final_path);
  }();
  if (!status.ok()) {
    IgnoreStatus(RemoveTree(path), "the next open removes it");
    return Annotate(status, absl::StrCat("snapshot ", Quoted(name)));
  }
  const TreeBytes bytes = MeasureTree(final_path);
  made.bytes = bytes.all;
  made.own_bytes = bytes.own;
  return made;
}

absl::StatusOr<std::vector<SnapshotDescription>> SnapshotFolder::ListLocked() const {
  std::vector<SnapshotDescription> all;
  for (const std::string& name : Names()) {
    absl::StatusOr<SnapshotRecord> record = ReadRecord(PathOf(name));
    if (!record.ok()) return Annotate(record.status(), absl::StrCat("snapshot ", Quoted(name)));
    const TreeBytes bytes = MeasureTree(PathOf(name));
    all.push_back({name, *std::move(record), bytes.all, bytes.own});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair(a.record.created_unix_micros, a.name) <
           std::pair(b.record.created_unix_micros, b.name);
  });
  return all;
}

absl::StatusOr<std::vector<SnapshotDescription>> SnapshotFolder::List() const {
  absl::MutexLock lock(&mu_);
  return ListLocked();
}

absl::StatusOr<uint64_t> SnapshotFolder::Delete(std::string_view name) {
  absl::MutexLock lock(&mu_);
  const std::vector<std::string> names = Names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    NearWords near(name);
    for (const std::string& other : names) near.Offer(other);
    return absl::NotFoundError(absl::StrCat("no snapshot ", Quoted(name), near.Hint()));
  }
  const std::string path = PathOf(name);
  const uint64_t own = MeasureTree(path).own;
  const std::string leaving = PathOf(absl::StrCat(".", std::string(name), ".gone"));
  VT_RETURN_IF_ERROR(RemoveTree(leaving));
  VT_RETURN_IF_ERROR(RenameDurably(path, leaving));
  IgnoreStatus(RemoveTree(leaving), "the next open removes the rest");
  return own;
}

std::vector<std::string> SnapshotFolder::Holding(const TableRecord& table) const {
  absl::MutexLock lock(&mu_);
  std::vector<std::string> holding;
  for (const std::string& name : Names()) {
    const absl::StatusOr<SnapshotRecord> record = ReadRecord(PathOf(name));
    if (!record.ok()) continue;
    const bool holds =
        std::any_of(record->tables.begin(), record->tables.end(), [&](const TableRecord& other) {
          return other.table_id == table.table_id &&
                 other.created_unix_micros == table.created_unix_micros;
        });
    if (holds) holding.push_back(name);
  }
  std::sort(holding.begin(), holding.end());
  return holding;
}

}  // namespace vectable
