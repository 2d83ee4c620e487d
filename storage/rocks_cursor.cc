#include "storage/rocks_cursor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "storage/key_format.h"
#include "storage/rocks_status.h"

namespace vectable {
namespace {

class RowIdCursor final : public RocksCursor {
 public:
  RowIdCursor(std::unique_ptr<CursorView> view, OpenCursors& open, uint64_t begin,
              std::optional<uint64_t> end)
      : RocksCursor(view->record, open),
        view_(std::move(view)),
        first_(RowKey(begin)),
        last_(end ? RowKey(*end) : std::string()) {
    rocksdb::ReadOptions read = view_->Read();
    bound_ = last_;
    if (end) read.iterate_upper_bound = &bound_;
    read.readahead_size = 1 << 20;
    read.fill_cache = false;
    iterator_.reset(view_->db.NewIterator(read, view_->families->rows()));
  }
  ~RowIdCursor() override { End(); }

 protected:
  absl::StatusOr<bool> Step(StoredRow& row) override {
    for (Move(); iterator_->Valid(); iterator_->Next()) {
      VT_ASSIGN_OR_RETURN(row.row_id, DecodeRowKey(iterator_->key().ToStringView()));
      absl::StatusOr<DecodedRow> decoded = DecodeRow(iterator_->value().ToStringView());
      if (!decoded.ok()) return Annotate(decoded.status(), absl::StrCat("row id ", row.row_id));
      if (decoded->deleted) continue;
      row.word.assign(decoded->word);
      row.codes.assign(decoded->codes);
      return true;
    }
    VT_RETURN_IF_ERROR(FromRocks(iterator_->status(), "reading rows"));
    return false;
  }

  void Release() override {
    iterator_.reset();
    view_.reset();
  }

 private:
  void Move() {
    if (started_) {
      iterator_->Next();
    } else {
      iterator_->Seek(first_);
      started_ = true;
    }
  }

  std::unique_ptr<CursorView> view_;
  const std::string first_;
  const std::string last_;
  rocksdb::Slice bound_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
  bool started_ = false;
};

class WordCursor final : public RocksCursor {
 public:
  WordCursor(std::unique_ptr<CursorView> view, OpenCursors& open, std::string prefix,
             std::optional<std::string> after, bool with_codes)
      : RocksCursor(view->record, open),
        view_(std::move(view)),
        prefix_(std::move(prefix)),
        after_(std::move(after)),
        with_codes_(with_codes),
        iterator_(view_->db.NewIterator(view_->Read(), view_->families->words())) {}
  ~WordCursor() override { End(); }

 protected:
  absl::StatusOr<bool> Step(StoredRow& row) override {
    Move();
    if (!iterator_->Valid()) {
      VT_RETURN_IF_ERROR(FromRocks(iterator_->status(), "reading words"));
      return false;
    }
    const std::string_view word = iterator_->key().ToStringView();
    if (!word.starts_with(prefix_)) return false;
    VT_ASSIGN_OR_RETURN(row.row_id, DecodeWordValue(iterator_->value().ToStringView()));
    row.word.assign(word);
    if (with_codes_) VT_RETURN_IF_ERROR(ReadCodes(row));
    return true;
  }

  void Release() override {
    iterator_.reset();
    view_.reset();
  }

 private:
  void Move() {
    if (started_) {
      iterator_->Next();
      return;
    }
    started_ = true;
    const bool resume = after_.has_value() && *after_ >= prefix_;
    iterator_->Seek(resume ? *after_ : prefix_);
    if (resume && iterator_->Valid() && iterator_->key() == *after_) iterator_->Next();
  }

  absl::Status ReadCodes(StoredRow& row) {
    rocksdb::PinnableSlice value;
    VT_RETURN_IF_ERROR(
        FromRocks(view_->db.Get(view_->Read(), view_->families->rows(), RowKey(row.row_id), &value),
                  absl::StrCat("reading the row of word ", Quoted(row.word))));
    VT_ASSIGN_OR_RETURN(const DecodedRow decoded, DecodeRow(value.ToStringView()));
    row.codes.assign(decoded.codes);
    return absl::OkStatus();
  }

  std::unique_ptr<CursorView> view_;
  const std::string prefix_;
  const std::optional<std::string> after_;
  const bool with_codes_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
  bool started_ = false;
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

void OpenCursors::BreakAll() {
  absl::MutexLock lock(&mu_);
  for (RocksCursor* const cursor : cursors_) cursor->Break();
}

RocksCursor::RocksCursor(TableRecord record, OpenCursors& open)
    : record_(std::move(record)), open_(open) {
  absl::MutexLock lock(&open_.mu_);
  open_.cursors_.insert(this);
}

RocksCursor::~RocksCursor() = default;

void RocksCursor::End() {
  // Under the lock that BreakAll takes: the database mustn't be closed in the middle.
  absl::MutexLock lock(&open_.mu_);
  open_.cursors_.erase(this);
  Release();
}

void RocksCursor::Break() {
  absl::MutexLock lock(&mu_);
  broken_ = true;
  Release();
}

absl::StatusOr<bool> RocksCursor::Next() {
  absl::MutexLock lock(&mu_);
  if (broken_) {
    return absl::UnavailableError("the store was opened again meanwhile; begin the scan anew");
  }
  return Step(row_);
}

std::unique_ptr<RowCursor> MakeRowIdCursor(std::unique_ptr<CursorView> view, OpenCursors& open,
                                           uint64_t begin, std::optional<uint64_t> end) {
  return std::make_unique<RowIdCursor>(std::move(view), open, begin, end);
}

std::unique_ptr<RowCursor> MakeWordCursor(std::unique_ptr<CursorView> view, OpenCursors& open,
                                          std::string prefix, std::optional<std::string> after,
                                          bool with_codes) {
  return std::make_unique<WordCursor>(std::move(view), open, std::move(prefix), std::move(after),
                                      with_codes);
}

}  // namespace vectable
