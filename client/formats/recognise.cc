#include "client/formats/recognise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "client/formats/line_format.h"
#include "client/formats/text_fields.h"
#include "client/formats/word_list.h"
#include "common/limits.h"
#include "common/status_util.h"
#include "sizing/safetensors_header.h"

namespace vectable {
namespace {

// Enough for two lines of all but the widest rows; a pipe may give no more for long.
constexpr size_t kLookBytes = size_t{4} << 10;
constexpr size_t kMostLookBytes = size_t{4} << 20;
constexpr size_t kMostLines = 100;  // looked at

struct Beginning {
  std::string_view bytes;
  const char* format;
};

constexpr std::array<Beginning, 7> kBeginnings = {{
    {"\x93NUMPY", "npy"},
    {"\x89HDF\r\n\x1A\n", "hdf5"},
    {"GGUF", "gguf"},
    {"\xBA\x16\x4F\x2F", "fasttext-bin"},
    {"IxFI", "faiss"},
    {"IxF2", "faiss"},
    {"IxFl", "faiss"},
}};

std::optional<uint64_t> UnsignedAt(std::string_view bytes, uint64_t offset, size_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = size; i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[offset + i - 1]);
  }
  return value;
}

// The format whose beginning nothing else has.
const char* SignedFormat(std::string_view start) {
  for (const Beginning& known : kBeginnings) {
    // In a text "GGUF" and the likes may begin a word. What follows there is a number of 32 bits,
    // little-endian, whose last byte is 0.
    const bool sure = known.bytes[0] != 'G' && known.bytes[0] != 'I';
    if (start.starts_with(known.bytes) && (sure || (start.size() > 7 && start[7] == '\0'))) {
      return known.format;
    }
  }
  const std::optional<uint64_t> header = UnsignedAt(start, 0, 8);
  if (header && *header <= kMaxSafetensorsHeaderBytes && start.size() > 8 && start[8] == '{') {
    return "safetensors";
  }
  return nullptr;
}

bool HasControlBytes(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\v' && c != '\f') ||
           byte == 0x7F;
  });
}

// "ROWS VALUES\n", then rows whose values aren't text.
bool IsWord2vecBinary(std::string_view start) {
  const size_t end = start.find('\n');
  if (end == start.npos || !ParseCountHeader(start.substr(0, end))) return false;
  const uint64_t width = ParseCountHeader(start.substr(0, end))->second;
  const std::string_view rest = start.substr(end + 1);
  // A word may hold such bytes, too.
  return HasControlBytes(rest) && CountValues(rest.substr(0, rest.find('\n'))) != width;
}

// Whether rows follow each other that each begin with the same number of values.
bool IsVecs(std::string_view start, std::optional<uint64_t> size, uint64_t value_bytes) {
  const std::optional<uint64_t> dimensions = UnsignedAt(start, 0, 4);
  if (!dimensions || *dimensions == 0 || *dimensions > kMaxDimensions) return false;
  const uint64_t row = 4 + *dimensions * value_bytes;
  if (size && *size % row != 0) return false;
  for (uint64_t at = row; at + 4 <= start.size(); at += row) {
    if (UnsignedAt(start, at, 4) != dimensions) return false;
  }
  return size.has_value() || row + 4 <= start.size();
}

bool IsFbin(std::string_view start, std::optional<uint64_t> size) {
  const std::optional<uint64_t> rows = UnsignedAt(start, 0, 4);
  const std::optional<uint64_t> dimensions = UnsignedAt(start, 4, 4);
  return rows && dimensions && *dimensions > 0 && *dimensions <= kMaxDimensions &&
         size == 8 + *rows * *dimensions * 4;
}

bool HasEnding(const ByteSource& bytes, std::string_view ending) {
  std::string_view path = bytes.path();
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (path.ends_with(packed)) path.remove_suffix(packed.size());
  }
  return absl::EndsWithIgnoreCase({path.data(), path.size()}, {ending.data(), ending.size()});
}

