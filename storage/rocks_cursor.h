#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/db.h"
#include "storage/rocks_families.h"
#include "storage/store.h"

namespace vectable {

// A consistent view: a snapshot, and the families kept alive as long as it is.
struct CursorView {
  CursorView(rocksdb::DB& database, std::shared_ptr<TableFamilies> table_families);
  ~CursorView();
  CursorView(const CursorView&) = delete;
  CursorView& operator=(const CursorView&) = delete;

  rocksdb::ReadOptions Read() const;

  rocksdb::DB& db;
  const std::shared_ptr<TableFamilies> families;
  const rocksdb::Snapshot* const snapshot;
  TableRecord record;
};

class RocksCursor;

// The cursors that are open, so that their database can be closed under them. Thread-safe; outlives
// them.
class OpenCursors {
 public:
  // They give UNAVAILABLE from now on, and hold nothing of the database any more.
  void BreakAll() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  friend class RocksCursor;
  absl::Mutex mu_;
  std::set<RocksCursor*> cursors_ ABSL_GUARDED_BY(mu_);
};

// What cursors have in common: a row of their own memory, and that they can be broken.
class RocksCursor : public RowCursor {
 public:
  ~RocksCursor() override;
  RocksCursor(const RocksCursor&) = delete;
  RocksCursor& operator=(const RocksCursor&) = delete;

  absl::StatusOr<bool> Next() final ABSL_LOCKS_EXCLUDED(mu_);
  RowView row() const final { return {row_.row_id, row_.word, row_.codes}; }
  const TableRecord& table() const final { return record_; }

 protected:
  RocksCursor(TableRecord record, OpenCursors& open);

  // To be called by the most derived destructor first: lets everything go, and can't be broken any
  // more.
  void End();

  // Moves on and fills the row, under the cursor's lock.
  virtual absl::StatusOr<bool> Step(StoredRow& row) = 0;
  // Lets everything of the database go.
  virtual void Release() = 0;

 private:
  friend class OpenCursors;
  void Break() ABSL_LOCKS_EXCLUDED(mu_);

  const TableRecord record_;
  OpenCursors& open_;
  StoredRow row_;
  absl::Mutex mu_;
  bool broken_ ABSL_GUARDED_BY(mu_) = false;
};

// Rows with an id in [begin, end), by id.
std::unique_ptr<RowCursor> MakeRowIdCursor(std::unique_ptr<CursorView> view, OpenCursors& open,
                                           uint64_t begin, std::optional<uint64_t> end);

// Rows whose word starts with `prefix` and sorts after `after`, by word.
std::unique_ptr<RowCursor> MakeWordCursor(std::unique_ptr<CursorView> view, OpenCursors& open,
                                          std::string prefix, std::optional<std::string> after,
                                          bool with_codes);

}  // namespace vectable
