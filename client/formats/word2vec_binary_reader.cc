#include <fmt/format.h>

#include <utility>

#include "client/formats/formats.h"
#include "client/formats/text_fields.h"
#include "common/bytes.h"
#include "common/limits.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

constexpr size_t kMaxCountsBytes = 100;
constexpr size_t kBinaryChunkBytes = size_t{256} << 10;
constexpr size_t kMaxWordBytes = size_t{1} << 20;  // a longer one isn't looked for the end of

class Word2vecBinaryReader final : public VectorReader {
 public:
  Word2vecBinaryReader(std::unique_ptr<ByteSource> bytes, const ReadOptions& options, uint64_t rows,
                       uint32_t dimensions)
      : bytes_(std::move(bytes)), rules_(options.words), rows_(rows), dimensions_(dimensions) {}

  absl::StatusOr<bool> Next(VectorRow& row) override {
    row.place = read_ + 1;
    if (read_ == rows_) {
      VT_RETURN_IF_ERROR(CheckEnd());
      return false;
    }
    VT_RETURN_IF_ERROR(TakeWord(row.word));
    const size_t size = size_t{dimensions_} * sizeof(float);
    VT_RETURN_IF_ERROR(Need(size, "values"));
    row.vector.resize(dimensions_);
    CopyFloatsLe(std::string_view(buffer_).substr(begin_, size), row.vector);
    begin_ += size;
    ++read_;
    VT_RETURN_IF_ERROR(Annotate(rules_.ToWord(row.word), Position(row.place)));
    return true;
  }

  uint32_t dimensions() const override { return dimensions_; }
  std::string Position(uint64_t place) const override {
    return fmt::format("{}: row {}", bytes_->name(), place);
  }
  uint64_t bytes_read() const override { return bytes_->bytes_read(); }
  std::optional<uint64_t> total_bytes() const override { return bytes_->total_bytes(); }
  std::string Description() const override {
    return fmt::format("word2vec's binary format, {} rows of {} values by its header", rows_,
                       dimensions_);
  }

 private:
  uint64_t offset() const { return bytes_->offset() - (buffer_.size() - begin_); }

  // More bytes behind those in the buffer; false at the end.
  absl::StatusOr<bool> Fill() {
    buffer_.erase(0, begin_);
    begin_ = 0;
    const size_t had = buffer_.size();
    buffer_.resize(had + kBinaryChunkBytes);
    const absl::StatusOr<size_t> got = bytes_->ReadSome(std::span(buffer_).subspan(had));
    buffer_.resize(had + (got.ok() ? *got : 0));
    if (!got.ok()) {
      return absl::Status(got.status().code(),
                          fmt::format("{} (byte {}): {}", Position(read_ + 1), offset(),
                                      std::string(got.status().message())));
    }
    return *got > 0;
  }

  absl::Status EndsEarly(std::string_view within) const {
    return absl::DataLossError(fmt::format(
        "{} (byte {}): the file ends too early, within the row's {}; the header promises "
        "{} rows (expected {}, found {})",
        Position(read_ + 1), bytes_->offset(), within, rows_, rows_, read_));
  }

  absl::Status Need(size_t size, std::string_view within) {
    while (buffer_.size() - begin_ < size) {
      VT_ASSIGN_OR_RETURN(const bool more, Fill());
      if (!more) return EndsEarly(within);
    }
    return absl::OkStatus();
  }

  // The word up to the blank, without the line break that may stand in front of it.
  absl::Status TakeWord(std::string& word) {
    VT_RETURN_IF_ERROR(Need(1, "word"));
    while (buffer_[begin_] == '\n' || buffer_[begin_] == '\r') {
      ++begin_;
      VT_RETURN_IF_ERROR(Need(1, "word"));
    }
    size_t searched = 0;
    while (true) {
      const size_t blank = buffer_.find(' ', begin_ + searched);
      if (blank != std::string::npos) {
        word.assign(buffer_, begin_, blank - begin_);
        begin_ = blank + 1;
        return absl::OkStatus();
      }
      searched = buffer_.size() - begin_;
      if (searched > kMaxWordBytes) {
        return absl::DataLossError(
            fmt::format("{} (byte {}): no blank ends the row's word within {} bytes",
                        Position(read_ + 1), offset(), kMaxWordBytes));
      }
      VT_ASSIGN_OR_RETURN(const bool more, Fill());
      if (!more) return EndsEarly("word");
    }
  }

  // Line breaks may follow the last row, nothing else.
  absl::Status CheckEnd() {
    while (true) {
      for (; begin_ < buffer_.size(); ++begin_) {
        if (buffer_[begin_] == '\n' || buffer_[begin_] == '\r') continue;
        return absl::DataLossError(
            fmt::format("{}: the header promises {} rows, but the file goes on behind them at byte "
                        "{} (expected {}, found more)",
                        bytes_->name(), rows_, offset(), rows_));
      }
      VT_ASSIGN_OR_RETURN(const bool more, Fill());
      if (!more) return absl::OkStatus();
    }
  }

  const std::unique_ptr<ByteSource> bytes_;
  const WordRules rules_;
  const uint64_t rows_;
  const uint32_t dimensions_;
  std::string buffer_;
  size_t begin_ = 0;
  uint64_t read_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<VectorReader>> OpenWord2vecBinary(std::unique_ptr<ByteSource> bytes,
                                                                 const ReadOptions& options) {
  const std::string name = bytes->name();
  const absl::StatusOr<std::string_view> start = bytes->Peek(kMaxCountsBytes);
  if (!start.ok()) return Annotate(start.status(), name);
  const size_t end = start->find('\n');
  const auto counts = end == start->npos ? std::nullopt : ParseCountHeader(start->substr(0, end));
  if (!counts) {
    return absl::InvalidArgumentError(
        fmt::format("{}: doesn't begin with a header (expected \"ROWS VALUES\" and a line break, "
                    "found {})",
                    name, Quoted(start->substr(0, std::min<size_t>(end, 32)))));
  }
  const auto [rows, dimensions] = *counts;
  if (dimensions == 0 || dimensions > kMaxDimensions) {
    return absl::InvalidArgumentError(
        fmt::format("{}: bad number of dimensions in the header (expected 1 to {}, found {})", name,
                    kMaxDimensions, dimensions));
  }
  if (rows == 0) return absl::InvalidArgumentError(name + ": the file holds no rows");
  if (const std::optional<uint64_t> size = bytes->unpacked_bytes()) {
    // A word of one byte and a blank at least.
    const uint64_t row = 2 + dimensions * sizeof(float);
    if (rows > *size / row) {
      return absl::DataLossError(fmt::format(
          "{}: the header promises {} rows of {} values, which the file's {} bytes can't "
          "hold (expected {} rows, found room for {})",
          name, rows, dimensions, *size, rows, *size / row));
    }
  }
  std::string header(end + 1, '\0');
  VT_RETURN_IF_ERROR(bytes->ReadFull(header).status());
  return std::make_unique<Word2vecBinaryReader>(std::move(bytes), options, rows,
                                                static_cast<uint32_t>(dimensions));
}

}  // namespace vectable
