#include "client/formats/matrix_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/limits.h"
#include "common/status_util.h"
#include "sizing/checked.h"

namespace vectable {
namespace {

constexpr uint64_t kMatrixBlockBytes = uint64_t{1} << 20;

// Takes rows one by one out of blocks that a subclass reads.
class BlockRows : public MatrixRows {
 public:
  explicit BlockRows(const MatrixLayout& layout)
      : layout_(layout),
        row_bytes_(layout.dimensions * layout.type.bytes()),
        block_rows_(std::max<uint64_t>(1, kMatrixBlockBytes / row_bytes_)) {}

  absl::StatusOr<bool> Next(std::span<float> row) final {
    if (at_ == block_.size()) {
      block_.clear();
      at_ = 0;
      uint64_t wanted = block_rows_;
      if (layout_.rows) wanted = std::min(wanted, *layout_.rows - begun_);
      if (absl::Status bad = Read(begun_, wanted, block_); !bad.ok()) {
        block_.clear();
        return bad;
      }
      begun_ += block_.size() / row_bytes_;
      if (block_.empty()) return false;
    }
    const std::string_view bytes = std::string_view(block_).substr(at_, row_bytes_);
    at_ += row_bytes_;
    VT_RETURN_IF_ERROR(DecodeElements(layout_.type, bytes, row));
    return true;
  }

 protected:
  // Fills `block` with the bytes of rows from `first` on, `rows` of them; fewer, or none, only at
  // the end of a matrix of unknown length. `rows` is 0 behind the last one.
  virtual absl::Status Read(uint64_t first, uint64_t rows, std::string& block) = 0;

  const MatrixLayout& layout() const { return layout_; }
  uint64_t row_bytes() const { return row_bytes_; }

 private:
  const MatrixLayout layout_;
  const uint64_t row_bytes_;
  const uint64_t block_rows_;
  std::string block_;
  size_t at_ = 0;
  uint64_t begun_ = 0;  // rows of the blocks read so far
};

class StreamRows final : public BlockRows {
 public:
  StreamRows(std::unique_ptr<ByteSource> bytes, const MatrixLayout& layout)
      : BlockRows(layout), bytes_(std::move(bytes)) {}

  uint64_t bytes_read() const override { return bytes_->bytes_read(); }
  std::optional<uint64_t> total_bytes() const override { return bytes_->total_bytes(); }

 private:
  absl::Status Read(uint64_t first, uint64_t rows, std::string& block) override {
    VT_RETURN_IF_ERROR(held_);
    if (rows == 0) return CheckEnd();
    const uint64_t begin = bytes_->offset();
    block.resize(rows * row_bytes());
    const absl::StatusOr<size_t> got = bytes_->ReadFull(block);
    if (!got.ok()) return AtByte(got.status());
    // Whole rows are given out before the fault behind them is.
    const uint64_t whole = *got / row_bytes();
    const uint64_t rest = *got % row_bytes();
    if (*got < block.size()) {
      if (absl::Status bad = bytes_->CheckEnds(); !bad.ok()) held_ = AtByte(bad);
    }
    if (held_.ok() && (rest != 0 || (layout().rows && whole < rows))) {
      held_ = absl::DataLossError(
          layout().rows
              ? fmt::format("byte {}: the file ends too early (expected {} rows, found {}{})",
                            begin + *got, *layout().rows, first + whole,
                            rest > 0 ? fmt::format(" and {} bytes", rest) : "")
              : fmt::format("byte {}: the file ends within a row (expected {} bytes, found {})",
                            begin + *got, row_bytes(), rest));
    }
    if (whole == 0) VT_RETURN_IF_ERROR(held_);
    block.resize(whole * row_bytes());
    return absl::OkStatus();
  }

  absl::Status AtByte(const absl::Status& bad) const {
    return Annotate(bad, fmt::format("byte {}", bytes_->offset()));
  }

