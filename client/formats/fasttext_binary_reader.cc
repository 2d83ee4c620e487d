#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "client/formats/formats.h"
#include "client/formats/matrix_reader.h"
#include "common/bytes.h"
#include "common/limits.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/checked.h"

namespace vectable {
namespace {

constexpr uint32_t kFasttextMagic = 793'712'314;
constexpr uint32_t kFasttextVersion = 12;
constexpr uint64_t kFasttextBufferBytes = uint64_t{1} << 20;
constexpr size_t kMaxEntryBytes = size_t{64} << 10;  // a word with its zero, count and type
constexpr int64_t kMaxGramLength = 100;

// Reads numbers and texts from front to back.
class FasttextCursor {
 public:
  explicit FasttextCursor(const PartialFile& file, uint64_t position = 0)
      : file_(file), position_(position) {}

  uint64_t position() const { return position_; }

  // The next `bytes` bytes; good until the next call.
  absl::StatusOr<std::string_view> Take(uint64_t bytes) {
    VT_RETURN_IF_ERROR(Buffer(bytes));
    if (begin_ + buffer_.size() < position_ + bytes) {
      return absl::DataLossError(
          fmt::format("byte {}: the file ends within its header (expected {} more bytes, found {})",
                      position_, bytes, begin_ + buffer_.size() - position_));
    }
    const std::string_view taken = std::string_view(buffer_).substr(position_ - begin_, bytes);
    position_ += bytes;
    return taken;
  }

  absl::StatusOr<uint64_t> Number(size_t bytes) {
    VT_ASSIGN_OR_RETURN(const std::string_view text, Take(bytes));
    uint64_t value = 0;
    for (size_t i = bytes; i > 0; --i) value = value << 8 | static_cast<unsigned char>(text[i - 1]);
    return value;
  }
  absl::StatusOr<int64_t> Int32() {
    VT_ASSIGN_OR_RETURN(const uint64_t value, Number(4));
    return int64_t{static_cast<int32_t>(static_cast<uint32_t>(value))};
  }
  absl::StatusOr<int64_t> Int64() {
    VT_ASSIGN_OR_RETURN(const uint64_t value, Number(8));
    return static_cast<int64_t>(value);
  }

  // Up to a zero byte, which is taken too.
  absl::StatusOr<std::string> Text() {
    VT_RETURN_IF_ERROR(Buffer(kMaxEntryBytes));
    const std::string_view rest = std::string_view(buffer_).substr(position_ - begin_);
    const size_t zero = rest.find('\0');
    if (zero == rest.npos) {
      return absl::DataLossError(fmt::format(
          "byte {}: a word of the dictionary has no end within {} bytes", position_, rest.size()));
    }
    position_ += zero + 1;
    return std::string(rest.substr(0, zero));
  }

 private:
  // At least `bytes` bytes from position_ on in the buffer, unless the file ends before.
  absl::Status Buffer(uint64_t bytes) {
    if (position_ + bytes <= begin_ + buffer_.size()) return absl::OkStatus();
    const uint64_t rest = file_.size() - position_;
    if (begin_ == position_ && buffer_.size() == rest) return absl::OkStatus();
    VT_ASSIGN_OR_RETURN(
        buffer_, file_.Read(position_, std::min(std::max(bytes, kFasttextBufferBytes), rest)));
    begin_ = position_;
    return absl::OkStatus();
  }

