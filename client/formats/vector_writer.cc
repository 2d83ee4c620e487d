#include "client/formats/vector_writer.h"

#include <array>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "client/formats/writers.h"
#include "common/names.h"

namespace vectable {
namespace {

struct WriterFormat {
  const char* name;
  MakeWriter make;
};

constexpr std::array<WriterFormat, 9> kWriters = {{
    {"glove", MakeGlove},
    {"word2vec", MakeWord2vec},
    {"word2vec-bin", MakeWord2vecBinary},
    {"tsv", MakeProjector},
    {"jsonl", MakeJsonLines},
    {"npy", MakeNpy},
    {"safetensors", MakeSafetensors},
    {"fvecs", MakeFvecs},
    {"faiss", MakeFaissFlat},
}};

struct FileEnding {
  std::string_view ending;
  const char* format;
};

constexpr std::array<FileEnding, 13> kEndings = {{
    {".txt", "glove"},
    {".glove", "glove"},
    {".vec", "word2vec"},
    {".w2v", "word2vec"},
    {".bin", "word2vec-bin"},
    {".tsv", "tsv"},
    {".jsonl", "jsonl"},
    {".ndjson", "jsonl"},
    {".npy", "npy"},
    {".safetensors", "safetensors"},
    {".fvecs", "fvecs"},
    {".faiss", "faiss"},
    {".index", "faiss"},
}};

}  // namespace

std::vector<std::string> WriterFormats() {
  std::vector<std::string> names;
  for (const WriterFormat& writer : kWriters) names.emplace_back(writer.name);
  return names;
}

std::optional<std::string> WriterFormatFor(const std::string& path) {
  const std::string ending =
      absl::AsciiStrToLower(std::filesystem::path(path).extension().string());
  for (const FileEnding& known : kEndings) {
    if (known.ending == ending) return known.format;
  }
  return std::nullopt;
}

absl::StatusOr<std::string> PathBeside(const std::string& path, std::string_view ending) {
  if (path == "-") {
    return absl::InvalidArgumentError(
        "the format has a second file for the words, which standard output has no place for");
  }
  return path + std::string(ending);
}

absl::StatusOr<std::unique_ptr<VectorWriter>> OpenVectorWriter(const std::string& path,
                                                               const std::string& format,
                                                               const WriteOptions& options) {
  for (const WriterFormat& writer : kWriters) {
    if (writer.name == format) return writer.make(path, options);
  }
  return absl::InvalidArgumentError("unknown format " + Quoted(format));
}

}  // namespace vectable
