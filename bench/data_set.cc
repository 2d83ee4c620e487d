#include "bench/data_set.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <random>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/vector_math.h"
#include "faiss/utils/distances.h"
#include "fast_float/fast_float.h"
#include "fmt/format.h"

namespace vectable {
namespace {

constexpr char kMagic[8] = {'v', 't', 'b', 'e', 'n', 'c', 'h', '1'};
constexpr size_t kCandidates = 64;    // that are scored again in double
constexpr float kFloatError = 1e-5F;  // of an inner product of unit vectors, and more

struct Header {
  char magic[8];
  uint64_t dimensions;
  uint64_t rows;
  uint64_t queries;
};

using Rows = std::vector<float>;
using Random = std::mt19937_64;

// A whole file, mapped read-only.
absl::StatusOr<std::string_view> MapFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::NotFoundError(absl::StrCat("can't open ", path));
  struct stat facts {};
  const bool known = ::fstat(fd, &facts) == 0 && facts.st_size > 0;
  const size_t bytes = known ? static_cast<size_t>(facts.st_size) : 0;
  void* const start = known ? ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
  ::close(fd);
  if (start == MAP_FAILED) return absl::DataLossError(absl::StrCat("can't map ", path));
  return std::string_view(static_cast<const char*>(start), bytes);
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void ScaleToUnit(std::span<float> vector) {
  const double norm = std::sqrt(SquaredNormInDouble(vector));
  for (float& value : vector) value = static_cast<float>(value / norm);
}

// Appends the line's values, scaled to unit length. A word may hold spaces.
absl::Status AppendUnit(std::string_view line, size_t dimensions, Rows& out) {
  size_t begin = line.size();
  for (size_t i = 0; i < dimensions && begin != std::string_view::npos && begin > 0; ++i) {
    begin = line.rfind(' ', begin - 1);
  }
  const size_t at = out.size();
  const char* next = line.data() + std::min(begin, line.size());
  const char* const end = line.data() + line.size();
  for (size_t i = 0; i < dimensions && next < end; ++i) {
    float value = 0;
    const auto [after, error] = fast_float::from_chars(next + 1, end, value);
    if (error != std::errc()) break;
    out.push_back(value);
    next = after;
  }
  if (out.size() != at + dimensions) {
    return absl::InvalidArgumentError(
        fmt::format("not a line of GloVe text: {}", line.substr(0, 40)));
  }
  ScaleToUnit({out.data() + at, dimensions});
  return absl::OkStatus();
}

// The numbers below `count` in random order, but only the first `wanted` of them.
std::vector<size_t> Draw(size_t count, size_t wanted, Random& random) {
  std::vector<size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  for (size_t i = 0; i < wanted; ++i) std::swap(numbers[i], numbers[i + random() % (count - i)]);
  numbers.resize(wanted);
  return numbers;
}

// The sum of two random vectors of `words`, in `out`.
void SumOfPair(std::span<const float> words, Random& random, std::span<float> out) {
  const size_t count = words.size() / out.size();
  const float* const a = &words[random() % count * out.size()];
  const float* const b = &words[random() % count * out.size()];
  for (size_t d = 0; d < out.size(); ++d) out[d] = a[d] + b[d];
  ScaleToUnit(out);
}

// Makes all vectors from `kept` on sums of pairs of `words`.
void FillWithSums(const Rows& words, size_t kept, size_t dimensions, Random& random, Rows& out) {
  for (size_t i = kept; i < out.size() / dimensions; ++i) {
    SumOfPair(words, random, {&out[i * dimensions], dimensions});
  }
}

// A random matrix, from x to.
Rows MakeProjection(size_t from, size_t to, Random& random) {
  std::normal_distribution<float> normal;
  Rows matrix(from * to);
  for (float& value : matrix) value = normal(random);
  return matrix;
}

Rows Project(const Rows& rows, const Rows& matrix, size_t from, size_t to) {
  const size_t count = rows.size() / from;
  Rows projected(count * to);
  for (size_t i = 0; i < count; ++i) {
    float* const out = &projected[i * to];
    for (size_t f = 0; f < from; ++f) {
      const float factor = rows[i * from + f];
      const float* const row = &matrix[f * to];
      for (size_t t = 0; t < to; ++t) out[t] += factor * row[t];
    }
    ScaleToUnit({out, to});
  }
  return projected;
}

// The nearest of some rows, by scores in double.
std::vector<uint32_t> NearestInDouble(std::span<const float> query, const Rows& base,
                                      std::span<const int64_t> candidates) {
  std::vector<std::pair<double, uint32_t>> scored;
  for (const int64_t i : candidates) {
    const auto row = static_cast<size_t>(i);
    const std::span<const float> vector(&base[row * query.size()], query.size());
    scored.emplace_back(-DotInDouble(query, vector), static_cast<uint32_t>(row));
  }
  std::sort(scored.begin(), scored.end());
  std::vector<uint32_t> nearest;
  for (size_t i = 0; i < kTruthDepth; ++i) nearest.push_back(scored[i].second);
  return nearest;
}

// For each query its nearest rows: candidates of a scan in float, scored again in double. Where the
// float's error might have left a row out, all rows are.
std::vector<uint32_t> FindTruth(const Rows& queries, const Rows& base, size_t dimensions) {
  const size_t rows = base.size() / dimensions;
  const size_t count = queries.size() / dimensions;
  const size_t depth = std::min(kCandidates, rows);
  std::vector<float> scores(count * depth);
  std::vector<int64_t> found(count * depth);
  faiss::knn_inner_product(queries.data(), base.data(), dimensions, count, rows, depth,
                           scores.data(), found.data());
  std::vector<int64_t> all(rows);
  std::iota(all.begin(), all.end(), int64_t{0});
  std::vector<uint32_t> truth;
  for (size_t q = 0; q < count; ++q) {
    const std::span<const float> query(&queries[q * dimensions], dimensions);
    const float* const score = &scores[q * depth];
    const bool sure = score[kTruthDepth - 1] - score[depth - 1] > 2 * kFloatError;
    const std::span<const int64_t> some(&found[q * depth], depth);
    const std::vector<uint32_t> nearest = NearestInDouble(query, base, sure ? some : all);
    truth.insert(truth.end(), nearest.begin(), nearest.end());
  }
  return truth;
}

absl::Status WriteDataSet(const std::string& path, size_t dimensions, const Rows& base,
                          const Rows& queries, const std::vector<uint32_t>& truth) {
  Header header{{}, dimensions, base.size() / dimensions, queries.size() / dimensions};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  std::ofstream out(path, std::ios::binary);
  const auto write = [&out](const void* data, size_t bytes) {
    out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  };
  write(&header, sizeof(header));
  write(queries.data(), queries.size() * sizeof(float));
  write(truth.data(), truth.size() * sizeof(uint32_t));
  write(base.data(), base.size() * sizeof(float));
  out.close();
  return out ? absl::OkStatus() : absl::ResourceExhaustedError(absl::StrCat("can't write ", path));
}

// The words of a text, parted into the base and what is held out.
struct Split {
  std::vector<std::string_view> lines;  // of the base
  Rows base;
  Rows queries;
  size_t dimensions = 0;
};

absl::StatusOr<Split> SplitText(std::string_view text, const DataSetOptions& options,
                                Random& random) {
  const std::vector<std::string_view> lines = SplitLines(text);
  if (lines.size() < options.queries + kCandidates) {
    return absl::InvalidArgumentError("the text has too few words");
  }
  Split split;
  split.dimensions = static_cast<size_t>(std::count(lines[0].begin(), lines[0].end(), ' '));
  std::vector<bool> held_out(lines.size());
  for (const size_t i : Draw(lines.size(), options.queries, random)) {
    held_out[i] = true;
    VT_RETURN_IF_ERROR(AppendUnit(lines[i], split.dimensions, split.queries));
  }
  std::vector<size_t> others;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!held_out[i]) others.push_back(i);
  }
  const size_t wanted = options.rows == 0 ? others.size() : std::min(options.rows, others.size());
  std::vector<size_t> drawn = Draw(others.size(), wanted, random);
  std::sort(drawn.begin(), drawn.end());  // words in the order of the text
  for (const size_t i : drawn) {
    split.lines.push_back(lines[others[i]]);
    VT_RETURN_IF_ERROR(AppendUnit(lines[others[i]], split.dimensions, split.base));
  }
  return split;
}

