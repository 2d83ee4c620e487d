#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/formats/parse_float.h"
#include "client/formats/writers.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

constexpr std::string_view kLeadingMark = "\xEF\xBB\xBF";

// The shortest text that reads back to the same fp32 value.
void AppendValue(float value, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{}", value);
}

void AppendValues(std::span<const float> vector, char separator, std::string& out) {
  for (size_t i = 0; i < vector.size(); ++i) {
    if (i > 0) out += separator;
    AppendValue(vector[i], out);
  }
}

bool IsBlankByte(char c) { return c == ' ' || c == '\t'; }

// GloVe's and word2vec's text.
class SpacedWriter final : public VectorWriter {
 public:
  SpacedWriter(std::unique_ptr<OutputFile> file, const WriteOptions& options, bool with_counts)
      : file_(std::move(file)), options_(options), with_counts_(with_counts) {}

  absl::Status Begin() {
    if (!with_counts_) return absl::OkStatus();
    header_ = fmt::format("{} {}\n", options_.rows, options_.dimensions);
    return file_->Write(header_);
  }

  absl::Status Add(std::string_view word, std::span<const float> vector) override {
    VT_RETURN_IF_ERROR(with_counts_ ? CheckHolds(word, " \t\r\n", "word2vec's text")
                                    : CheckHolds(word, "\r\n", "GloVe's text"));
    if (IsBlankByte(word.front()) || IsBlankByte(word.back())) {
      return absl::InvalidArgumentError(
          fmt::format("word {} can't be written in GloVe's text: it begins or ends with a blank",
                      Quoted(word)));
    }
    if (const size_t blank = word.find_last_of(" \t"); blank != word.npos) {
      float ignored = 0;
      const FloatText kind = ParseFloat(word.substr(blank + 1), ignored);
      if (kind == FloatText::kOk || kind == FloatText::kOutOfRange) {
        return absl::InvalidArgumentError(fmt::format(
            "word {} can't be written in GloVe's text: it ends in a number, which would "
            "be read as a value",
            Quoted(word)));
      }
    }
    line_.clear();
    // A reader takes one mark off the beginning of a text.
    if (rows_ == 0 && !with_counts_ && word.starts_with(kLeadingMark)) line_ += kLeadingMark;
    line_ += word;
    line_ += ' ';
    const size_t begin = line_.size();
    AppendValues(vector, ' ', line_);
    // "3 1" would be read as a header.
    if (rows_ == 0 && vector.size() == 1 && line_.find_first_of(".en", begin) == line_.npos) {
      line_ += ".0";
    }
    line_ += '\n';
    ++rows_;
    return file_->Write(line_);
  }

  absl::Status Finish() override {
    if (with_counts_) {
      VT_RETURN_IF_ERROR(
          WriteCounts(*file_, header_, fmt::format("{} {}\n", rows_, options_.dimensions)));
    }
    return file_->Commit();
  }

  std::vector<std::string> files() const override { return {file_->name()}; }

 private:
  const std::unique_ptr<OutputFile> file_;
  const WriteOptions options_;
  const bool with_counts_;
  std::string header_;
  std::string line_;
  uint64_t rows_ = 0;
};

class JsonLinesWriter final : public VectorWriter {
 public:
  explicit JsonLinesWriter(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {}

  absl::Status Add(std::string_view word, std::span<const float> vector) override {
    line_ = fmt::format("{{\"word\": {}, \"vector\": [", nlohmann::json(word).dump());
    for (size_t i = 0; i < vector.size(); ++i) {
      if (i > 0) line_ += ", ";
      AppendValue(vector[i], line_);
      // "-0" is a whole number to JSON's readers, which have no sign for it.
      if (line_.ends_with("-0")) line_ += ".0";
    }
    line_ += "]}\n";
    return file_->Write(line_);
  }

  absl::Status Finish() override { return file_->Commit(); }
  std::vector<std::string> files() const override { return {file_->name()}; }

 private:
  const std::unique_ptr<OutputFile> file_;
  std::string line_;
};

// The vectors of the projector; its metadata is the words' file.
class ProjectorWriter final : public VectorWriter {
 public:
  ProjectorWriter(std::unique_ptr<OutputFile> file, std::unique_ptr<WordsFile> words)
      : file_(std::move(file)), words_(std::move(words)) {}

