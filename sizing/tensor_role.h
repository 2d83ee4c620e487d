#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace vectable {

// What a tensor is for, told by its name as Hugging Face's and PyTorch's models and GGUF files have
// it (GPT-2, BERT, Llama and its likes, torch.nn's transformer layers).
enum class TensorRole : uint8_t {
  kEmbedding,
  kPositions,
  kAttention,
  kMlp,
  kNorm,
  kHead,
  kOther,   // a name that isn't known
  kBuffer,  // no parameter: a causal mask, rotary frequencies, position ids
};

TensorRole RoleOfTensor(std::string_view name, const std::vector<uint64_t>& shape);

}  // namespace vectable
