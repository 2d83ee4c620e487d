#include "client/formats/line_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/status_util.h"

namespace vectable {
namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;
constexpr size_t kPeekBytes = size_t{64} << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

absl::StatusOr<std::unique_ptr<LineSource>> LineSource::Open(std::unique_ptr<ByteSource> bytes,
                                                             size_t max_line_bytes, LineEnds ends) {
  std::unique_ptr<LineSource> source(new LineSource(std::move(bytes), max_line_bytes, ends));
  VT_RETURN_IF_ERROR(source->CheckStart());
  return source;
}

absl::Status LineSource::CheckStart() {
  while (end_ < 3 && !at_end_) VT_RETURN_IF_ERROR(Fill().status());
  const std::string_view start(buffer_.data(), end_);
  if (start.empty()) return absl::InvalidArgumentError(name() + ": the file is empty");
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
    return absl::InvalidArgumentError(name() + ": is UTF-16 text; convert it to UTF-8");
  }
  if (start.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError(name() + ": holds NUL bytes: a binary file, not text");
  }
  if (start.starts_with(kByteOrderMark)) begin_ = kByteOrderMark.size();
  return absl::OkStatus();
}

absl::StatusOr<bool> LineSource::Fill() {
  if (at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() < end_ + kChunkBytes) buffer_.resize(end_ + kChunkBytes);
  const absl::StatusOr<size_t> got =
      bytes_->ReadSome(std::span(buffer_).subspan(end_, kChunkBytes));
  if (!got.ok()) {
    ++line_number_;  // the line that was being read
    return Error(got.status().code(), std::string(got.status().message()));
  }
  end_ += *got;
  at_end_ = *got == 0;
  return *got > 0;
}

// The place of the break that ends the line, or end_; bytes before `from` were looked at before.
size_t LineSource::FindEnd(size_t from) {
  if (ends_ == LineEnds::kEveryBreak) {
    const void* found = std::memchr(buffer_.data() + from, '\n', end_ - from);
    return found ? static_cast<size_t>(static_cast<const char*>(found) - buffer_.data()) : end_;
  }
  for (size_t i = from; i < end_; ++i) {
    const char c = buffer_[i];
    if (c == '"' && (quoted_ || field_begins_)) {
      // The second of two quotes opens them again at once.
      quoted_ = !quoted_;
      field_begins_ = !quoted_;
    } else if (c == '\n' && !quoted_) {
      return i;
    } else {
      if (c == '\n') ++breaks_;
      field_begins_ = c == ',' && !quoted_;
    }
  }
  return end_;
}

absl::StatusOr<bool> LineSource::Next(std::string_view& line) {
  line_number_ += breaks_;
  breaks_ = 0;
  quoted_ = false;
  field_begins_ = true;
  size_t searched = begin_;
  while (true) {
    const size_t stop = FindEnd(searched);
    if (stop - begin_ > max_line_bytes_) return SkipLongLine();
    if (stop < end_ || at_end_) {
      if (stop == end_ && begin_ == end_) return false;
      if (stop == end_ && quoted_) {
        ++line_number_;
        return Error(absl::StatusCode::kDataLoss,
                     "a quote that begins in this line isn't closed by the end of the file");
      }
      line = std::string_view(buffer_.data() + begin_, stop - begin_);
      if (line.ends_with('\r')) line.remove_suffix(1);
      begin_ = std::min(stop + 1, end_);
      ++line_number_;
      return true;
    }
    const size_t kept = end_ - begin_;
    VT_RETURN_IF_ERROR(Fill().status());
    searched = begin_ + kept;
  }
}

absl::StatusOr<std::string_view> LineSource::PeekLine() {
  size_t stop = FindEnd(begin_);
  while (stop == end_ && !at_end_ && end_ - begin_ < kPeekBytes) {
    VT_RETURN_IF_ERROR(Fill().status());
    stop = FindEnd(begin_);
  }
  std::string_view line(buffer_.data() + begin_, std::min(stop - begin_, kPeekBytes));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

absl::StatusOr<bool> LineSource::SkipLongLine() {
  ++line_number_;
  const bool in_quotes = quoted_;
  breaks_ = 0;
  while (true) {
    const void* found = std::memchr(buffer_.data() + begin_, '\n', end_ - begin_);
    if (found != nullptr) {
      begin_ = static_cast<size_t>(static_cast<const char*>(found) - buffer_.data()) + 1;
      break;
    }
    begin_ = end_;
    --line_number_;  // Fill counts the line itself when it fails
    VT_ASSIGN_OR_RETURN(const bool more, Fill());
    ++line_number_;
    if (!more) break;
  }
  return Error(absl::StatusCode::kInvalidArgument,
               fmt::format("the line is too long{} (expected at most {} bytes, found more)",
                           in_quotes ? ", or a quote isn't closed" : "", max_line_bytes_));
}

absl::Status LineSource::Error(absl::StatusCode code, std::string_view reason) const {
  return absl::Status(code, fmt::format("{}:{}: {}", name(), line_number_, reason));
}

}  // namespace vectable