void Grow(const DataSetOptions& options, Random& random, Split& split) {
  const size_t words = split.base.size() / split.dimensions;
  if (options.rows > words) {
    const Rows base_words = split.base;
    split.base.resize(options.rows * split.dimensions);
    FillWithSums(base_words, words, split.dimensions, random, split.base);
    const Rows query_words = split.queries;
    const size_t kept = options.queries * words / options.rows;
    FillWithSums(query_words, kept, split.dimensions, random, split.queries);
  }
  if (options.dimensions != 0 && options.dimensions != split.dimensions) {
    const Rows matrix = MakeProjection(split.dimensions, options.dimensions, random);
    split.base = Project(split.base, matrix, split.dimensions, options.dimensions);
    split.queries = Project(split.queries, matrix, split.dimensions, options.dimensions);
    split.dimensions = options.dimensions;
  }
}

absl::Status WriteWords(const std::string& path, const Split& split, bool as_read) {
  std::FILE* const out = std::fopen(path.c_str(), "w");
  if (out == nullptr) return absl::NotFoundError(absl::StrCat("can't write ", path));
  for (size_t i = 0; i < split.base.size() / split.dimensions; ++i) {
    if (as_read && i < split.lines.size()) {
      fmt::print(out, "{}\n", split.lines[i]);
      continue;
    }
    const float* const row = &split.base[i * split.dimensions];
    fmt::print(out, "made-up-{} {}\n", i, fmt::join(row, row + split.dimensions, " "));
  }
  return std::fclose(out) == 0 ? absl::OkStatus()
                               : absl::ResourceExhaustedError(absl::StrCat("can't write ", path));
}

}  // namespace

