#include "client/formats/glove_reader.h"

#include <fmt/format.h>

#include <utility>

#include "client/formats/parse_float.h"
#include "client/formats/text_fields.h"
#include "common/limits.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

constexpr size_t kSampleLines = 1000;
constexpr size_t kSampleBytes = 8 << 20;
// Room for the longest notation that anyone writes, for each value of the widest row.
constexpr size_t kMaxLineBytes = size_t{kMaxDimensions} * 32 + 4096;

}  // namespace

absl::StatusOr<std::unique_ptr<GloveReader>> GloveReader::Open(const std::string& path,
                                                               const GloveOptions& options) {
  VT_ASSIGN_OR_RETURN(std::unique_ptr<LineSource> source, LineSource::Open(path, kMaxLineBytes));
  std::unique_ptr<GloveReader> reader(new GloveReader(std::move(source)));
  VT_RETURN_IF_ERROR(reader->ReadSample());
  VT_RETURN_IF_ERROR(reader->FindLayout(options));
  return reader;
}

absl::Status GloveReader::ReadSample() {
  size_t bytes = 0;
  while (sample_.size() < kSampleLines && bytes < kSampleBytes) {
    std::string_view line;
    const absl::StatusOr<bool> more = source_->Next(line);
    if (more.ok() && !*more) break;
    if (!more.ok()) {
      sample_.push_back({source_->line_number(), more.status()});
      if (!absl::IsInvalidArgument(more.status())) break;  // met again when its turn comes
      continue;
    }
    if (CountFields(line) == 0) continue;
    bytes += line.size();
    sample_.push_back({source_->line_number(), std::string(line)});
  }
  return absl::OkStatus();
}

absl::Status GloveReader::FindLayout(const GloveOptions& options) {
  if (sample_.empty()) {
    return absl::InvalidArgumentError(source_->name() +
                                      ": the file holds no rows, only blank lines");
  }
  VT_RETURN_IF_ERROR(sample_.front().text.status());
  const auto header = ParseCountHeader(*sample_.front().text);
  std::vector<size_t> counts;
  for (size_t i = header && sample_.size() > 1 ? 1 : 0; i < sample_.size(); ++i) {
    if (sample_[i].text.ok()) counts.push_back(CountValues(*sample_[i].text));
  }
  size_t guessed = MostFrequent(counts, header ? header->second : options.likely_dimensions);
  if (options.dimensions) guessed = *options.dimensions;
  if (guessed == 0) {
    return Error(absl::StatusCode::kInvalidArgument, sample_.front().number,
                 "the line is no row (expected a word and its numbers, found none)");
  }
  if (guessed > kMaxDimensions) {
    return Error(absl::StatusCode::kInvalidArgument, sample_.front().number,
                 fmt::format("too many values in a row (expected at most {}, found {})",
                             kMaxDimensions, guessed));
  }
  dimensions_ = static_cast<uint32_t>(guessed);
  return header ? TakeHeader(options, dimensions_) : absl::OkStatus();
}

// The first line is two integers: a header, or the row of a number in one dimension.
absl::Status GloveReader::TakeHeader(const GloveOptions& options, uint32_t guessed) {
  const auto [rows, width] = *ParseCountHeader(*sample_.front().text);
  const bool alone = sample_.size() == 1 && !options.dimensions;
  if (width != guessed && !alone) {
    if (guessed == 1) return absl::OkStatus();
    return Error(absl::StatusCode::kFailedPrecondition, sample_.front().number,
                 fmt::format("the header promises {} values per row, but the rows have {} "
                             "(expected {}, found {})",
                             width, guessed, width, guessed));
  }
  if (width == 0 || width > kMaxDimensions) {
    return Error(absl::StatusCode::kInvalidArgument, sample_.front().number,
                 fmt::format("bad number of dimensions in the header (expected 1 to {}, found {})",
                             kMaxDimensions, width));
  }
  dimensions_ = static_cast<uint32_t>(width);
  promised_rows_ = rows;
  sample_.pop_front();
  return absl::OkStatus();
}

absl::StatusOr<bool> GloveReader::Next(VectorRow& row) {
  std::string_view line;
  uint64_t number = 0;
  while (true) {
    const absl::StatusOr<bool> more = NextLine(line, number);
    if (!more.ok()) {
      if (absl::IsInvalidArgument(more.status())) ++rows_;
      return more.status();
    }
    if (!*more) {
      VT_RETURN_IF_ERROR(CheckCount(number));
      return false;
    }
    if (line.find_first_not_of(" \t") != std::string_view::npos) break;
  }
  ++rows_;
  VT_RETURN_IF_ERROR(ParseRow(line, number, row));
  return true;
}

absl::StatusOr<bool> GloveReader::NextLine(std::string_view& line, uint64_t& number) {
  if (sample_.empty()) {
    absl::StatusOr<bool> more = source_->Next(line);
    number = source_->line_number();
    return more;
  }
  SampleLine first = std::move(sample_.front());
  number = first.number;
  sample_.pop_front();
  VT_RETURN_IF_ERROR(first.text.status());
  line_ = *std::move(first.text);
  line = line_;
  return true;
}

absl::Status GloveReader::ParseRow(std::string_view line, uint64_t number, VectorRow& row) {
  row.vector.resize(dimensions_);
  std::string_view plain_word;
  const bool plain = ParsePlainRow(line, plain_word, row.vector);
  const std::optional<std::string_view> word =
      plain ? plain_word : SplitLastFields(line, dimensions_, fields_);
  if (!word) {
    const size_t found = CountFields(line);
    return Error(absl::StatusCode::kInvalidArgument, number,
                 fmt::format("the line has too few fields (expected a word and {} values, found {} "
                             "{} in all)",
                             dimensions_, found, found == 1 ? "field" : "fields"));
  }
  if (absl::Status bad = CheckWord(*word, Limits().max_word_bytes); !bad.ok()) {
    return Error(absl::StatusCode::kInvalidArgument, number, std::string(bad.message()));
  }
  row.word.assign(*word);
  row.line = number;
  return plain ? absl::OkStatus() : ParseValues(number, row);
}

absl::Status GloveReader::ParseValues(uint64_t number, VectorRow& row) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    const FloatText kind = ParseFloat(fields_[i], row.vector[i]);
    if (kind == FloatText::kOk) continue;
    const char* expected = kind == FloatText::kOutOfRange  ? "a number within the range of fp32"
                           : kind == FloatText::kNotFinite ? "a finite number"
                                                           : "a number";
    return Error(absl::StatusCode::kInvalidArgument, number,
                 fmt::format("word {}: value {} of {} is bad (expected {}, found {})",
                             Quoted(row.word), i + 1, dimensions_, expected, Quoted(fields_[i])));
  }
  return absl::OkStatus();
}

absl::Status GloveReader::CheckCount(uint64_t number) const {
  if (!promised_rows_ || *promised_rows_ == rows_) return absl::OkStatus();
  return Error(absl::StatusCode::kDataLoss, number,
               fmt::format("the header promises {} rows, the file holds {} (expected {}, found {})",
                           *promised_rows_, rows_, *promised_rows_, rows_));
}

std::string GloveReader::Position(uint64_t line) const {
  return fmt::format("{}:{}", source_->name(), line);
}

absl::Status GloveReader::Error(absl::StatusCode code, uint64_t line,
                                const std::string& reason) const {
  return absl::Status(code, fmt::format("{}: {}", Position(line), reason));
}

}  // namespace vectable
