#include "storage/rocks_cursor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "storage/key_format.h"
#include "storage/rocks_status.h"

namespace vectable {
namespace {

class RowIdCursor final : public RowCursor {
 public:
  RowIdCursor(std::unique_ptr<CursorView> view, uint64_t begin, std::optional<uint64_t> end)
      : view_(std::move(view)), first_(RowKey(begin)), last_(end ? RowKey(*end) : std::string()) {
    rocksdb::ReadOptions read = view_->Read();
    bound_ = last_;
    if (end) read.iterate_upper_bound = &bound_;
    read.readahead_size = 1 << 20;
    read.fill_cache = false;
    iterator_.reset(view_->db.NewIterator(read, view_->families->rows()));
  }

  absl::StatusOr<bool> Next() override {
    for (Step(); iterator_->Valid(); iterator_->Next()) {
      VT_ASSIGN_OR_RETURN(row_.row_id, DecodeRowKey(iterator_->key().ToStringView()));
      absl::StatusOr<DecodedRow> row = DecodeRow(iterator_->value().ToStringView());
      if (!row.ok()) return Annotate(row.status(), absl::StrCat("row id ", row_.row_id));
      if (row->deleted) continue;
      row_.word = row->word;
      row_.codes = row->codes;
      return true;
    }
    VT_RETURN_IF_ERROR(FromRocks(iterator_->status(), "reading rows"));
    return false;
  }

  RowView row() const override { return row_; }
  const TableRecord& table() const override { return view_->record; }

 private:
  void Step() {
    if (started_) {
      iterator_->Next();
    } else {
      iterator_->Seek(first_);
      started_ = true;
    }
  }

  const std::unique_ptr<CursorView> view_;
  const std::string first_;
  const std::string last_;
  rocksdb::Slice bound_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
  bool started_ = false;
  RowView row_;
};

class WordCursor final : public RowCursor {
 public:
  WordCursor(std::unique_ptr<CursorView> view, std::string prefix, std::optional<std::string> after,
             bool with_codes)
      : view_(std::move(view)),
        prefix_(std::move(prefix)),
        after_(std::move(after)),
        with_codes_(with_codes),
        iterator_(view_->db.NewIterator(view_->Read(), view_->families->words())) {}

  absl::StatusOr<bool> Next() override {
    Step();
    if (!iterator_->Valid()) {
      VT_RETURN_IF_ERROR(FromRocks(iterator_->status(), "reading words"));
      return false;
    }
    const std::string_view word = iterator_->key().ToStringView();
    if (!word.starts_with(prefix_)) return false;
    VT_ASSIGN_OR_RETURN(row_.row_id, DecodeWordValue(iterator_->value().ToStringView()));
    row_.word = word;
    if (with_codes_) VT_RETURN_IF_ERROR(ReadCodes());
    return true;
  }

  RowView row() const override { return row_; }
  const TableRecord& table() const override { return view_->record; }

 private:
  void Step() {
    if (started_) {
      iterator_->Next();
      return;
    }
    started_ = true;
    const bool resume = after_.has_value() && *after_ >= prefix_;
    iterator_->Seek(resume ? *after_ : prefix_);
    if (resume && iterator_->Valid() && iterator_->key() == *after_) iterator_->Next();
  }

  absl::Status ReadCodes() {
    value_.Reset();
    VT_RETURN_IF_ERROR(FromRocks(
        view_->db.Get(view_->Read(), view_->families->rows(), RowKey(row_.row_id), &value_),
        absl::StrCat("reading the row of word ", Quoted(row_.word))));
    VT_ASSIGN_OR_RETURN(const DecodedRow row, DecodeRow(value_.ToStringView()));
    row_.codes = row.codes;
    return absl::OkStatus();
  }

  const std::unique_ptr<CursorView> view_;
  const std::string prefix_;
  const std::optional<std::string> after_;
  const bool with_codes_;
  const std::unique_ptr<rocksdb::Iterator> iterator_;
  rocksdb::PinnableSlice value_;
  bool started_ = false;
  RowView row_;
};

}  // namespace

CursorView::CursorView(rocksdb::DB& database, std::shared_ptr<TableFamilies> table_families)
    : db(database), families(std::move(table_families)), snapshot(database.GetSnapshot()) {}

CursorView::~CursorView() { db.ReleaseSnapshot(snapshot); }

rocksdb::ReadOptions CursorView::Read() const {
  rocksdb::ReadOptions read;
  read.snapshot = snapshot;
  return read;
}

std::unique_ptr<RowCursor> MakeRowIdCursor(std::unique_ptr<CursorView> view, uint64_t begin,
                                           std::optional<uint64_t> end) {
  return std::make_unique<RowIdCursor>(std::move(view), begin, end);
}

std::unique_ptr<RowCursor> MakeWordCursor(std::unique_ptr<CursorView> view, std::string prefix,
                                          std::optional<std::string> after, bool with_codes) {
  return std::make_unique<WordCursor>(std::move(view), std::move(prefix), std::move(after),
                                      with_codes);
}

}  // namespace vectable