absl::Status MakeDataSet(const std::string& text_path, const DataSetOptions& options,
                         const std::string& path, const std::string& words_path) {
  VT_ASSIGN_OR_RETURN(const std::string_view text, MapFile(text_path));
  Random random(options.seed);
  VT_ASSIGN_OR_RETURN(Split split, SplitText(text, options, random));
  const size_t dimensions_read = split.dimensions;
  Grow(options, random, split);
  if (!words_path.empty()) {
    VT_RETURN_IF_ERROR(WriteWords(words_path, split, split.dimensions == dimensions_read));
  }
  return WriteDataSet(path, split.dimensions, split.base, split.queries,
                      FindTruth(split.queries, split.base, split.dimensions));
}

absl::StatusOr<DataSet> DataSet::Open(const std::string& path) {
  VT_ASSIGN_OR_RETURN(const std::string_view file, MapFile(path));
  DataSet data;
  data.start_ = file.data();
  data.bytes_ = file.size();
  Header header{};
  if (file.size() >= sizeof(header)) std::memcpy(&header, file.data(), sizeof(header));
  data.dimensions_ = header.dimensions;
  data.rows_ = header.rows;
  data.queries_ = header.queries;
  const size_t query_floats = header.queries * header.dimensions;
  data.query_vectors_ = reinterpret_cast<const float*>(file.data() + sizeof(header));
  data.truth_ = reinterpret_cast<const uint32_t*>(data.query_vectors_ + query_floats);
  data.base_ = reinterpret_cast<const float*>(data.truth_ + header.queries * kTruthDepth);
  const auto* const end =
      reinterpret_cast<const char*>(data.base_ + header.rows * header.dimensions);
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 || end != file.data() + file.size()) {
    return absl::DataLossError(absl::StrCat(path, " isn't a data set"));
  }
  return data;
}

DataSet::DataSet(DataSet&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)),
      bytes_(other.bytes_),
      dimensions_(other.dimensions_),
      rows_(other.rows_),
      queries_(other.queries_),
      base_(other.base_),
      query_vectors_(other.query_vectors_),
      truth_(other.truth_) {}

DataSet::~DataSet() {
  if (start_ != nullptr) ::munmap(const_cast<char*>(start_), bytes_);
}

}  // namespace vectable