  absl::Status CheckEnd() {
    char more = 0;
    const absl::StatusOr<size_t> got = bytes_->ReadSome({&more, 1});
    if (!got.ok()) return got.status();
    if (*got == 0) return absl::OkStatus();
    return absl::DataLossError(
        fmt::format("byte {}: the file goes on behind its last row (expected {} rows, found more)",
                    bytes_->offset() - 1, *layout().rows));
  }

  const std::unique_ptr<ByteSource> bytes_;
  absl::Status held_;  // met behind rows that are given out first
};

class FileRows final : public BlockRows {
 public:
  FileRows(std::unique_ptr<PartialFile> file, const MatrixLayout& layout)
      : BlockRows(layout), file_(std::move(file)) {}

  uint64_t bytes_read() const override { return read_; }
  std::optional<uint64_t> total_bytes() const override { return *layout().rows * row_bytes(); }

 private:
  absl::Status Read(uint64_t first, uint64_t rows, std::string& block) override {
    VT_ASSIGN_OR_RETURN(block,
                        file_->Read(layout().offset + first * row_bytes(), rows * row_bytes()));
    read_ += block.size();
    return absl::OkStatus();
  }

  const std::unique_ptr<PartialFile> file_;
  uint64_t read_ = 0;
};

class ColumnRows final : public BlockRows {
 public:
  ColumnRows(std::unique_ptr<PartialFile> file, const MatrixLayout& layout)
      : BlockRows(layout), file_(std::move(file)) {}

  uint64_t bytes_read() const override { return read_; }
  std::optional<uint64_t> total_bytes() const override { return *layout().rows * row_bytes(); }

 private:
  absl::Status Read(uint64_t first, uint64_t rows, std::string& block) override {
    const size_t size = layout().type.bytes();
    block.resize(rows * row_bytes());
    for (uint64_t column = 0; column < layout().dimensions; ++column) {
      const uint64_t begin = layout().offset + (column * *layout().rows + first) * size;
      VT_ASSIGN_OR_RETURN(const std::string part, file_->Read(begin, rows * size));
      for (uint64_t row = 0; row < rows; ++row) {
        block.replace(row * row_bytes() + column * size, size, part, row * size, size);
      }
    }
    read_ += block.size();
    return absl::OkStatus();
  }

