#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sizing/tensor_info.h"

namespace vectable {

// The format's own limit.
inline constexpr uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;

// Tensors that a file's writer left out, each being tied to one that it kept; of "__metadata__",
// which says so as {"lm_head.weight": "model.embed_tokens.weight"}. The first kMaxTiedNames of
// names up to kMaxTiedNameBytes; there may be other texts, which are of no use here.
using TiedNames = std::map<std::string, std::string>;
inline constexpr size_t kMaxTiedNames = 100;
inline constexpr size_t kMaxTiedNameBytes = 1'000;

// The header of a .safetensors file: 8 bytes of its length, little-endian, then JSON, then the
// tensors' bytes without holes.
struct SafetensorsHeader {
  uint64_t header_bytes = 0;  // with the 8 of its length
  uint64_t data_bytes = 0;
  std::vector<TensorInfo> tensors;  // in the order of their bytes
  TiedNames left_out;
};

// Bits of an element of the type ("F16": 16), or 0 for an unknown one.
uint32_t SafetensorsTypeBits(std::string_view type);

// Reads the header's JSON, for a file that holds `data_bytes` after it. INVALID_ARGUMENT, naming
// the tensor and the numbers, for what isn't such a header: a type that isn't known, bytes that
// aren't those of the shape, offsets that overlap, leave a hole or pass the end, a name twice, more
// than kMaxTensors; OUT_OF_RANGE when a count doesn't fit 64 bits.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json,
                                                         uint64_t data_bytes);

// Reads the header of a file, and no weights. Errors as above, and those of PartialFile.
absl::StatusOr<SafetensorsHeader> ReadSafetensorsHeader(const std::string& path);

// A model of several files, named by a model.safetensors.index.json.
struct SafetensorsShards {
  uint64_t files = 0;
  uint64_t header_bytes = 0;  // of all files
  std::vector<TensorInfo> tensors;
  TiedNames left_out;     // of all files
  uint64_t unlisted = 0;  // tensors of the files that the index doesn't list; not among `tensors`
};

// Reads the index and the headers of the files that it names, beside it. INVALID_ARGUMENT names a
// missing shard, a tensor that is listed but absent, one that is in another shard than listed or in
// two, and a shard whose name leads out of the folder.
absl::StatusOr<SafetensorsShards> ReadSafetensorsIndex(const std::string& path);

}  // namespace vectable
