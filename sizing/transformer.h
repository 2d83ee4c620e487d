#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vectable {

// LayerNorm has a weight and a bias per component (2d parameters), RMSNorm a weight (d).
enum class NormKind : uint8_t { kLayerNorm = 1, kRmsNorm = 2 };

// The shape of a transformer: everything that its parameter count and its memory depend on. The
// defaults are GPT-2's choices: LayerNorm, biases everywhere, plain MLP, tied head.
struct TransformerSpec {
  uint64_t vocab = 0;        // rows of the token embedding; 0: none
  uint64_t positions = 0;    // rows of learned positions; 0 for rotary or fixed ones
  uint64_t token_types = 0;  // rows of BERT's segment embedding
  uint64_t d = 0;            // components of a token's vector; 1 or more

  uint64_t layers = 0;        // layers of self-attention and MLP
  uint64_t cross_layers = 0;  // layers of self-attention, cross-attention and MLP
  uint64_t heads = 0;         // query heads; 1 or more if there are layers
  uint64_t kv_heads = 0;      // key/value heads, a divisor of heads; 0: as many as heads
  uint64_t head_dim = 0;      // 0: d / heads, which must divide; heads x head_dim needn't be d
  uint64_t ffn = 0;           // width of the MLP; 0: the layers have none
  bool gated = false;         // MLP of three matrices instead of two
  bool qkv_bias = true;
  bool output_bias = true;  // of the attention's output
  bool mlp_bias = true;
  uint64_t experts = 0;         // MLPs per layer, with a router of d x experts; 0: one, no router
  uint64_t active_experts = 0;  // of which each token uses so many; set if experts is

  NormKind norm = NormKind::kLayerNorm;
  uint64_t norms_per_layer = 2;  // a cross layer has one more
  uint64_t final_norms = 1;      // after the last layer; nn.Transformer has one per stack
  bool embedding_norm = false;

  bool tied = true;                 // the output head is the token embedding; else vocab x d more
  bool head_bias = false;           // vocab
  bool pooler = false;              // BERT's dense layer on the first token: d x d + d
  bool masked_lm_head = false;      // BERT's: dense d x d + d, norm, bias of vocab; decoder tied
  bool next_sentence_head = false;  // BERT's: 2d + 2

  bool causal = true;          // keeps keys and values while it generates; false for an encoder
  uint64_t window = 0;         // attends to so many last tokens; 0: all
  uint64_t global_layers = 0;  // of `layers`, those that don't keep to the window
};

// Where parameters are. Token types count in `positions`, a router in `mlp`, a pooler and all of
// BERT's heads (their norm too) in `head`; `other` is what a file's names don't tell.
struct ParameterParts {
  uint64_t embedding = 0;
  uint64_t positions = 0;
  uint64_t attention = 0;
  uint64_t mlp = 0;
  uint64_t norm = 0;
  uint64_t head = 0;
  uint64_t other = 0;
};

struct ParameterCounts {
  ParameterParts parts;  // add up to total
  uint64_t total = 0;
  uint64_t active = 0;     // used by one token: total without the experts it passes by
  uint64_t per_layer = 0;  // of one of `layers`; 0 if there are none
  uint64_t per_cross_layer = 0;
  uint64_t non_embedding = 0;   // total - embedding - positions - head
  uint64_t largest_module = 0;  // of the largest single matrix, with its bias
};

// The largest value that any field of a spec may have.
inline constexpr uint64_t kMaxSpecValue = 1'000'000'000;

// The spec with its zero defaults (kv_heads, head_dim) filled in. INVALID_ARGUMENT names the field
// that is missing, over kMaxSpecValue, or doesn't divide.
absl::StatusOr<TransformerSpec> CompleteSpec(const TransformerSpec& spec);

// Exact counts, with h heads and g kv heads of c components, f = ffn:
//   attention  d*h*c + 2*d*g*c + h*c*d, biases h*c + 2*g*c and d
//   MLP        2*d*f, gated 3*d*f, biases f (gated 2f) and d
//   norm       2d or d
// INVALID_ARGUMENT as CompleteSpec; OUT_OF_RANGE when a count doesn't fit 64 bits.
absl::StatusOr<ParameterCounts> CountParameters(const TransformerSpec& spec);

// The rule of thumb, vocab x d + 12 x layers x d^2: an estimate. It knows no biases, norms,
// positions, grouped heads or gated MLPs, and no untied head.
struct RuleOfThumb {
  uint64_t total = 0;
  double error_percent = 0;  // (estimate - exact) / exact x 100
  bool untied = false;       // then also with the head's vocab x d added:
  uint64_t total_with_head = 0;
  double error_percent_with_head = 0;
};
// OUT_OF_RANGE when it doesn't fit 64 bits. Layers of all kinds count as one.
absl::StatusOr<RuleOfThumb> EstimateParameters(const TransformerSpec& spec, uint64_t exact_total);

}  // namespace vectable
