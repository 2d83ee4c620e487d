#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "storage/rocks_store.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace vectable {

// A row as the tests write it down.
struct Row {
  uint64_t row_id;
  std::string word;
  std::string codes;

  friend bool operator==(const Row&, const Row&) = default;
};

inline void PrintTo(const Row& row, std::ostream* out) {
  *out << row.row_id << ':' << row.word << ':' << row.codes.substr(0, 20);
}

inline TableRecord NewTable(const std::string& name) {
  TableRecord record;
  record.name = name;
  record.dimensions = 2;
  return record;
}

// The commit of these rows, which must outlive it.
inline Commit MakeCommit(uint64_t sequence, RowChange::Kind kind, const std::vector<Row>& rows) {
  Commit commit{sequence, kind, {}};
  for (const Row& row : rows) commit.changes.push_back({row.row_id, row.word, row.codes});
  return commit;
}

// Writes one commit that puts new rows, and moves the record on.
inline absl::Status PutRows(Store& store, TableRecord& record, const std::vector<Row>& rows,
                            uint64_t trim = 0) {
  TableRecord after = record;
  after.rows += rows.size();
  for (const Row& row : rows) after.next_row_id = std::max(after.next_row_id, row.row_id + 1);
  const std::vector<Commit> commits = {
      MakeCommit(++after.applied_sequence, RowChange::Kind::kPut, rows)};
  absl::Status status = store.Write(after, commits, trim);
  if (status.ok()) record = after;
  return status;
}

// Writes one commit that erases these rows, and moves the record on.
inline absl::Status EraseRows(Store& store, TableRecord& record, const std::vector<Row>& rows) {
  TableRecord after = record;
  after.rows -= rows.size();
  const std::vector<Commit> commits = {
      MakeCommit(++after.applied_sequence, RowChange::Kind::kErase, rows)};
  absl::Status status = store.Write(after, commits, 0);
  if (status.ok()) record = after;
  return status;
}

// What is left of a cursor, or the error that ended it.
inline absl::StatusOr<std::vector<Row>> Drain(absl::StatusOr<std::unique_ptr<RowCursor>> cursor) {
  if (!cursor.ok()) return cursor.status();
  std::vector<Row> rows;
  for (;;) {
    const absl::StatusOr<bool> more = (*cursor)->Next();
    if (!more.ok()) return more.status();
    if (!*more) return rows;
    const RowView row = (*cursor)->row();
    rows.push_back({row.row_id, std::string(row.word), std::string(row.codes)});
  }
}

inline std::vector<Row> AllRows(const Store& store, uint32_t table_id) {
  absl::StatusOr<std::vector<Row>> rows = Drain(store.ScanRows(table_id, 0, std::nullopt));
  EXPECT_THAT(rows, IsOk());
  return rows.ok() ? *rows : std::vector<Row>();
}

// A store on a real directory that can be closed and opened again.
class StoreTest : public testing::Test {
 protected:
  StoreTest() { options_.directory = temp_.path() + "/data"; }
  void SetUp() override { Open(); }

  void Open() {
    auto opened = OpenRocksStore(options_);
    ASSERT_THAT(opened, IsOk());
    store_ = *std::move(opened);
  }
  void Close() { store_.reset(); }
  void Reopen() {
    Close();
    Open();
  }
  // What opening again says.
  absl::Status TryReopen() {
    Close();
    return OpenRocksStore(options_).status();
  }

  Store& store() { return *store_; }
  std::string rocks_path() const { return options_.directory + "/store"; }
  const std::string& temp_path() const { return temp_.path(); }

  TableRecord Create(const std::string& name) {
    const auto created = store().CreateTable(NewTable(name));
    EXPECT_THAT(created, IsOk());
    return created.ok() ? *created : TableRecord();
  }

  std::vector<TableRecord> Tables() {
    const auto tables = store().Tables();
    EXPECT_THAT(tables, IsOk());
    return tables.ok() ? *tables : std::vector<TableRecord>();
  }

  RocksStoreOptions options_;

 private:
  const TempDir temp_;
  std::unique_ptr<Store> store_;
};

}  // namespace vectable
