#include "client/formats/text_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/formats/matrix_reader.h"
#include "client/formats/text_fields.h"
#include "common/limits.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

constexpr size_t kSampleLines = 1000;
constexpr size_t kSampleBytes = size_t{8} << 20;
constexpr size_t kBlockBytes = size_t{256} << 10;
constexpr size_t kBlockLines = 4096;
constexpr size_t kBlockValues = size_t{1} << 20;
// Room for the longest notation that anyone writes, for each value of the widest row.
constexpr size_t kMaxLineBytes = size_t{kMaxDimensions} * 32 + 4096;

bool IsBlankLine(std::string_view line) { return line.find_first_not_of(" \t") == line.npos; }

}  // namespace

absl::StatusOr<std::unique_ptr<VectorReader>> TextReader::Open(std::unique_ptr<ByteSource> bytes,
                                                               std::unique_ptr<LineFormat> format,
                                                               TextHeader header,
                                                               const std::string& format_name,
                                                               const ReadOptions& options) {
  const LineEnds ends =
      format->has_quotes() ? LineEnds::kBreakOutsideQuotes : LineEnds::kEveryBreak;
  VT_ASSIGN_OR_RETURN(std::unique_ptr<LineSource> lines,
                      LineSource::Open(std::move(bytes), kMaxLineBytes, ends));
  std::unique_ptr<TextReader> reader(new TextReader(std::move(lines), std::move(format)));
  VT_RETURN_IF_ERROR(reader->ReadSample());
  VT_RETURN_IF_ERROR(reader->FindLayout(header, options));
  if (!reader->format_->has_words()) VT_RETURN_IF_ERROR(reader->OpenWords(options));
  reader->Describe(format_name);
  TextReader* const self = reader.get();
  reader->pipeline_ = std::make_unique<RowPipeline>(
      RowPipeline::Work{
          [self](LineBlock& block) { return self->ReadBlock(block); },
          [self](const LineBlock& block, RowBlock& rows) { self->ParseBlock(block, rows); },
          [self] { self->lines_->bytes().Cancel(); }, options.interrupted},
      options.threads);
  return std::unique_ptr<VectorReader>(std::move(reader));
}

absl::Status TextReader::ReadSample() {
  while (sample_.lines.size() < kSampleLines && sample_.text.size() < kSampleBytes) {
    std::string_view line;
    const absl::StatusOr<bool> more = lines_->Next(line);
    if (more.ok() && !*more) break;
    if (!more.ok()) {
      if (!absl::IsInvalidArgument(more.status())) {
        if (absl::IsCancelled(more.status())) return more.status();
        sample_ended_ = more.status();
        break;
      }
      sample_.Add({}, lines_->line_number());
      sample_.lines.back().status = more.status();
    } else if (!IsBlankLine(line)) {
      sample_.Add(line, lines_->line_number());
    }
  }
  if (!sample_.lines.empty()) return absl::OkStatus();
  if (!sample_ended_.ok()) return sample_ended_;
  return absl::InvalidArgumentError(lines_->name() + ": the file holds no rows, only blank lines");
}

absl::Status TextReader::FindLayout(TextHeader header, const ReadOptions& options) {
  const LineBlock::Line first = sample_.lines.front();
  VT_RETURN_IF_ERROR(first.status);
  const std::string_view text = sample_.TextOf(first);
  const bool several = sample_.lines.size() > 1;
  const auto counts = header == TextHeader::kNone ? std::nullopt : ParseCountHeader(text);
  if (header == TextHeader::kCounts && !counts) {
    return Error(absl::StatusCode::kInvalidArgument, first.number,
                 fmt::format("the line is no header (expected the numbers of rows and of values, "
                             "found {})",
                             Quoted(text)));
  }
  if (counts) {
    VT_RETURN_IF_ERROR(FindDimensions(several ? 1 : 0, counts->second, options));
    return TakeCounts(header, options);
  }
  std::optional<std::vector<std::string>> names;
  if (several) names = format_->ParseNames(text);
  VT_RETURN_IF_ERROR(FindDimensions(names ? 1 : 0, options.likely_dimensions, options));
  // A line that fits no table of these rows is a bad row, not a header.
  if (names && (names->empty() || names->size() == dimensions_)) {
    names_ = *std::move(names);
    has_names_ = true;
    sample_.lines.erase(sample_.lines.begin());
  }
  return absl::OkStatus();
}