absl::StatusOr<std::string> RecogniseBinary(const ByteSource& bytes, std::string_view start) {
  if (IsWord2vecBinary(start)) return "word2vec-bin";
  const std::optional<uint64_t> size = bytes.unpacked_bytes();
  const bool bvecs = IsVecs(start, size, 1);
  if (bvecs && HasEnding(bytes, ".bvecs")) return "bvecs";
  if (IsVecs(start, size, 4)) return "fvecs";
  if (IsFbin(start, size)) return "fbin";
  if (bvecs) return "bvecs";
  // Files that lack their end, so that their readers say so.
  for (const std::string_view format : {"fvecs", "bvecs", "fbin"}) {
    if (HasEnding(bytes, fmt::format(".{}", format))) return std::string(format);
  }
  return absl::InvalidArgumentError(
      bytes.name() +
      ": a binary file of none of the formats that are told by their content; name "
      "its format with --format");
}

// The lines of `start`; where it isn't the whole text not the last, which may be cut, unless it is
// the only one.
std::vector<std::string_view> LinesOf(std::string_view start, bool whole) {
  std::vector<std::string_view> lines;
  while (!start.empty() && lines.size() < kMostLines) {
    const size_t end = start.find('\n');
    if (end == start.npos && !whole && !lines.empty()) break;
    std::string_view line = start.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != line.npos) lines.push_back(line);
    start.remove_prefix(end == start.npos ? start.size() : end + 1);
  }
  return lines;
}

size_t UsualCount(const LineFormat& format, const std::vector<std::string_view>& lines) {
  std::vector<size_t> counts;
  for (const std::string_view line : lines) counts.push_back(format.CountValues(line));
  return MostFrequent(counts, 0);
}

bool AreNumbersAlone(const std::vector<std::string_view>& lines) {
  const std::unique_ptr<LineFormat> numbers = NumberLines();
  return std::all_of(lines.begin(), lines.end(),
                     [&numbers](std::string_view line) { return numbers->CountValues(line) > 0; });
}

absl::StatusOr<std::string> RecogniseText(const ByteSource& bytes, std::string_view start,
                                          bool whole, const ReadOptions& options) {
  if (start.starts_with("\xEF\xBB\xBF")) start.remove_prefix(3);
  const std::string_view text =
      start.substr(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  const size_t second = text.size() > 1 ? text.find_first_not_of(" \t\r\n", 1) : text.npos;
  const char next = second == text.npos ? '\0' : text[second];
  if (text.starts_with('{') && (next == '"' || next == '}')) return "jsonl";
  if (text.starts_with('[') && next == '{') {
    return absl::InvalidArgumentError(
        bytes.name() + ": is a JSON array; JSON lines are read, one object in each line");
  }
  const std::vector<std::string_view> lines = LinesOf(start, whole);
  const bool listed = !options.vocabulary.empty() || HasEnding(bytes, ".tsv");
  if (listed && AreNumbersAlone(lines)) return "tsv";
  const size_t spaced = UsualCount(*SpacedLines(options.words), lines);
  const size_t commas = UsualCount(*CsvLines(options.words), lines);
  return commas > spaced ? "csv" : "text";
}

}  // namespace

absl::StatusOr<std::string> RecogniseFormat(ByteSource& bytes, const ReadOptions& options) {
  absl::StatusOr<std::string_view> start = bytes.Peek(kLookBytes);
  size_t size = kLookBytes;
  while (start.ok() && start->size() == size && size < kMostLookBytes) {
    if (std::count(start->begin(), start->end(), '\n') > 2) break;
    size *= 4;
    start = bytes.Peek(size);
  }
  if (!start.ok()) return Annotate(start.status(), bytes.name());
  if (start->starts_with("\xFF\xFE") || start->starts_with("\xFE\xFF")) {
    return absl::InvalidArgumentError(bytes.name() + ": is UTF-16 text; convert it to UTF-8");
  }
  if (const char* const format = SignedFormat(*start)) return std::string(format);
  if (start->find('\0') != start->npos || IsWord2vecBinary(*start)) {
    return RecogniseBinary(bytes, *start);
  }
  return RecogniseText(bytes, *start, start->size() < size, options);
}

std::string OtherFormat(ByteSource& bytes, const std::string& format) {
  const absl::StatusOr<std::string_view> start = bytes.Peek(kLookBytes);
  if (!start.ok()) return {};  // the reader says what is wrong
  const char* const found = SignedFormat(*start);
  return found == nullptr || format == found ? "" : found;
}

}  // namespace vectable
