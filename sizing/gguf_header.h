#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sizing/tensor_info.h"

namespace vectable {

// The header of a GGUF file, version 2 or 3, little-endian. Shapes are in ggml's order: the row's
// length first.
struct GgufHeader {
  uint32_t version = 0;
  std::string architecture;   // general.architecture; empty: not given
  std::string name;           // general.name; empty: not given
  uint64_t split = 0;         // split.no: which part of a split model this is, from 0
  uint64_t splits = 0;        // split.count: parts of the model; 0 and 1: it isn't split
  uint64_t header_bytes = 0;  // up to the tensors' bytes
  std::vector<TensorInfo> tensors;
  std::vector<std::string> tokens;  // tokenizer.ggml.tokens, if asked for
};

// Reads the header of a file, and no weights; arrays (vocabularies, merges) are passed over, but
// for the tokens where they are asked for.
// INVALID_ARGUMENT, with the number and the limit, for what isn't such a header: another magic or
// version, a length or a count beyond the file or its limit, a tensor of an unknown type, of more
// than 4 dimensions, whose rows aren't whole blocks, or whose bytes pass the end or overlap
// another's; OUT_OF_RANGE when a count doesn't fit 64 bits; and the errors of PartialFile.
absl::StatusOr<GgufHeader> ReadGgufHeader(const std::string& path, bool with_tokens = false);

// A ggml type: so many elements take so many bytes.
struct GgmlType {
  uint32_t number = 0;
  const char* name = nullptr;
  uint32_t block_elements = 0;
  uint32_t block_bytes = 0;
};
// The type of that number, or null.
const GgmlType* FindGgmlType(uint32_t number);

}  // namespace vectable
