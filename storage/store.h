#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/table_record.h"
#include "storage/usage.h"

namespace vectable {

// One row as stored, owned.
struct StoredRow {
  uint64_t row_id = 0;
  std::string word;
  std::string codes;  // the vector at the table's precision
};

// A row as a cursor sees it; valid until the cursor moves.
struct RowView {
  uint64_t row_id = 0;
  std::string_view word;
  std::string_view codes;
};

// What became of a row id.
enum class RowIdState { kUnused, kLive, kDeleted };

// The effect of a mutation on one row. The memory behind the views must outlive the commit.
struct RowChange {
  enum class Kind : uint8_t { kPut = 1, kErase = 2 };

  uint64_t row_id = 0;
  std::string_view word;
  std::string_view codes;  // kPut only
  bool fresh = false;      // kPut only: no row ever had this id
};

// One mutation's effect, with its place in the table's order. All changes are of one kind.
struct Commit {
  uint64_t sequence = 0;
  RowChange::Kind kind = RowChange::Kind::kPut;
  std::vector<RowChange> changes;
};

// What `log` keeps of a mutation: which rows it put or erased.
struct LogEntry {
  uint64_t sequence = 0;
  RowChange::Kind kind = RowChange::Kind::kPut;
  std::vector<uint64_t> row_ids;
};

// Walks rows in one order, on a consistent view made when the cursor was. Not thread-safe.
class RowCursor {
 public:
  virtual ~RowCursor() = default;

  // Moves to the next row, the first at the first call; false at the end.
  virtual absl::StatusOr<bool> Next() = 0;

  // The row moved to.
  virtual RowView row() const = 0;

  // The catalogue row of the table in the same view.
  virtual const TableRecord& table() const = 0;
};

// The durable truth: tables, rows and the log of mutations. Thread-safe; commits of one table must
// come one at a time. Unknown table ids are NOT_FOUND everywhere. Damage is DATA_LOSS, a full disk
// RESOURCE_EXHAUSTED, other trouble of the disk INTERNAL. On a disk that is nearly full, what makes
// the data grow is refused, and deletes and drops go on. After a write that the disk failed, all
// writes fail until Recover (with UNAVAILABLE where it was damage that a compaction met); reads go
// on.
class Store {
 public:
  virtual ~Store() = default;

  // All tables, by id.
  virtual absl::StatusOr<std::vector<TableRecord>> Tables() const = 0;

  // Adds an empty table and returns it with its id. Durable on return.
  virtual absl::StatusOr<TableRecord> CreateTable(TableRecord record) = 0;

  // Replaces the catalogue row (a new name) and, in the same step, drops table `replaced` if given.
  // Durable on return.
  virtual absl::Status RenameTable(const TableRecord& record, std::optional<uint32_t> replaced) = 0;

  // Removes a table, its rows, its log, and gives back their disk.
  virtual absl::Status DropTable(uint32_t table_id) = 0;

  // Writes the commits, in order, and the catalogue row as it is after them, all or nothing; synced
  // when the store is. Log entries up to and including `trim_log_through` are removed in the same
  // batch.
  virtual absl::Status Write(const TableRecord& after, std::span<const Commit> commits,
                             uint64_t trim_log_through) = 0;

  // The row id of each word, or nothing.
  virtual absl::StatusOr<std::vector<std::optional<uint64_t>>> FindWords(
      uint32_t table_id, std::span<const std::string_view> words) const = 0;

  // What became of each row id.
  virtual absl::StatusOr<std::vector<RowIdState>> FindRowIds(
      uint32_t table_id, std::span<const uint64_t> row_ids) const = 0;

  // The rows of these words or ids, each or nothing, all from one moment.
  virtual absl::StatusOr<std::vector<std::optional<StoredRow>>> GetByWords(
      uint32_t table_id, std::span<const std::string_view> words) const = 0;
  virtual absl::StatusOr<std::vector<std::optional<StoredRow>>> GetByRowIds(
      uint32_t table_id, std::span<const uint64_t> row_ids) const = 0;

  // Rows with an id in [begin, end), by id; no `end` means all. The cursor must end before the
  // store does.
  virtual absl::StatusOr<std::unique_ptr<RowCursor>> ScanRows(
      uint32_t table_id, uint64_t begin, std::optional<uint64_t> end) const = 0;

  // Rows whose word starts with `prefix` and sorts after `after` (if given), by the bytes of the
  // word. Without `with_codes` the rows' codes are empty, which saves reading them.
  virtual absl::StatusOr<std::unique_ptr<RowCursor>> ScanWords(
      uint32_t table_id, std::string_view prefix, std::optional<std::string_view> after,
      bool with_codes) const = 0;

  // Up to `max` log entries with a sequence above `after`, by sequence.
  virtual absl::StatusOr<std::vector<LogEntry>> ReadLog(uint32_t table_id, uint64_t after,
                                                        size_t max) const = 0;

  // What the tables and the store itself take, on disk and in memory, now. Reads the directory.
  virtual absl::StatusOr<StoreUsage> Usage() const = 0;

  // Whether `bytes` more can be written beside the store, without touching what is kept free for
  // its own needs. RESOURCE_EXHAUSTED.
  virtual absl::Status CheckRoom(uint64_t bytes) = 0;

  // Makes a copy of the store as it is at one moment, in the new folder `path` on the same disk;
  // data files are hard links. Returns the catalogue of that moment. Every write that was
  // acknowledged before the call is in it. The folder is of use to OpenRocksStore as
  // DIRECTORY/store.
  virtual absl::StatusOr<std::vector<TableRecord>> Checkpoint(const std::string& path) = 0;

  // Rewrites the table's files without what is dead: gives back what usage calls reclaimable.
  virtual absl::Status Compact(uint32_t table_id) = 0;

  // Writes what is in memory out to table files, so that the next open has no log to replay.
  virtual absl::Status Flush() = 0;

  // Whether a write failed, so that Recover is needed. Cheap.
  virtual bool failed() const = 0;

  // Opens the store again, from what the disk has, after a write failed; cursors end with
  // UNAVAILABLE. What was not acknowledged may be there afterwards, whole, or not: whoever keeps a
  // TableRecord reads it anew. Where the disk takes no writes yet nothing happens, and the error is
  // given; where the store can't be opened, all calls fail till another Recover.
  virtual absl::Status Recover() = 0;
};

}  // namespace vectable