  const PartialFile& file_;
  uint64_t position_;
  std::string buffer_;
  uint64_t begin_ = 0;  // of the buffer, in the file
};

// What of the model's header its words' vectors rest on.
struct FasttextModel {
  uint32_t dimensions = 0;
  int64_t buckets = 0;
  int64_t min_gram = 0;
  int64_t max_gram = 0;
  int64_t entries = 0;  // of the dictionary: words first, labels after them
  int64_t words = 0;
  int64_t pruned = -1;  // entries of the map below; negative: it isn't used
  absl::flat_hash_map<uint32_t, uint32_t> kept_grams;
  uint64_t dictionary = 0;  // where it begins in the file
  uint64_t matrix = 0;      // where the vectors begin
  uint64_t matrix_rows = 0;
};

absl::Status BadModel(std::string_view what, int64_t found) {
  return absl::InvalidArgumentError(fmt::format("bad fastText header: {} (found {})", what, found));
}

absl::Status ReadFasttextArguments(FasttextCursor& cursor, FasttextModel& model) {
  VT_ASSIGN_OR_RETURN(const uint64_t magic, cursor.Number(4));
  if (magic != kFasttextMagic) {
    return absl::InvalidArgumentError(fmt::format(
        "is no fastText model (expected the magic number {}, found {})", kFasttextMagic, magic));
  }
  VT_ASSIGN_OR_RETURN(const uint64_t version, cursor.Number(4));
  if (version != kFasttextVersion) {
    return absl::InvalidArgumentError(
        fmt::format("version {} of fastText's format isn't read (expected {}, found {})", version,
                    kFasttextVersion, version));
  }
  // dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn, lrUpdateRate, then
  // t.
  std::array<int64_t, 12> arguments{};
  for (int64_t& argument : arguments) {
    VT_ASSIGN_OR_RETURN(argument, cursor.Int32());
  }
  VT_RETURN_IF_ERROR(cursor.Number(8).status());
  if (arguments[0] < 1 || arguments[0] > int64_t{kMaxDimensions}) {
    return BadModel(fmt::format("its dimensions aren't 1 to {}", kMaxDimensions), arguments[0]);
  }
  model.dimensions = static_cast<uint32_t>(arguments[0]);
  model.buckets = arguments[8];
  model.min_gram = arguments[9];
  model.max_gram = arguments[10];
  if (model.buckets < 0) return BadModel("a negative number of buckets", model.buckets);
  if (model.max_gram > kMaxGramLength) {
    return BadModel(fmt::format("n-grams longer than {}", kMaxGramLength), model.max_gram);
  }
  return absl::OkStatus();
}

absl::Status ReadDictionary(FasttextCursor& cursor, const PartialFile& file, FasttextModel& model) {
  VT_ASSIGN_OR_RETURN(model.entries, cursor.Int32());
  VT_ASSIGN_OR_RETURN(model.words, cursor.Int32());
  VT_ASSIGN_OR_RETURN(const int64_t labels, cursor.Int32());
  VT_RETURN_IF_ERROR(cursor.Int64().status());  // tokens
  VT_ASSIGN_OR_RETURN(model.pruned, cursor.Int64());
  if (model.words < 1 || labels < 0 || model.entries != model.words + labels) {
    return BadModel(fmt::format("{} words and {} labels aren't the entries of the dictionary",
                                model.words, labels),
                    model.entries);
  }
  // Each takes a zero byte, a count and a type at least.
  if (static_cast<uint64_t>(model.entries) > file.size() / 10) {
    return BadModel("more words than the file can hold", model.entries);
  }
  model.dictionary = cursor.position();
  for (int64_t i = 0; i < model.entries; ++i) {
    VT_RETURN_IF_ERROR(cursor.Text().status());
    VT_RETURN_IF_ERROR(cursor.Take(9).status());
  }
  if (model.pruned > static_cast<int64_t>(file.size() / 8)) {
    return BadModel("more pruned n-grams than the file can hold", model.pruned);
  }
  for (int64_t i = 0; i < model.pruned; ++i) {
    VT_ASSIGN_OR_RETURN(const uint64_t from, cursor.Number(4));
    VT_ASSIGN_OR_RETURN(const uint64_t to, cursor.Number(4));
    model.kept_grams[static_cast<uint32_t>(from)] = static_cast<uint32_t>(to);
  }
  return absl::OkStatus();
}

absl::StatusOr<FasttextModel> ReadFasttextModel(const PartialFile& file) {
  FasttextCursor cursor(file);
  FasttextModel model;
  VT_RETURN_IF_ERROR(ReadFasttextArguments(cursor, model));
  VT_RETURN_IF_ERROR(ReadDictionary(cursor, file, model));
  VT_ASSIGN_OR_RETURN(const uint64_t quantised, cursor.Number(1));
  if (quantised != 0) {
    return absl::InvalidArgumentError(
        "is a quantised fastText model (.ftz); the vectors of its words can't be told exactly");
  }
  VT_ASSIGN_OR_RETURN(const int64_t rows, cursor.Int64());
  VT_ASSIGN_OR_RETURN(const int64_t columns, cursor.Int64());
  if (columns != int64_t{model.dimensions} || rows < model.words) {
    return BadModel(fmt::format("a matrix of {} rows for {} words of {} dimensions", rows,
                                model.words, model.dimensions),
                    columns);
  }
  model.matrix = cursor.position();
  model.matrix_rows = static_cast<uint64_t>(rows);
  VT_ASSIGN_OR_RETURN(const uint64_t end,
                      (Checked(model.matrix_rows) * model.dimensions * sizeof(float) + model.matrix)
                          .Value("the bytes of the matrix"));
  if (end > file.size()) {
    return absl::DataLossError(
        fmt::format("the file ends within its {} vectors of {} values (expected at least {} bytes, "
                    "found {})",
                    rows, columns, end, file.size()));
  }
  // What follows, the matrix of outputs, isn't used, but tells whether the file is whole.
  FasttextCursor behind(file, end);
  VT_RETURN_IF_ERROR(behind.Number(1).status());
  VT_ASSIGN_OR_RETURN(const uint64_t outputs, behind.Number(8));
  VT_ASSIGN_OR_RETURN(const uint64_t width, behind.Number(8));
  VT_ASSIGN_OR_RETURN(
      const uint64_t whole,
      (Checked(outputs) * width * sizeof(float) + behind.position()).Value("the model's bytes"));
  if (whole != file.size()) {
    return absl::DataLossError(
        fmt::format("the model's bytes aren't those that it speaks of (expected {}, found {})",
                    whole, file.size()));
  }
  return model;
}

// fastText's Dictionary::hash: FNV-1a, of signed bytes.
uint32_t GramHash(std::string_view text) {
  uint32_t hash = 2'166'136'261U;
  for (const char c : text) {
    hash ^= static_cast<uint32_t>(static_cast<int8_t>(c));
    hash *= 16'777'619U;
  }
  return hash;
}

class FasttextBinaryReader final : public VectorReader {
 public:
  FasttextBinaryReader(std::string name, std::unique_ptr<PartialFile> file, FasttextModel model,
                       const ReadOptions& options)
      : name_(std::move(name)),
        file_(std::move(file)),
        model_(std::move(model)),
        rules_(options.words),
        cursor_(*file_, model_.dictionary) {}

