#include "sizing/transformer.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "sizing/checked.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

struct SpecField {
  const char* name;
  uint64_t value;
};

absl::Status CheckSpecRange(const TransformerSpec& spec) {
  const SpecField fields[] = {
      {"vocab", spec.vocab},
      {"positions", spec.positions},
      {"token types", spec.token_types},
      {"d", spec.d},
      {"layers", spec.layers},
      {"cross layers", spec.cross_layers},
      {"heads", spec.heads},
      {"kv heads", spec.kv_heads},
      {"head dim", spec.head_dim},
      {"ffn", spec.ffn},
      {"experts", spec.experts},
      {"active experts", spec.active_experts},
      {"norms per layer", spec.norms_per_layer},
      {"final norms", spec.final_norms},
      {"window", spec.window},
      {"global layers", spec.global_layers},
  };
  for (const SpecField& field : fields) {
    if (field.value <= kMaxSpecValue) continue;
    return absl::InvalidArgumentError(absl::StrCat(field.name, " is ", WithThousands(field.value),
                                                   "; the limit is ",
                                                   WithThousands(kMaxSpecValue)));
  }
  return absl::OkStatus();
}

absl::Status CompleteHeads(TransformerSpec& spec) {
  if (spec.heads == 0) return absl::InvalidArgumentError("heads must be 1 or more");
  if (spec.head_dim == 0) {
    if (spec.d % spec.heads != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(spec.heads, " heads don't divide d = ", spec.d));
    }
    spec.head_dim = spec.d / spec.heads;
  }
  if (spec.kv_heads == 0) spec.kv_heads = spec.heads;
  if (spec.heads % spec.kv_heads != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(spec.kv_heads, " kv heads don't divide ", spec.heads, " heads"));
  }
  return absl::OkStatus();
}

absl::Status CheckExperts(const TransformerSpec& spec) {
  if (spec.experts == 0 && spec.active_experts == 0) return absl::OkStatus();
  if (spec.active_experts == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(spec.experts, " experts, but how many are active isn't given"));
  }
  if (spec.active_experts > spec.experts) {
    return absl::InvalidArgumentError(
        absl::StrCat(spec.active_experts, " active experts of only ", spec.experts));
  }
  if (spec.ffn == 0) return absl::InvalidArgumentError("experts need an ffn of 1 or more");
  return absl::OkStatus();
}

// Counts of the building blocks; the spec is complete.
struct Blocks {
  explicit Blocks(const TransformerSpec& spec)
      : norm(Checked(spec.d) * (spec.norm == NormKind::kLayerNorm ? 2 : 1)),
        table(Checked(spec.vocab) * spec.d),
        dense(Checked(spec.d) * spec.d + spec.d) {
    const Checked d(spec.d);
    const Checked q = Checked(spec.heads) * spec.head_dim;
    const Checked kv = Checked(spec.kv_heads) * spec.head_dim;
    attention = d * q + d * kv * 2 + q * d;
    if (spec.qkv_bias) attention += q + kv * 2;
    if (spec.output_bias) attention += d;
    if (spec.ffn == 0) return;
    Checked one = d * spec.ffn * (spec.gated ? 3 : 2);
    if (spec.mlp_bias) one += Checked(spec.ffn) * (spec.gated ? 2 : 1) + d;
    const Checked router = d * spec.experts;
    mlp = one * (spec.experts == 0 ? 1 : spec.experts) + router;
    active_mlp = one * (spec.experts == 0 ? 1 : spec.active_experts) + router;
  }

  Checked Layer(const TransformerSpec& spec) const {
    return attention + mlp + norm * spec.norms_per_layer;
  }
  Checked CrossLayer(const TransformerSpec& spec) const { return Layer(spec) + attention + norm; }

  Checked Head(const TransformerSpec& spec) const {
    Checked head;
    if (!spec.tied) head += table;
    if (spec.head_bias) head += spec.vocab;
    if (spec.pooler) head += dense;
    if (spec.masked_lm_head) head += dense + norm + spec.vocab;
    if (spec.next_sentence_head) head += Checked(spec.d) * 2 + 2;
    return head;
  }

  Checked norm;
  Checked table;
  Checked dense;
  Checked attention;
  Checked mlp;
  Checked active_mlp;
};

// The largest of the single matrices with their biases; none overflows if the model's total
// doesn't.
uint64_t LargestModule(const TransformerSpec& spec) {
  uint64_t largest = std::max({spec.vocab, spec.positions, spec.token_types}) * spec.d;
  const bool layers = spec.layers + spec.cross_layers > 0;
  if (layers) {
    const uint64_t q = spec.heads * spec.head_dim;
    largest = std::max({largest, spec.d * q + (spec.qkv_bias ? q : 0),
                        q * spec.d + (spec.output_bias ? spec.d : 0)});
  }
  if (layers && spec.ffn > 0) {
    const uint64_t bias = spec.mlp_bias ? std::max(spec.ffn, spec.d) : 0;
    largest = std::max({largest, spec.d * spec.ffn + bias, spec.d * spec.experts});
  }
  if (spec.pooler || spec.masked_lm_head) largest = std::max(largest, spec.d * spec.d + spec.d);
  return largest;
}

