#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "rocksdb/db.h"
#include "storage/rocks_families.h"
#include "storage/store.h"

namespace vectable {

// What both cursors share: a snapshot, and the families kept alive as long as it is.
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

// Rows with an id in [begin, end), by id.
std::unique_ptr<RowCursor> MakeRowIdCursor(std::unique_ptr<CursorView> view, uint64_t begin,
                                           std::optional<uint64_t> end);

// Rows whose word starts with `prefix` and sorts after `after`, by word.
std::unique_ptr<RowCursor> MakeWordCursor(std::unique_ptr<CursorView> view, std::string prefix,
                                          std::optional<std::string> after, bool with_codes);

}  // namespace vectable
