#include "sizing/layers.h"

#include "common/status_util.h"
#include "sizing/checked.h"
#include "sizing/transformer.h"

namespace vectable {

absl::StatusOr<LinearCounts> CountLinear(const LinearLayer& layer) {
  if (layer.inputs == 0 || layer.outputs == 0) {
    return absl::InvalidArgumentError("a linear layer needs 1 or more inputs and outputs");
  }
  LinearCounts counts;
  counts.biases = layer.bias ? layer.outputs : 0;
  const Checked weights = Checked(layer.inputs) * layer.outputs;
  VT_ASSIGN_OR_RETURN(counts.weights, weights.Value("the layer's weights"));
  VT_ASSIGN_OR_RETURN(counts.total, (weights + counts.biases).Value("the layer's parameters"));
  return counts;
}

absl::StatusOr<AttentionCounts> CountAttention(const AttentionLayer& layer) {
  TransformerSpec given;
  given.d = layer.d;
  given.layers = 1;
  given.heads = layer.heads;
  given.kv_heads = layer.kv_heads;
  given.head_dim = layer.head_dim;
  VT_ASSIGN_OR_RETURN(const TransformerSpec spec, CompleteSpec(given));
  const uint64_t width = spec.heads * spec.head_dim;  // both at most kMaxSpecValue
  const uint64_t kv_width = spec.kv_heads * spec.head_dim;
  VT_ASSIGN_OR_RETURN(const LinearCounts query, CountLinear({spec.d, width, layer.bias}));
  VT_ASSIGN_OR_RETURN(const LinearCounts key, CountLinear({spec.d, kv_width, layer.bias}));
  VT_ASSIGN_OR_RETURN(const LinearCounts output, CountLinear({width, spec.d, layer.bias}));
  AttentionCounts counts{query.total, key.total, key.total, output.total, 0};
  const Checked total = Checked(counts.query) + counts.key + counts.value + counts.output;
  VT_ASSIGN_OR_RETURN(counts.total, total.Value("the attention's parameters"));
  return counts;
}

}  // namespace vectable