double ErrorPercent(uint64_t estimate, uint64_t exact) {
  if (exact == 0) return 0;
  return (static_cast<double>(estimate) - static_cast<double>(exact)) / static_cast<double>(exact) *
         100;
}

}  // namespace

absl::StatusOr<TransformerSpec> CompleteSpec(const TransformerSpec& spec) {
  TransformerSpec complete = spec;
  VT_RETURN_IF_ERROR(CheckSpecRange(complete));
  if (complete.d == 0) return absl::InvalidArgumentError("d must be 1 or more");
  if (complete.layers + complete.cross_layers > 0) VT_RETURN_IF_ERROR(CompleteHeads(complete));
  VT_RETURN_IF_ERROR(CheckExperts(complete));
  if (complete.global_layers > complete.layers) {
    return absl::InvalidArgumentError(
        absl::StrCat(complete.global_layers, " global layers of ", complete.layers, " layers"));
  }
  return complete;
}

absl::StatusOr<ParameterCounts> CountParameters(const TransformerSpec& given) {
  VT_ASSIGN_OR_RETURN(const TransformerSpec spec, CompleteSpec(given));
  const Blocks blocks(spec);
  const Checked layers(spec.layers);
  const Checked cross_layers(spec.cross_layers);
  const Checked all_layers = layers + cross_layers;

  ParameterCounts counts;
  ParameterParts& parts = counts.parts;
  const Checked norms = layers * spec.norms_per_layer +
                        cross_layers * (Checked(spec.norms_per_layer) + 1) + spec.final_norms +
                        (spec.embedding_norm ? 1 : 0);
  VT_ASSIGN_OR_RETURN(parts.embedding, blocks.table.Value("the embedding's parameters"));
  VT_ASSIGN_OR_RETURN(
      parts.positions,
      ((Checked(spec.positions) + spec.token_types) * spec.d).Value("the positions' parameters"));
  VT_ASSIGN_OR_RETURN(
      parts.attention,
      ((layers + cross_layers * 2) * blocks.attention).Value("the attention's parameters"));
  VT_ASSIGN_OR_RETURN(parts.mlp, (all_layers * blocks.mlp).Value("the MLPs' parameters"));
  VT_ASSIGN_OR_RETURN(parts.norm, (norms * blocks.norm).Value("the norms' parameters"));
  VT_ASSIGN_OR_RETURN(parts.head, blocks.Head(spec).Value("the head's parameters"));

  const Checked body = Checked(parts.attention) + parts.mlp + parts.norm;
  const Checked ends = Checked(parts.embedding) + parts.positions + parts.head;
  VT_ASSIGN_OR_RETURN(counts.total, (body + ends).Value("the model's parameters"));
  VT_ASSIGN_OR_RETURN(counts.non_embedding, body.Value("the layers' parameters"));
  VT_ASSIGN_OR_RETURN(const uint64_t active_mlp,
                      (all_layers * blocks.active_mlp).Value("the active MLPs' parameters"));
  counts.active = counts.total - (parts.mlp - active_mlp);
  counts.largest_module = LargestModule(spec);
  if (spec.layers > 0) {
    VT_ASSIGN_OR_RETURN(counts.per_layer, blocks.Layer(spec).Value("a layer's parameters"));
  }
  if (spec.cross_layers > 0) {
    VT_ASSIGN_OR_RETURN(counts.per_cross_layer,
                        blocks.CrossLayer(spec).Value("a layer's parameters"));
  }
  return counts;
}

absl::StatusOr<RuleOfThumb> EstimateParameters(const TransformerSpec& spec, uint64_t exact_total) {
  const Checked table = Checked(spec.vocab) * spec.d;
  const Checked rule = table + (Checked(spec.layers) + spec.cross_layers) * spec.d * spec.d * 12;
  RuleOfThumb estimate;
  VT_ASSIGN_OR_RETURN(estimate.total, rule.Value("the estimated parameters"));
  estimate.error_percent = ErrorPercent(estimate.total, exact_total);
  estimate.untied = !spec.tied;
  if (estimate.untied) {
    VT_ASSIGN_OR_RETURN(estimate.total_with_head, (rule + table).Value("the estimated parameters"));
    estimate.error_percent_with_head = ErrorPercent(estimate.total_with_head, exact_total);
  }
  return estimate;
}

}  // namespace vectable
