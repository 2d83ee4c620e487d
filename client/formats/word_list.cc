#include "client/formats/word_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "client/formats/byte_source.h"
#include "client/formats/line_source.h"
#include "common/limits.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/json_scan.h"

namespace vectable {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxWordLineBytes = size_t{1} << 20;  // metadata may have long columns
constexpr size_t kMaxJsonBytes = size_t{128} << 20;
// Rows may lack a word, but not nearly all of them.
constexpr uint64_t kMostRowsPerWord = 16;
constexpr uint64_t kFewRows = 1'000'000;

// The n-th of the parts of `line` between tabs; nothing when there are fewer.
std::optional<std::string_view> Column(std::string_view line, size_t n) {
  for (; n > 0; --n) {
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return std::nullopt;
    line.remove_prefix(tab + 1);
  }
  return line.substr(0, line.find('\t'));
}

// Which column of the projector's metadata holds the words.
size_t WordColumn(std::string_view header) {
  for (const std::string_view name : {"word", "label", "name"}) {
    for (size_t n = 0;; ++n) {
      const std::optional<std::string_view> column = Column(header, n);
      if (!column) break;
      if (absl::EqualsIgnoreCase({column->data(), column->size()}, {name.data(), name.size()})) {
        return n;
      }
    }
  }
  return 0;
}

absl::StatusOr<std::unique_ptr<LineSource>> OpenLines(const std::string& path) {
  VT_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes, ByteSource::Open(path));
  return LineSource::Open(std::move(bytes), kMaxWordLineBytes);
}

class TextWordList final : public WordList {
 public:
  TextWordList(std::unique_ptr<LineSource> lines, const WordRules& rules,
               std::optional<size_t> column, std::optional<uint64_t> size)
      : lines_(std::move(lines)), rules_(rules), column_(column), size_(size) {}

  absl::StatusOr<Found> Next(std::string& word) override {
    if (size_ && read_ == *size_) return Found::kEnd;
    std::string_view line;
    absl::StatusOr<bool> more = lines_->Next(line);
    if (!more.ok()) {
      if (absl::IsInvalidArgument(more.status())) ++read_;
      return more.status();
    }
    if (!*more) return Found::kEnd;
    ++read_;
    const std::optional<std::string_view> text = column_ ? Column(line, *column_) : line;
    const std::string place = fmt::format("{}:{}", lines_->name(), lines_->line_number());
    if (!text) {
      return absl::InvalidArgumentError(fmt::format(
          "{}: the line has too few columns (the words are in column {})", place, *column_ + 1));
    }
    word.assign(*text);
    VT_RETURN_IF_ERROR(Annotate(rules_.ToWord(word), place));
    return Found::kWord;
  }

  std::optional<uint64_t> size() const override { return size_; }
  std::string Description() const override { return "words from " + lines_->name(); }

 private:
  const std::unique_ptr<LineSource> lines_;
  const WordRules rules_;
  const std::optional<size_t> column_;
  const std::optional<uint64_t> size_;
  uint64_t read_ = 0;
};

// A list that is in memory.
class KnownWordList final : public WordList {
 public:
  KnownWordList(std::vector<std::optional<std::string>> words, std::string description,
                const WordRules& rules)
      : words_(std::move(words)), description_(std::move(description)), rules_(rules) {}

  absl::StatusOr<Found> Next(std::string& word) override {
    if (next_ == words_.size()) return Found::kEnd;
    const std::optional<std::string>& found = words_[next_++];
    if (!found) return Found::kHole;
    word = *found;
    VT_RETURN_IF_ERROR(rules_.ToWord(word));
    return Found::kWord;
  }

  std::optional<uint64_t> size() const override { return words_.size(); }
  bool may_be_short() const override { return true; }
  std::string Description() const override { return description_; }

 private:
  const std::vector<std::optional<std::string>> words_;
  const std::string description_;
  const WordRules rules_;
  size_t next_ = 0;
};

class NumberWordList final : public WordList {
 public:
  absl::StatusOr<Found> Next(std::string& word) override {
    word = fmt::format("{}", next_++);
    return Found::kWord;
  }
  std::optional<uint64_t> size() const override { return std::nullopt; }
  bool is_endless() const override { return true; }
  std::string Description() const override { return "rows are named by their numbers from 0"; }

 private:
  uint64_t next_ = 0;
};

// Collects the words of a vocab.json or of a tokenizer.json.
class VocabularyVisitor final : public JsonVisitor {
 public:
  using Words = std::vector<std::pair<std::string, uint64_t>>;

  absl::Status OnKey(size_t /*depth*/, std::string& key) override {
    key_ = std::move(key);
    return absl::OkStatus();
  }

