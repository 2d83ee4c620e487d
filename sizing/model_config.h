#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sizing/transformer.h"

namespace vectable {

inline constexpr size_t kMaxConfigBytes = size_t{16} << 20;

// A model as its Hugging Face config.json describes it.
struct ModelConfig {
  std::string family;        // model_type: "llama"
  std::string architecture;  // the first of "architectures"; empty: not given
  TransformerSpec spec;
  // tie_word_embeddings, or the family's default. spec.tied is also true where no head is counted.
  bool tied = true;
  std::vector<std::string> notes;  // what was taken for granted, a sentence each
};

// Reads the text of a config.json: families gpt2, bert, llama, mistral, mixtral, qwen2, gemma and
// gemma2. "architectures" tells the head: a causal model's is counted unless the architecture is
// the bare model; a BERT has its pooler unless a masked-LM head takes its place. INVALID_ARGUMENT
// for a text over kMaxConfigBytes or not JSON, an unknown family (with the known ones), missing
// fields (all of them), a field of a wrong type, and numbers that make no model.
absl::StatusOr<ModelConfig> ParseModelConfig(std::string_view text);

}  // namespace vectable
