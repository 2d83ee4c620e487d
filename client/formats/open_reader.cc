#include "client/formats/open_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "client/formats/byte_source.h"
#include "client/formats/formats.h"
#include "client/formats/recognise.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

using OpenFormat = absl::StatusOr<std::unique_ptr<VectorReader>> (*)(std::unique_ptr<ByteSource>,
                                                                     const ReadOptions&);

struct Format {
  const char* name;
  OpenFormat open;
};

constexpr std::array<Format, 17> kFormats = {{
    {"text",
     [](std::unique_ptr<ByteSource> bytes, const ReadOptions& options) {
       return OpenGlove(std::move(bytes), options, TextHeader::kFoundOut);
     }},
    {"glove",
     [](std::unique_ptr<ByteSource> bytes, const ReadOptions& options) {
       return OpenGlove(std::move(bytes), options, TextHeader::kNone);
     }},
    {"word2vec",
     [](std::unique_ptr<ByteSource> bytes, const ReadOptions& options) {
       return OpenGlove(std::move(bytes), options, TextHeader::kCounts);
     }},
    {"fasttext",
     [](std::unique_ptr<ByteSource> bytes, const ReadOptions& options) {
       return OpenGlove(std::move(bytes), options, TextHeader::kCounts);
     }},
    {"word2vec-bin", OpenWord2vecBinary},
    {"fasttext-bin", OpenFasttextBinary},
    {"tsv", OpenProjector},
    {"csv", OpenCsv},
    {"jsonl", OpenJsonLines},
    {"npy", OpenNpy},
    {"safetensors", OpenSafetensors},
    {"gguf", OpenGguf},
    {"hdf5", OpenHdf5},
    {"fvecs", OpenFvecs},
    {"bvecs", OpenBvecs},
    {"fbin", OpenFbin},
    {"faiss", OpenFaissFlat},
}};

const Format* FindFormat(std::string_view name) {
  for (const Format& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> VectorFormats() {
  std::vector<std::string> names = {"auto"};
  for (const Format& format : kFormats) {
    names.emplace_back(format.name);
  }
  return names;
}

absl::StatusOr<std::unique_ptr<VectorReader>> OpenVectorReader(const std::string& path,
                                                               const ReadOptions& options) {
  const Format* format = FindFormat(options.format);
  if (format == nullptr && options.format != "auto") {
    return absl::InvalidArgumentError("unknown format " + Quoted(options.format));
  }
  VT_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes,
                      ByteSource::Open(path, options.interrupted));
  if (format == nullptr) {
    VT_ASSIGN_OR_RETURN(const std::string name, RecogniseFormat(*bytes, options));
    format = FindFormat(name);
  } else if (const std::string other = OtherFormat(*bytes, options.format); !other.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: isn't {}, but seems to be {} (expected {}, "
                    "found {})",
                    bytes->name(), options.format, other, options.format, other));
  }
  return format->open(std::move(bytes), options);
}

}  // namespace vectable