  absl::StatusOr<bool> Next(VectorRow& row) override {
    while (true) {
      row.place = words_read_ + 1;
      if (words_read_ == static_cast<uint64_t>(model_.words)) return false;
      VT_ASSIGN_OR_RETURN(row.word, Located(cursor_.Text(), row.place));
      VT_ASSIGN_OR_RETURN(const std::string_view rest, Located(cursor_.Take(9), row.place));
      const bool label = rest[8] != 0;
      const uint64_t entry = entries_read_++;
      if (label) {
        if (entries_read_ < static_cast<uint64_t>(model_.entries)) continue;
        return absl::DataLossError(
            fmt::format("{}: the dictionary has fewer words than its header promises (expected {}, "
                        "found {})",
                        name_, model_.words, words_read_));
      }
      ++words_read_;
      // The n-grams are those of the bytes in the file.
      bytes_ = row.word;
      VT_RETURN_IF_ERROR(Annotate(rules_.ToWord(row.word), Position(row.place)));
      VT_RETURN_IF_ERROR(Annotate(VectorOf(entry, bytes_, row.vector), Position(row.place)));
      return true;
    }
  }

  uint32_t dimensions() const override { return model_.dimensions; }
  std::string Position(uint64_t place) const override {
    return fmt::format("{}: row {}", name_, place);
  }
  // As a share of the file: it isn't read from front to back.
  uint64_t bytes_read() const override {
    return static_cast<uint64_t>(static_cast<double>(file_->size()) *
                                 static_cast<double>(words_read_) /
                                 static_cast<double>(model_.words));
  }
  std::optional<uint64_t> total_bytes() const override { return file_->size(); }
  std::string Description() const override {
    return fmt::format(
        "a fastText model, {} words of {} values{}", model_.words, model_.dimensions,
        model_.max_gram > 0 ? ", each the mean of the word's own and its n-grams'" : "");
  }