  const std::unique_ptr<PartialFile> file_;
  uint64_t read_ = 0;
};

}  // namespace

std::unique_ptr<MatrixRows> StreamedRows(std::unique_ptr<ByteSource> bytes,
                                         const MatrixLayout& layout) {
  return std::make_unique<StreamRows>(std::move(bytes), layout);
}

std::unique_ptr<MatrixRows> RowsInFile(std::unique_ptr<PartialFile> file,
                                       const MatrixLayout& layout) {
  return std::make_unique<FileRows>(std::move(file), layout);
}

std::unique_ptr<MatrixRows> ColumnsInFile(std::unique_ptr<PartialFile> file,
                                          const MatrixLayout& layout) {
  return std::make_unique<ColumnRows>(std::move(file), layout);
}

absl::Status CheckLayout(const MatrixLayout& layout) {
  if (layout.dimensions == 0 || layout.dimensions > kMaxDimensions) {
    return absl::InvalidArgumentError(
        fmt::format("bad number of dimensions in the header (expected 1 to {}, found {})",
                    kMaxDimensions, layout.dimensions));
  }
  if (!layout.rows) return absl::OkStatus();
  if (*layout.rows == 0) return absl::InvalidArgumentError("the file holds no rows");
  return (Checked(layout.dimensions) * layout.type.bytes() * *layout.rows + layout.offset)
      .Value("the bytes that the header promises")
      .status();
}

absl::Status CheckFileSize(const MatrixLayout& layout, uint64_t file_bytes) {
  const uint64_t expected = layout.offset + *layout.rows * layout.dimensions * layout.type.bytes();
  if (expected == file_bytes) return absl::OkStatus();
  return absl::DataLossError(
      fmt::format("the header promises {} rows of {} values, {} bytes in all, but the file has {} "
                  "(expected {}, found {})",
                  *layout.rows, layout.dimensions, expected, file_bytes, expected, file_bytes));
}

absl::StatusOr<std::unique_ptr<VectorReader>> MatrixReader::Create(
    std::string name, std::string format, const MatrixLayout& layout,
    std::unique_ptr<MatrixRows> rows, std::unique_ptr<WordList> words) {
  if (layout.rows && words->size() && *words->size() != *layout.rows &&
      !(words->may_be_short() && *words->size() < *layout.rows)) {
    return absl::FailedPreconditionError(fmt::format(
        "{}: holds {} rows, but there are {} {} (expected {}, found {})", name, *layout.rows,
        *words->size(), words->Description(), *layout.rows, *words->size()));
  }
  const std::string rows_text = layout.rows ? fmt::format("{} rows of ", *layout.rows) : "";
  std::string description = fmt::format("{}, {}{} values; {}", format, rows_text, layout.dimensions,
                                        words->Description());
  return std::unique_ptr<VectorReader>(new MatrixReader(std::move(name), std::move(description),
                                                        layout, std::move(rows), std::move(words)));
}

absl::StatusOr<bool> MatrixReader::Next(VectorRow& row) {
  while (true) {
    row.vector.resize(dimensions_);
    row.place = read_ + 1;
    const absl::StatusOr<bool> more = rows_->Next(row.vector);
    if (!more.ok() && !absl::IsInvalidArgument(more.status())) {
      return Annotate(more.status(), name_);
    }
    if (more.ok() && !*more) {
      VT_RETURN_IF_ERROR(CheckListEnds());
      return false;
    }
    ++read_;
    const absl::StatusOr<WordList::Found> found = words_->Next(row.word);
    if (!found.ok()) return Annotate(found.status(), Position(row.place));
    if (*found == WordList::Found::kEnd && !words_->may_be_short()) {
      return absl::FailedPreconditionError(
          fmt::format("{}: there are only {} {} (expected one for each row, found {})",
                      Position(row.place), read_ - 1, words_->Description(), read_ - 1));
    }
    if (*found != WordList::Found::kWord) {
      ++unnamed_;
      continue;
    }
    if (!more.ok()) return Annotate(more.status(), Position(row.place));
    return true;
  }
}

// Where the numbers of rows weren't known before.
absl::Status MatrixReader::CheckListEnds() {
  std::string word;
  if (words_->size() && *words_->size() == read_) return absl::OkStatus();
  if (words_->is_endless() || words_->may_be_short()) return absl::OkStatus();
  const absl::StatusOr<WordList::Found> found = words_->Next(word);
  if (found.ok() && *found == WordList::Found::kEnd) return absl::OkStatus();
  return absl::DataLossError(
      fmt::format("{}: holds {} rows, but there are more {} (expected {}, found more)", name_,
                  read_, words_->Description(), read_));
}

std::string MatrixReader::Position(uint64_t place) const {
  return fmt::format("{}: row {}", name_, place);
}

std::string MatrixReader::Doubts() const {
  if (unnamed_ == 0) return {};
  return fmt::format("{}: {} rows have no word ({}) and are left out", name_, unnamed_,
                     words_->Description());
}

absl::StatusOr<std::unique_ptr<PartialFile>> OpenPlain(const std::string& path) {
  absl::StatusOr<std::unique_ptr<PartialFile>> file = PartialFile::Open(path);
  if (!file.ok()) return Annotate(file.status(), path);
  return file;
}

absl::StatusOr<std::unique_ptr<WordList>> WordsFor(const std::string& path,
                                                   const ReadOptions& options, bool model) {
  const std::string file =
      options.vocabulary.empty() ? FindWordsBeside(path, model) : options.vocabulary;
  if (file.empty()) return WordList::Numbers();
  return WordList::Open(file, options.words);
}

}  // namespace vectable
