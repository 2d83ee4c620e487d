#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "common/events.h"
#include "common/limits.h"
#include "engine/load_queue.h"
#include "engine/maintainer.h"
#include "engine/snapshot_folder.h"
#include "engine/store_keeper.h"
#include "engine/table.h"
#include "engine/types.h"
#include "index/batch_backend.h"
#include "storage/store.h"

namespace vectable {

// What a database is made of. `events` and `backend` must outlive it.
struct DatabaseParts {
  std::unique_ptr<Store> store;
  Limits limits;
  EventSink* events = nullptr;
  const BatchBackend* backend = nullptr;
  IndexOptions index;
  std::string snapshots = {};  // their folder; empty: there can be none
  // Called when a table begins (true) or ceases (false: dropped, renamed away, index lost) to
  // answer searches. Called from inner threads, to return soon; may be empty.
  std::function<void(const std::string& table, bool searchable)> on_searchable;
  // Called with each committed mutation of a table, in the table's order, from the thread that
  // commits: what a replicated log would carry. May be empty.
  std::function<void(const std::string& table, uint64_t sequence, const Mutation& mutation)>
      on_mutation;
};

// All tables of one data directory. Thread-safe.
class Database {
 public:
  struct RenameOutcome {
    TableDescription table;
    bool replaced = false;
  };
  struct DropOutcome {
    uint64_t rows = 0;                   // that the table held
    std::vector<std::string> snapshots;  // that hold the table, and so its disk
  };

  // Takes the store's tables in and starts to load their indexes in the background, small tables
  // first; doesn't wait for that. Errors are the store's.
  static absl::StatusOr<std::unique_ptr<Database>> Create(DatabaseParts parts);

  // Stops loading and writes what is in memory out. No call may be under way.
  ~Database();

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // INVALID_ARGUMENT (name, dimensions, dimension names), ALREADY_EXISTS, RESOURCE_EXHAUSTED (too
  // many tables).
  absl::StatusOr<TableDescription> CreateTable(const TableSpec& spec);

  // The table, which stays usable after a drop as long as it is held (writes then fail). NOT_FOUND
  // with near names.
  absl::StatusOr<std::shared_ptr<Table>> FindTable(std::string_view name) const;

  // All tables, by name.
  std::vector<TableDescription> ListTables() const;

  // Measures what all tables take. Errors are the store's.
  absl::StatusOr<DatabaseReport> Report() const;

  // Renames; with `replace` drops a table that has the new name in the same step. NOT_FOUND,
  // INVALID_ARGUMENT, ALREADY_EXISTS.
  absl::StatusOr<RenameOutcome> RenameTable(std::string_view name, std::string_view new_name,
                                            bool replace);

  // Drops the table. NOT_FOUND.
  absl::StatusOr<DropOutcome> DropTable(std::string_view name);

  // Makes a snapshot of all tables while writes and searches go on; an empty name stands for the
  // time. INVALID_ARGUMENT (name), ALREADY_EXISTS, RESOURCE_EXHAUSTED (full disk),
  // FAILED_PRECONDITION (there can be none).
  absl::StatusOr<SnapshotDescription> CreateSnapshot(const std::string& name);
  // All of them, oldest first.
  absl::StatusOr<std::vector<SnapshotDescription>> ListSnapshots() const;
  // Deletes one; the bytes that this gave back. NOT_FOUND.
  absl::StatusOr<uint64_t> DeleteSnapshot(std::string_view name);

  const Limits& limits() const { return parts_.limits; }

  // The device that proposes candidates: "cpu" or "gpu".
  std::string_view device() const { return parts_.backend->device(); }

 private:
  explicit Database(DatabaseParts parts);

  std::shared_ptr<Table> MakeTable(TableRecord record);
  std::vector<std::shared_ptr<Table>> Tables() const ABSL_LOCKS_EXCLUDED(mu_);
  void ReportSearchable(const std::string& name, bool searchable) const;
  // Opens the store again after a failure, and takes over what it has then.
  absl::Status RecoverStore() ABSL_LOCKS_EXCLUDED(catalogue_mu_, mu_);
  // The same, while no table is written to; `records` are those of `tables`, to be set right.
  absl::Status TakeOver(const std::vector<std::shared_ptr<Table>>& tables,
                        const std::vector<TableRecord*>& records);
  absl::Status CheckNewTable(const TableSpec& spec) const;
  absl::Status NoSuchTable(std::string_view name) const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  const DatabaseParts parts_;
  // Held through a create, rename, drop or snapshot.
  absl::Mutex catalogue_mu_ ABSL_ACQUIRED_BEFORE(mu_);
  absl::Mutex publishing_ ABSL_ACQUIRED_AFTER(catalogue_mu_);
  std::unique_ptr<SnapshotFolder> snapshots_;  // null: there can be none
  mutable absl::Mutex mu_;                     // held for a look-up only
  std::map<std::string, std::shared_ptr<Table>, std::less<>> tables_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<LoadQueue> loads_;
  std::unique_ptr<Maintainer> maintainer_;
  std::unique_ptr<StoreKeeper> keeper_;
};

}  // namespace vectable