absl::Status TextReader::FindDimensions(size_t first_row, size_t likely,
                                        const ReadOptions& options) {
  std::vector<size_t> found;
  for (size_t i = first_row; i < sample_.lines.size(); ++i) {
    const LineBlock::Line& line = sample_.lines[i];
    if (line.status.ok()) found.push_back(format_->CountValues(sample_.TextOf(line)));
  }
  size_t guessed = MostFrequent(found, likely);
  if (options.dimensions) guessed = *options.dimensions;
  const uint64_t number = sample_.lines.front().number;
  if (guessed == 0) {
    return Error(
        absl::StatusCode::kInvalidArgument, number,
        fmt::format("the line is no row (expected {}, found no such thing)", format_->Expected()));
  }
  if (guessed > kMaxDimensions) {
    return Error(absl::StatusCode::kInvalidArgument, number,
                 fmt::format("too many values in a row (expected at most {}, found {})",
                             kMaxDimensions, guessed));
  }
  dimensions_ = static_cast<uint32_t>(guessed);
  return absl::OkStatus();
}

// The first line is two integers: a header, or the row of a number in one dimension.
absl::Status TextReader::TakeCounts(TextHeader header, const ReadOptions& options) {
  const LineBlock::Line first = sample_.lines.front();
  const auto [rows, width] = *ParseCountHeader(sample_.TextOf(first));
  const bool alone = sample_.lines.size() == 1 && !options.dimensions;
  if (width != dimensions_ && !alone) {
    if (dimensions_ == 1 && header == TextHeader::kFoundOut) return absl::OkStatus();
    return Error(absl::StatusCode::kFailedPrecondition, first.number,
                 fmt::format("the header promises {} values per row, but the rows have {} "
                             "(expected {}, found {})",
                             width, dimensions_, width, dimensions_));
  }
  if (width == 0 || width > kMaxDimensions) {
    return Error(absl::StatusCode::kInvalidArgument, first.number,
                 fmt::format("bad number of dimensions in the header (expected 1 to {}, found {})",
                             kMaxDimensions, width));
  }
  dimensions_ = static_cast<uint32_t>(width);
  promised_rows_ = rows;
  sample_.lines.erase(sample_.lines.begin());
  return absl::OkStatus();
}

absl::Status TextReader::OpenWords(const ReadOptions& options) {
  VT_ASSIGN_OR_RETURN(words_, WordsFor(lines_->bytes().path(), options));
  return absl::OkStatus();
}

void TextReader::Describe(const std::string& format_name) {
  description_ = promised_rows_
                     ? fmt::format("word2vec text, {} rows of {} values by its header",
                                   *promised_rows_, dimensions_)
                     : fmt::format("{}{}, {} values per row", format_name,
                                   has_names_ ? " with a line of names" : "", dimensions_);
  if (words_) description_ += "; " + words_->Description();
}

absl::StatusOr<bool> TextReader::ReadBlock(LineBlock& block) {
  // Few lines where rows are wide: a line may be short, and its row is not.
  const size_t most_lines = std::clamp<size_t>(kBlockValues / dimensions_, 1, kBlockLines);
  for (; sample_next_ < sample_.lines.size() && block.lines.size() < most_lines; ++sample_next_) {
    const LineBlock::Line& line = sample_.lines[sample_next_];
    block.Add(sample_.TextOf(line), line.number);
    block.lines.back().status = line.status;
  }
  if (!block.lines.empty()) return true;
  sample_.Clear();
  sample_next_ = 0;
  VT_RETURN_IF_ERROR(sample_ended_);
  while (block.text.size() < kBlockBytes && block.lines.size() < most_lines) {
    std::string_view line;
    const absl::StatusOr<bool> more = lines_->Next(line);
    if (!more.ok() && !absl::IsInvalidArgument(more.status())) {
      // What came before it is given out first.
      sample_ended_ = more.status();
      if (block.lines.empty()) return more;
      return true;
    }
    if (more.ok() && !*more) break;
    if (more.ok() && IsBlankLine(line)) continue;
    block.Add(more.ok() ? line : std::string_view(), lines_->line_number());
    block.lines.back().status = more.status();
  }
  return !block.lines.empty();
}

void TextReader::ParseBlock(const LineBlock& block, RowBlock& rows) const {
  LineScratch scratch;
  VectorRow row;
  rows.rows.reserve(block.lines.size());
  rows.values.reserve(block.lines.size() * dimensions_);
  for (const LineBlock::Line& line : block.lines) {
    row.word.clear();
    row.vector.resize(dimensions_);
    absl::Status status = line.status;
    if (status.ok()) {
      status = format_->Parse(block.TextOf(line), scratch, row);
      if (!status.ok()) status = Annotate(status, Position(line.number));
    }
    rows.rows.push_back({rows.words.size(), row.word.size(), line.number, std::move(status)});
    rows.words += row.word;
    rows.values.insert(rows.values.end(), row.vector.begin(), row.vector.end());
  }
}

