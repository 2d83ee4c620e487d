// Segment files and index manifests. The input is changes to a good segment file, or a manifest;
// the checksum of the header is made to fit, so that what comes after it is reached.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/bytes.h"
#include "common/vector_codec.h"
#include "index/faiss_backend.h"
#include "index/index_directory.h"
#include "index/sealed_segment.h"
#include "index/segment_builder.h"
#include "index/segment_file.h"
#include "index/table_index.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support/temp_dir.h"

namespace vectable {
namespace {

constexpr uint32_t kDimensions = 8;
constexpr size_t kRows = 300;  // with a graph
constexpr size_t kHeaderBytes = 4096;

const VectorCodec& Codec() {
  static const VectorCodec codec(Precision::kFp16, kDimensions);
  return codec;
}

// The bytes of a good file.
const std::string& GoodFile() {
  static const std::string* const bytes = [] {
    const TempDir folder;
    const auto backend = MakeFaissBackend();
    TableIndex index(Metric::kCosine, Codec(), *backend);
    for (size_t row = 0; row < kRows; ++row) {
      std::vector<float> vector(kDimensions);
      for (size_t d = 0; d < kDimensions; ++d) {
        vector[d] = static_cast<float>((row * 7919 + d * 104'729) % 257) - 128.5F;
      }
      std::string codes;
      Require(Codec().Encode(vector, codes).ok());
      index.Put(row, "w" + std::to_string(row), codes);
    }
    index.Publish(1);
    MergeWish wish;
    wish.everything = true;
    const auto plan = index.PlanMerge(wish);
    Require(plan.has_value());
    std::vector<SegmentSource> sources;
    for (const auto& part : plan->sources) sources.push_back({part.segment, part.slots});
    SegmentBuildOptions options;
    options.path = folder.path() + "/1.segment";
    options.graph_rows = 1;
    Require(BuildSegment(Metric::kCosine, Codec(), sources, plan->version, options).ok());
    std::ifstream file(options.path, std::ios::binary);
    return new std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return *bytes;
}

// Each six bytes of the input: where (four; the header half of the time), what, and how.
std::string Changed(std::string_view input) {
  std::string bytes = GoodFile();
  for (; input.size() >= 6; input.remove_prefix(6)) {
    uint32_t place = 0;
    std::memcpy(&place, input.data(), sizeof(place));
    const auto how = static_cast<uint8_t>(input[5]);
    place %=
        static_cast<uint32_t>((how & 1) != 0 ? std::min<size_t>(600, bytes.size()) : bytes.size());
    if (how == 0xFE) {
      bytes.resize(place + 1);
    } else {
      bytes[place] = input[4];
    }
  }
  if (bytes.size() >= kHeaderBytes) {
    const uint64_t hash = XXH3_64bits(bytes.data(), kHeaderBytes - sizeof(uint64_t));
    std::memcpy(bytes.data() + kHeaderBytes - sizeof(hash), &hash, sizeof(hash));
  }
  return bytes;
}

void OpenASegment(std::string_view input) {
  const MemoryFile file(Changed(input));
  auto reader = SegmentReader::Open(file.path());
  if (!reader.ok()) return;
  const auto segment = SealedSegment::Open(*std::move(reader), Metric::kCosine, Codec());
  if (!segment.ok()) return;
  const size_t slots = (*segment)->slots();
  (void)(*segment)->CheckCodes().ok();
  for (size_t slot = 0; slot < slots; slot += 1 + slots / 16) {
    if (!(*segment)->IsWhole(slot)) continue;
    const std::string_view word = (*segment)->Word(slot);
    (void)(*segment)->FindWord(word, slots, 1);
    (void)(*segment)->FindRowId(slot, slots, 1);
  }
}

void OpenAManifest(std::string_view input) {
  static const TempDir folder;
  const std::string path = folder.path() + "/index";
  std::filesystem::create_directories(path);
  std::string bytes(input);
  PutU64Le(bytes, XXH3_64bits(input.data(), input.size()));
  std::ofstream(path + "/MANIFEST", std::ios::binary | std::ios::trunc) << bytes;
  const IndexDirectory directory(path);
  (void)directory.ReadManifest().ok();
}

}  // namespace
}  // namespace vectable

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input = vectable::InputOf(data + 1, size - 1);
  if (data[0] % 4 == 0) {
    vectable::OpenAManifest(input);
  } else {
    vectable::OpenASegment(input);
  }
  return 0;
}
