#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "storage/store.h"

namespace vectable {

// A store whose writes can be made to fail and whose scans can be slowed down.
class FaultyStore final : public Store {
 public:
  struct Faults {
    std::atomic<bool> fail_writes{false};
    std::atomic<bool> fail_gets{false};
    std::atomic<bool> fail_scans{false};
    // Of ScanRows, and when a table's rows are gone; set before the store is used.
    std::function<void()> before_each_row;
    std::function<void()> after_drop;
  };

  FaultyStore(std::unique_ptr<Store> store, Faults& faults)
      : store_(std::move(store)), faults_(faults) {}

  absl::StatusOr<std::vector<TableRecord>> Tables() const override { return store_->Tables(); }
  absl::StatusOr<TableRecord> CreateTable(TableRecord record) override {
    if (faults_.fail_writes) return Failure();
    return store_->CreateTable(std::move(record));
  }
  absl::Status RenameTable(const TableRecord& record, std::optional<uint32_t> replaced) override {
    if (faults_.fail_writes) return Failure();
    return store_->RenameTable(record, replaced);
  }
  absl::Status DropTable(uint32_t table_id) override {
    if (faults_.fail_writes) return Failure();
    const absl::Status status = store_->DropTable(table_id);
    if (faults_.after_drop) faults_.after_drop();
    return status;
  }
  absl::Status Write(const TableRecord& after, std::span<const Commit> commits,
                     uint64_t trim) override {
    if (faults_.fail_writes) return Failure();
    return store_->Write(after, commits, trim);
  }
  absl::StatusOr<std::vector<std::optional<uint64_t>>> FindWords(
      uint32_t table_id, std::span<const std::string_view> words) const override {
    return store_->FindWords(table_id, words);
  }
  absl::StatusOr<std::vector<RowIdState>> FindRowIds(
      uint32_t table_id, std::span<const uint64_t> row_ids) const override {
    return store_->FindRowIds(table_id, row_ids);
  }
  absl::StatusOr<std::vector<std::optional<StoredRow>>> GetByWords(
      uint32_t table_id, std::span<const std::string_view> words) const override {
    if (faults_.fail_gets) return Failure();
    return store_->GetByWords(table_id, words);
  }
  absl::StatusOr<std::vector<std::optional<StoredRow>>> GetByRowIds(
      uint32_t table_id, std::span<const uint64_t> row_ids) const override {
    if (faults_.fail_gets) return Failure();
    return store_->GetByRowIds(table_id, row_ids);
  }
  absl::StatusOr<std::unique_ptr<RowCursor>> ScanRows(uint32_t table_id, uint64_t begin,
                                                      std::optional<uint64_t> end) const override {
    if (faults_.fail_scans) return Failure();
    auto cursor = store_->ScanRows(table_id, begin, end);
    if (!cursor.ok() || !faults_.before_each_row) return cursor;
    return std::make_unique<SlowCursor>(*std::move(cursor), faults_.before_each_row);
  }
  absl::StatusOr<std::unique_ptr<RowCursor>> ScanWords(uint32_t table_id, std::string_view prefix,
                                                       std::optional<std::string_view> after,
                                                       bool with_codes) const override {
    return store_->ScanWords(table_id, prefix, after, with_codes);
  }
  absl::StatusOr<std::vector<LogEntry>> ReadLog(uint32_t table_id, uint64_t after,
                                                size_t max) const override {
    return store_->ReadLog(table_id, after, max);
  }
  absl::StatusOr<StoreUsage> Usage() const override { return store_->Usage(); }
  absl::StatusOr<std::vector<TableRecord>> Checkpoint(const std::string& path) override {
    if (faults_.fail_writes) return Failure();
    return store_->Checkpoint(path);
  }
  absl::Status CheckRoom(uint64_t bytes) override { return store_->CheckRoom(bytes); }
  absl::Status Compact(uint32_t table_id) override { return store_->Compact(table_id); }
  absl::Status Flush() override { return store_->Flush(); }
  bool failed() const override { return store_->failed(); }
  absl::Status Recover() override { return store_->Recover(); }

 private:
  class SlowCursor final : public RowCursor {
   public:
    SlowCursor(std::unique_ptr<RowCursor> cursor, const std::function<void()>& before)
        : cursor_(std::move(cursor)), before_(before) {}
    absl::StatusOr<bool> Next() override {
      before_();
      return cursor_->Next();
    }
    RowView row() const override { return cursor_->row(); }
    const TableRecord& table() const override { return cursor_->table(); }

   private:
    const std::unique_ptr<RowCursor> cursor_;
    const std::function<void()>& before_;
  };

  static absl::Status Failure() { return absl::InternalError("injected fault"); }

  const std::unique_ptr<Store> store_;
  Faults& faults_;
};

}  // namespace vectable