  absl::Status OnBegin(size_t /*depth*/, bool object) override {
    path_.push_back(path_.empty() || !in_object_.back() ? "[]" : key_);
    in_object_.push_back(object);
    if (path_.size() == 3 && IsAt({"", "added_tokens", "[]"})) added_ = {};
    if (path_.size() == 4 && IsAt({"", "model", "vocab", "[]"})) in_piece_ = true;
    return absl::OkStatus();
  }

  absl::Status OnEnd(size_t /*depth*/, bool /*object*/) override {
    if (path_.size() == 3 && IsAt({"", "added_tokens", "[]"}) && added_.first && added_.second) {
      added_tokens.emplace_back(*std::move(added_.first), *added_.second);
    }
    in_piece_ = false;
    path_.pop_back();
    in_object_.pop_back();
    return absl::OkStatus();
  }

  absl::Status OnScalar(size_t /*depth*/, JsonScalar scalar) override {
    const std::optional<uint64_t> number = RowOf(scalar);
    if (path_.size() == 1) {
      if (number) {
        members.emplace_back(std::move(key_), *number);
      } else {
        has_other_members = true;
      }
    } else if (path_.size() == 3 && in_object_.back() && IsAt({"", "model", "vocab"})) {
      if (!number) return Bad(scalar);
      model_vocab.emplace_back(std::move(key_), *number);
    } else if (in_piece_) {
      // [piece, score] of a unigram model: its place is its row.
      in_piece_ = false;
      std::string* const piece = std::get_if<std::string>(&scalar);
      if (piece == nullptr) return Bad(scalar);
      model_vocab.emplace_back(std::move(*piece), model_vocab.size());
    } else if (path_.size() == 3 && IsAt({"", "added_tokens", "[]"})) {
      std::string* const text = std::get_if<std::string>(&scalar);
      if (key_ == "content" && text != nullptr) added_.first = std::move(*text);
      if (key_ == "id") added_.second = number;
    }
    return absl::OkStatus();
  }

  Words members;  // of the outermost object
  bool has_other_members = false;
  Words model_vocab;
  Words added_tokens;

 private:
  static std::optional<uint64_t> RowOf(const JsonScalar& scalar) {
    if (const uint64_t* const number = std::get_if<uint64_t>(&scalar)) return *number;
    const int64_t* const number = std::get_if<int64_t>(&scalar);
    if (number == nullptr || *number < 0) return std::nullopt;
    return static_cast<uint64_t>(*number);
  }

  // Whether the containers that are open have these names; the outermost has none.
  bool IsAt(std::initializer_list<std::string_view> names) const {
    if (path_.size() != names.size()) return false;
    size_t i = 0;
    for (const std::string_view name : names) {
      if (i > 0 && path_[i] != name) return false;
      ++i;
    }
    return true;
  }

  static absl::Status Bad(const JsonScalar& scalar) {
    return absl::InvalidArgumentError(
        fmt::format("model.vocab is neither an object of rows nor a list of pieces (found {})",
                    JsonKind(scalar)));
  }

  std::string key_;
  std::vector<std::string> path_;
  std::vector<bool> in_object_;
  bool in_piece_ = false;
  std::pair<std::optional<std::string>, std::optional<uint64_t>> added_;
};

