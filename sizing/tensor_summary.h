#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sizing/tensor_info.h"
#include "sizing/transformer.h"

namespace vectable {

struct TensorTotals {
  uint64_t tensors = 0;
  uint64_t elements = 0;
  uint64_t bytes = 0;
};

// Weights packed into integers: bytes with their scales and zeros.
struct PackedTotals {
  uint64_t tensors = 0;
  uint64_t bytes = 0;
  uint64_t parameters = 0;           // that those tensors decode to whose headers tell it
  uint64_t undecoded = 0;            // tensors whose headers don't
  std::vector<std::string> schemes;  // "GPTQ 4-bit"
};

// What a model's files hold.
struct TensorSummary {
  std::string format;  // "safetensors", "GGUF v3"
  uint64_t files = 1;
  uint64_t header_bytes = 0;                  // read; nothing else of the files is
  TensorTotals all;                           // as stored
  std::map<std::string, TensorTotals> types;  // by the format's name of the type
  TensorTotals buffers;                       // no parameters: masks, rotary frequencies
  TensorTotals tied;                          // stored a second time; not counted
  PackedTotals packed;                        // tensors == 0: there are none

  ParameterParts parts;
  uint64_t total = 0;  // sum of the parts; without packed.undecoded
  std::vector<std::string> notes;
};

// Sums the tensors of one model. `tied` says whether the output head is the token embedding, where
// that is known; else GPT-2's and BERT's names imply it. OUT_OF_RANGE when a sum doesn't fit 64
// bits, INVALID_ARGUMENT when there is no tensor.
absl::StatusOr<TensorSummary> SummarizeTensors(const std::vector<TensorInfo>& tensors,
                                               std::optional<bool> tied);

}  // namespace vectable