  absl::Status Add(std::string_view word, std::span<const float> vector) override {
    VT_RETURN_IF_ERROR(CheckHolds(word, "\t\r\n", "the projector's metadata"));
    VT_RETURN_IF_ERROR(words_->Add(word));
    line_.clear();
    AppendValues(vector, '\t', line_);
    line_ += '\n';
    return file_->Write(line_);
  }

  absl::Status Finish() override {
    VT_RETURN_IF_ERROR(words_->Sync());
    VT_RETURN_IF_ERROR(file_->Sync());
    VT_RETURN_IF_ERROR(words_->Finish());
    return file_->Commit();
  }
  std::vector<std::string> files() const override { return {file_->name(), words_->name()}; }

 private:
  const std::unique_ptr<OutputFile> file_;
  const std::unique_ptr<WordsFile> words_;
  std::string line_;
};

absl::StatusOr<std::unique_ptr<VectorWriter>> MakeSpaced(const std::string& path,
                                                         const WriteOptions& options,
                                                         bool with_counts) {
  VT_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::Create(path));
  auto writer = std::make_unique<SpacedWriter>(std::move(file), options, with_counts);
  VT_RETURN_IF_ERROR(writer->Begin());
  return writer;
}

}  // namespace

absl::Status CheckHolds(std::string_view word, std::string_view forbidden,
                        std::string_view format) {
  const size_t found = word.find_first_of(forbidden);
  if (found == word.npos) return absl::OkStatus();
  const char* const what = word[found] == ' '    ? "a blank"
                           : word[found] == '\t' ? "a tab"
                                                 : "a line break";
  return absl::InvalidArgumentError(
      fmt::format("word {} can't be written in {}: it holds {}", Quoted(word), format, what));
}

// The counts in their old place, and as wide: leading blanks and zeros mean nothing to readers.
absl::Status WriteCounts(OutputFile& file, std::string_view expected, const std::string& counts) {
  if (counts == expected) return absl::OkStatus();
  if (!file.seekable() || counts.size() > expected.size()) {
    return absl::AbortedError(fmt::format(
        "{}: the table was changed meanwhile, and the header is written; try again (expected {}, "
        "found {})",
        file.name(), Quoted(expected), Quoted(counts)));
  }
  return file.WriteAt(0, std::string(expected.size() - counts.size(), '0') + counts);
}

absl::StatusOr<std::unique_ptr<WordsFile>> WordsFile::Create(const std::string& path) {
  VT_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::Create(path));
  return std::unique_ptr<WordsFile>(new WordsFile(std::move(file)));
}

absl::Status WordsFile::Add(std::string_view word) {
  VT_RETURN_IF_ERROR(CheckHolds(word, "\r\n", "a file of words"));
  if (file_->bytes() == 0) {
    // What a reader would take for the projector's columns, or for JSON.
    VT_RETURN_IF_ERROR(CheckHolds(word, "\t", "the first line of a file of words"));
    if (word.starts_with('{')) {
      return absl::InvalidArgumentError(fmt::format(
          "word {} can't be written in the first line of a file of words: it begins with {{",
          Quoted(word)));
    }
  }
  line_.clear();
  if (file_->bytes() == 0 && word.starts_with(kLeadingMark)) line_ += kLeadingMark;
  line_ += word;
  line_ += '\n';
  return file_->Write(line_);
}

absl::StatusOr<std::unique_ptr<VectorWriter>> MakeGlove(const std::string& path,
                                                        const WriteOptions& options) {
  return MakeSpaced(path, options, /*with_counts=*/false);
}

absl::StatusOr<std::unique_ptr<VectorWriter>> MakeWord2vec(const std::string& path,
                                                           const WriteOptions& options) {
  return MakeSpaced(path, options, /*with_counts=*/true);
}

absl::StatusOr<std::unique_ptr<VectorWriter>> MakeJsonLines(const std::string& path,
                                                            const WriteOptions& /*options*/) {
  VT_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::Create(path));
  return std::make_unique<JsonLinesWriter>(std::move(file));
}

absl::StatusOr<std::unique_ptr<VectorWriter>> MakeProjector(const std::string& path,
                                                            const WriteOptions& /*options*/) {
  VT_ASSIGN_OR_RETURN(const std::string beside, PathBeside(path, ".metadata.tsv"));
  VT_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::Create(path));
  VT_ASSIGN_OR_RETURN(std::unique_ptr<WordsFile> words, WordsFile::Create(beside));
  return std::make_unique<ProjectorWriter>(std::move(file), std::move(words));
}

}  // namespace vectable
