#include "sizing/tensor_role.h"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace vectable {
namespace {

// No model's names have as many; beyond them the rest of a name is one component.
constexpr size_t kMaxNameComponents = 24;

std::vector<std::string_view> NameComponents(std::string_view name) {
  std::vector<std::string_view> components;
  components.reserve(8);
  size_t begin = 0;
  for (size_t dot = name.find('.');
       dot != std::string_view::npos && components.size() + 1 < kMaxNameComponents;
       dot = name.find('.', begin)) {
    components.push_back(name.substr(begin, dot - begin));
    begin = dot + 1;
  }
  components.push_back(name.substr(begin));
  return components;
}

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

bool HasOneOf(const std::vector<std::string_view>& components,
              std::initializer_list<std::string_view> names) {
  return std::any_of(components.begin(), components.end(),
                     [names](std::string_view one) { return IsOneOf(one, names); });
}

bool StartsAny(const std::vector<std::string_view>& components, std::string_view prefix) {
  return std::any_of(components.begin(), components.end(),
                     [prefix](std::string_view one) { return one.starts_with(prefix); });
}

// GPT-2's files hold each layer's causal mask, 1 x 1 x n x n, under the name of a bias.
bool IsCausalMask(std::string_view name, const std::vector<uint64_t>& shape) {
  return name.ends_with("attn.masked_bias") ||
         (name.ends_with("attn.bias") && shape.size() == 4 && shape[0] == 1 && shape[1] == 1);
}

bool IsBuffer(std::string_view name, const std::vector<uint64_t>& shape) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return IsOneOf(last, {"inv_freq", "position_ids", "num_batches_tracked"}) ||
         name.starts_with("rope_freqs.") || name.starts_with("rope_factors_") ||
         IsCausalMask(name, shape);
}

bool IsNormComponent(std::string_view component) {
  if (component == "ln" || component.starts_with("ln_")) return true;
  constexpr std::string_view kNorm = "norm";
  const auto same_letter = [](char any, char small) { return (any | 0x20) == small; };
  return std::search(component.begin(), component.end(), kNorm.begin(), kNorm.end(), same_letter) !=
         component.end();
}

}  // namespace

TensorRole RoleOfTensor(std::string_view name, const std::vector<uint64_t>& shape) {
  if (IsBuffer(name, shape)) return TensorRole::kBuffer;
  const std::vector<std::string_view> components = NameComponents(name);
  // "output" is GGUF's head, but a part of BERT's layers.
  if (components.front() == "output" ||
      HasOneOf(components,
               {"lm_head", "embed_out", "pooler", "cls", "classifier", "score", "qa_outputs"})) {
    return TensorRole::kHead;
  }
  if (HasOneOf(components, {"wpe", "position_embeddings", "token_type_embeddings",
                            "embed_positions", "position_embd", "token_types"})) {
    return TensorRole::kPositions;
  }
  if (HasOneOf(components, {"wte", "word_embeddings", "embed_tokens", "embed_in", "token_embd",
                            "tok_embeddings"})) {
    return TensorRole::kEmbedding;
  }
  if (std::any_of(components.begin(), components.end(), IsNormComponent)) {
    return TensorRole::kNorm;
  }
  if (HasOneOf(components, {"attn", "attention", "self_attn", "multihead_attn", "cross_attn",
                            "crossattention", "encoder_attn"}) ||
      StartsAny(components, "attn_")) {
    return TensorRole::kAttention;
  }
  if (HasOneOf(components, {"mlp", "block_sparse_moe", "experts", "feed_forward", "intermediate",
                            "output", "linear1", "linear2", "fc1", "fc2"}) ||
      StartsAny(components, "ffn_")) {
    return TensorRole::kMlp;
  }
  return TensorRole::kOther;
}

}  // namespace vectable