absl::Status Place(const VocabularyVisitor::Words& words, bool replace,
                   std::vector<std::optional<std::string>>& rows) {
  const uint64_t limit = std::max(kFewRows, kMostRowsPerWord * (rows.size() + words.size()));
  for (const auto& [word, row] : words) {
    if (row >= limit) {
      return absl::InvalidArgumentError(fmt::format("word {} of {} is for row {}; the limit is {}",
                                                    Quoted(word), words.size(), row, limit));
    }
    if (row >= rows.size()) rows.resize(row + 1);
    if (rows[row] && *rows[row] != word && !replace) {
      return absl::InvalidArgumentError(fmt::format("row {} is claimed by the words {} and {}", row,
                                                    Quoted(*rows[row]), Quoted(word)));
    }
    rows[row] = word;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::optional<std::string>>> ParseVocabulary(std::string_view json) {
  VocabularyVisitor found;
  VT_RETURN_IF_ERROR(ScanJson(json, found));
  std::vector<std::optional<std::string>> rows;
  const bool tokenizer = !found.model_vocab.empty();
  if (!tokenizer && (found.members.empty() || found.has_other_members)) {
    return absl::InvalidArgumentError(
        "is neither a vocabulary ({WORD: row, ...}) nor a tokenizer.json with one");
  }
  VT_RETURN_IF_ERROR(Place(tokenizer ? found.model_vocab : found.members, false, rows));
  // Added tokens name their rows again, or rows of their own.
  VT_RETURN_IF_ERROR(Place(found.added_tokens, true, rows));
  return rows;
}

absl::StatusOr<std::string> ReadJson(ByteSource& bytes) {
  std::string text;
  while (true) {
    const size_t had = text.size();
    text.resize(had + (size_t{1} << 20));
    absl::StatusOr<size_t> got = bytes.ReadFull(std::span(text).subspan(had));
    if (!got.ok()) return Annotate(got.status(), bytes.name());
    text.resize(had + *got);
    if (*got == 0) return text;
    if (text.size() > kMaxJsonBytes) {
      return absl::InvalidArgumentError(
          fmt::format("{}: a vocabulary in JSON of more than {} bytes, the limit", bytes.name(),
                      kMaxJsonBytes));
    }
  }
}

// Number of the last line that isn't empty.
absl::StatusOr<uint64_t> CountLines(LineSource& lines) {
  uint64_t last = 0;
  std::string_view line;
  while (true) {
    const absl::StatusOr<bool> more = lines.Next(line);
    if (!more.ok() && !absl::IsInvalidArgument(more.status())) return more.status();
    if (more.ok() && !*more) return last;
    if (!more.ok() || !line.empty()) last = lines.line_number();
  }
}

absl::StatusOr<std::unique_ptr<WordList>> OpenText(std::unique_ptr<ByteSource> bytes,
                                                   const WordRules& rules) {
  const std::string path = bytes->path();
  const bool again = bytes->total_bytes().has_value();  // it can be read twice
  VT_ASSIGN_OR_RETURN(std::unique_ptr<LineSource> lines,
                      LineSource::Open(std::move(bytes), kMaxWordLineBytes));
  std::optional<uint64_t> size;
  if (again) {
    VT_ASSIGN_OR_RETURN(size, CountLines(*lines));
    VT_ASSIGN_OR_RETURN(lines, OpenLines(path));
  }
  VT_ASSIGN_OR_RETURN(const std::string_view start, lines->PeekLine());
  if (!absl::StrContains({start.data(), start.size()}, '\t')) {
    return std::make_unique<TextWordList>(std::move(lines), rules, std::nullopt, size);
  }
  const size_t column = WordColumn(start);
  std::string_view header;
  VT_RETURN_IF_ERROR(lines->Next(header).status());
  if (size) --*size;
  return std::make_unique<TextWordList>(std::move(lines), rules, column, size);
}

}  // namespace

absl::StatusOr<std::unique_ptr<WordList>> WordList::Open(const std::string& path,
                                                         const WordRules& rules) {
  VT_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes, ByteSource::Open(path));
  const absl::StatusOr<std::string_view> peeked = bytes->Peek(64);
  if (!peeked.ok()) return Annotate(peeked.status(), bytes->name());
  std::string_view start = *peeked;
  if (start.starts_with("\xEF\xBB\xBF")) start.remove_prefix(3);
  const size_t begin = start.find_first_not_of(" \t\r\n");
  // A word may be "{": a JSON object goes on with a key or ends.
  const std::string_view rest = begin == start.npos ? "" : start.substr(begin);
  const size_t next = rest.size() > 1 ? rest.find_first_not_of(" \t\r\n", 1) : rest.npos;
  const bool json = rest.starts_with('{') && next != rest.npos && rest[next] == '"';
  if (!json) return OpenText(std::move(bytes), rules);
  VT_ASSIGN_OR_RETURN(const std::string text, ReadJson(*bytes));
  absl::StatusOr<std::vector<std::optional<std::string>>> words = ParseVocabulary(text);
  if (!words.ok()) return Annotate(words.status(), bytes->name());
  return Of(*std::move(words), "words from " + bytes->name(), rules);
}

std::unique_ptr<WordList> WordList::Of(std::vector<std::optional<std::string>> words,
                                       const std::string& description, const WordRules& rules) {
  return std::make_unique<KnownWordList>(std::move(words), description, rules);
}

std::unique_ptr<WordList> WordList::Numbers() { return std::make_unique<NumberWordList>(); }

std::string FindWordsBeside(const std::string& path, bool model) {
  if (path == "-") return {};
  fs::path file(path);
  if (file.extension() == ".gz" || file.extension() == ".zst") file.replace_extension();
  const fs::path folder = file.parent_path();
  std::vector<fs::path> candidates;
  for (const std::string& name : {file.filename().string(), file.stem().string()}) {
    for (const char* const ending : {".words.txt", ".metadata.tsv"}) {
      candidates.push_back(folder / (name + ending));
    }
  }
  if (file.extension() == ".tsv") candidates.push_back(folder / "metadata.tsv");
  if (model) {
    for (const char* const name : {"tokenizer.json", "vocab.json", "vocab.txt"}) {
      candidates.push_back(folder / name);
    }
  }
  for (const fs::path& candidate : candidates) {
    std::error_code ignored;
    if (candidate != fs::path(path) && fs::is_regular_file(candidate, ignored))
      return candidate.string();
  }
  return {};
}

}  // namespace vectable