absl::StatusOr<bool> TextReader::Next(VectorRow& row) {
  while (next_ == block_.rows.size()) {
    next_ = 0;
    block_.Clear();
    VT_ASSIGN_OR_RETURN(const bool more, pipeline_->Next(block_));
    if (!more) {
      VT_RETURN_IF_ERROR(CheckEnd());
      return false;
    }
  }
  const RowBlock::Row& read = block_.rows[next_];
  row.place = read.place;
  row.word.assign(block_.words, read.word_begin, read.word_size);
  const auto values = block_.values.begin() + static_cast<std::ptrdiff_t>(next_ * dimensions_);
  row.vector.assign(values, values + static_cast<std::ptrdiff_t>(dimensions_));
  ++next_;
  ++rows_;
  last_line_ = read.place;
  if (rows_ == 1) first_word_ = Quoted(row.word);
  if (words_) VT_RETURN_IF_ERROR(TakeWord(row).status());
  VT_RETURN_IF_ERROR(read.status);
  if (format_->IsNumber(row.word)) ++numbers_;
  if (format_->IsDoubtful(row.word)) {
    if (doubtful_++ == 0) {
      first_doubtful_ = row.place;
      doubtful_word_ = row.word;
    }
  }
  return true;
}

// The word of the row from the list beside the file.
absl::StatusOr<bool> TextReader::TakeWord(VectorRow& row) {
  const absl::StatusOr<WordList::Found> found = words_->Next(row.word);
  if (!found.ok()) return Annotate(found.status(), Position(row.place));
  if (*found == WordList::Found::kWord) return true;
  return Error(absl::StatusCode::kFailedPrecondition, row.place,
               fmt::format("there are only {} {} (expected one for each row, found {})", rows_ - 1,
                           words_->Description(), rows_ - 1));
}

absl::Status TextReader::CheckEnd() {
  if (promised_rows_ && *promised_rows_ != rows_) {
    return Error(absl::StatusCode::kDataLoss, std::max(last_line_, uint64_t{1}),
                 fmt::format("the header promises {} rows, the file holds {} (expected {}, found "
                             "{})",
                             *promised_rows_, rows_, *promised_rows_, rows_));
  }
  if (!words_ || words_->is_endless()) return absl::OkStatus();
  std::string word;
  const absl::StatusOr<WordList::Found> found = words_->Next(word);
  if (found.ok() && *found == WordList::Found::kEnd) return absl::OkStatus();
  return Error(
      absl::StatusCode::kDataLoss, last_line_,
      fmt::format("the file holds {} rows, but there are more {} (expected {}, found more)", rows_,
                  words_->Description(), rows_));
}

std::string TextReader::Position(uint64_t line) const {
  return fmt::format("{}:{}", lines_->name(), line);
}

std::string TextReader::Doubts() const {
  if (numbers_ == rows_ && rows_ > 1) {
    return fmt::format(
        "every word is a number, first {}: if the first value of each line was meant, read them "
        "with "
        "--format tsv",
        first_word_);
  }
  if (doubtful_ == 0) return {};
  return fmt::format(
      "{} {} a word that ends in a number, first {} at {}: more than {} values, or the word?",
      doubtful_, doubtful_ == 1 ? "row has" : "rows have", Quoted(doubtful_word_),
      Position(first_doubtful_), dimensions_);
}

absl::Status TextReader::Error(absl::StatusCode code, uint64_t line,
                               std::string_view reason) const {
  return absl::Status(code, fmt::format("{}: {}", Position(line), reason));
}

absl::StatusOr<std::unique_ptr<VectorReader>> OpenGlove(std::unique_ptr<ByteSource> bytes,
                                                        const ReadOptions& options,
                                                        TextHeader header) {
  return TextReader::Open(std::move(bytes), SpacedLines(options.words), header, "GloVe text",
                          options);
}

absl::StatusOr<std::unique_ptr<VectorReader>> OpenCsv(std::unique_ptr<ByteSource> bytes,
                                                      const ReadOptions& options) {
  return TextReader::Open(std::move(bytes), CsvLines(options.words), TextHeader::kNone, "CSV",
                          options);
}

absl::StatusOr<std::unique_ptr<VectorReader>> OpenJsonLines(std::unique_ptr<ByteSource> bytes,
                                                            const ReadOptions& options) {
  return TextReader::Open(std::move(bytes), JsonLines(options.words), TextHeader::kNone,
                          "JSON lines", options);
}

absl::StatusOr<std::unique_ptr<VectorReader>> OpenProjector(std::unique_ptr<ByteSource> bytes,
                                                            const ReadOptions& options) {
  return TextReader::Open(std::move(bytes), NumberLines(), TextHeader::kNone,
                          "the projector's vectors", options);
}

}  // namespace vectable