 private:
  template <typename T>
  absl::StatusOr<T> Located(absl::StatusOr<T> read, uint64_t place) const {
    if (read.ok()) return read;
    return Annotate(read.status(), Position(place));
  }

  // Dictionary::computeSubwords: rows of the matrix for the n-grams of "<word>".
  void FindGrams(const std::string& word) {
    const std::string text = "<" + word + ">";
    const auto continues = [&text](size_t i) {
      return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
    };
    for (size_t i = 0; i < text.size(); ++i) {
      if (continues(i)) continue;
      size_t end = i;
      for (int64_t n = 1; end < text.size() && n <= model_.max_gram; ++n) {
        ++end;
        while (end < text.size() && continues(end)) ++end;
        if (n < model_.min_gram || (n == 1 && (i == 0 || end == text.size()))) continue;
        AddGram(std::string_view(text).substr(i, end - i));
      }
    }
  }

  void AddGram(std::string_view gram) {
    if (model_.buckets == 0 || model_.pruned == 0) return;
    uint32_t bucket = GramHash(gram) % static_cast<uint32_t>(model_.buckets);
    if (model_.pruned > 0) {
      const auto kept = model_.kept_grams.find(bucket);
      if (kept == model_.kept_grams.end()) return;
      bucket = kept->second;
    }
    rows_.push_back(static_cast<uint64_t>(model_.words) + bucket);
  }

  absl::Status VectorOf(uint64_t entry, const std::string& word, std::vector<float>& vector) {
    rows_.assign(1, entry);
    if (word != "</s>") FindGrams(word);
    vector.assign(model_.dimensions, 0);
    row_.resize(model_.dimensions);
    for (const uint64_t row : rows_) {
      if (row >= model_.matrix_rows) {
        return absl::DataLossError(
            fmt::format("word {} has a row beyond the matrix (expected less than {}, found {})",
                        Quoted(word), model_.matrix_rows, row));
      }
      VT_ASSIGN_OR_RETURN(const std::string bytes,
                          file_->Read(model_.matrix + row * row_.size() * sizeof(float),
                                      row_.size() * sizeof(float)));
      CopyFloatsLe(bytes, row_);
      for (size_t i = 0; i < row_.size(); ++i) vector[i] += row_[i];
    }
    const auto share = static_cast<float>(1.0 / static_cast<double>(rows_.size()));
    for (float& value : vector) value *= share;
    return absl::OkStatus();
  }

  const std::string name_;
  const std::unique_ptr<PartialFile> file_;
  const FasttextModel model_;
  const WordRules rules_;
  FasttextCursor cursor_;
  uint64_t entries_read_ = 0;
  uint64_t words_read_ = 0;
  std::string bytes_;           // of the word
  std::vector<uint64_t> rows_;  // of the matrix, that make its vector
  std::vector<float> row_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<VectorReader>> OpenFasttextBinary(std::unique_ptr<ByteSource> bytes,
                                                                 const ReadOptions& options) {
  const std::string name = bytes->name();
  if (!bytes->plain()) {
    return absl::InvalidArgumentError(
        name +
        ": a fastText model is read from a plain file alone, neither packed nor from a pipe");
  }
  VT_ASSIGN_OR_RETURN(std::unique_ptr<PartialFile> file, OpenPlain(bytes->path()));
  absl::StatusOr<FasttextModel> model = ReadFasttextModel(*file);
  if (!model.ok()) return Annotate(model.status(), name);
  return std::make_unique<FasttextBinaryReader>(name, std::move(file), *std::move(model), options);
}

}  // namespace vectable
