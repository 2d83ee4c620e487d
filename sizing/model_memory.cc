#include "sizing/model_memory.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/checked.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

constexpr std::array<TrainingConvention, 5> kConventions = {{
    {"fp32", 4, 4, 8, "fp32 weights, gradients and both moments"},
    {"zero-mixed", 2, 2, 12, "ZeRO paper, arXiv 1910.02054: (2 + 2 + 12) bytes"},
    {"hf-mixed", 6, 4, 8, "Hugging Face Transformers documentation, mixed precision"},
    {"hf-mixed-8bit", 6, 4, 2, "the same with 8-bit Adam"},
    {"cookbook", 2, 4, 12, "EleutherAI cookbook, calc_transformer_mem defaults"},
}};

// x bits of `values` values in whole bytes.
absl::StatusOr<uint64_t> BytesOfBits(Checked values, Precision precision, const char* what) {
  VT_ASSIGN_OR_RETURN(const uint64_t count, values.Value(what));
  const uint64_t bits = BitsPerComponent(precision);
  if (bits % 8 == 0) return (Checked(count) * (bits / 8)).Value(what);
  const uint64_t per_byte = 8 / bits;
  return count / per_byte + (count % per_byte != 0 ? 1 : 0);
}

absl::Status CheckTokens(const TransformerSpec& spec, uint64_t tokens, uint64_t batch) {
  if (tokens == 0) return absl::InvalidArgumentError("the context must be 1 token or more");
  if (batch == 0) return absl::InvalidArgumentError("the batch must be 1 sequence or more");
  if (spec.positions > 0 && tokens > spec.positions) {
    return absl::InvalidArgumentError(
        absl::StrCat("a context of ", WithThousands(tokens), " tokens is over the model's ",
                     WithThousands(spec.positions), " learned positions"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<uint64_t> WeightBytes(uint64_t parameters, Precision precision) {
  return BytesOfBits(Checked(parameters), precision, "the weights' bytes");
}

bool KeepsKvCache(const TransformerSpec& spec) {
  return spec.causal && spec.layers > 0 && spec.cross_layers == 0;
}

absl::StatusOr<uint64_t> KvBytesPerToken(const TransformerSpec& given, Precision precision) {
  KvCacheOptions one;
  one.tokens = 1;
  one.window = 0;
  one.precision = precision;
  return KvCacheBytes(given, one);
}

absl::StatusOr<uint64_t> KvCacheBytes(const TransformerSpec& given, const KvCacheOptions& options) {
  VT_ASSIGN_OR_RETURN(const TransformerSpec spec, CompleteSpec(given));
  if (!KeepsKvCache(spec)) {
    return absl::InvalidArgumentError(
        "there is no key-value cache to count: the model is no decoder of plain layers");
  }
  VT_RETURN_IF_ERROR(CheckTokens(spec, options.tokens, options.batch));
  const uint64_t window = options.window.value_or(spec.window);
  const uint64_t kept = window == 0 ? options.tokens : std::min(options.tokens, window);
  // Layers x tokens that they keep.
  const Checked layer_tokens = Checked(spec.global_layers) * options.tokens +
                               Checked(spec.layers - spec.global_layers) * kept;
  const Checked values =
      layer_tokens * 2 * (Checked(spec.kv_heads) * spec.head_dim) * options.batch;
  return BytesOfBits(values, options.precision, "the key-value cache's bytes");
}

std::span<const TrainingConvention> AllTrainingConventions() { return kConventions; }

absl::StatusOr<const TrainingConvention*> FindTrainingConvention(std::string_view name) {
  std::vector<std::string> known;
  for (const TrainingConvention& convention : kConventions) {
    if (convention.name == name) return &convention;
    known.emplace_back(convention.name);
  }
  return absl::NotFoundError(absl::StrCat("there is no training convention ", Quoted(name),
                                          "; known are ", absl::StrJoin(known, ", ")));
}

absl::StatusOr<TrainingBytes> TrainingMemory(uint64_t parameters,
                                             const TrainingConvention& convention) {
  constexpr const char* kWhat = "the bytes of training";
  TrainingBytes bytes;
  const Checked count(parameters);
  VT_ASSIGN_OR_RETURN(bytes.weights, (count * convention.weights).Value(kWhat));
  VT_ASSIGN_OR_RETURN(bytes.gradients, (count * convention.gradients).Value(kWhat));
  VT_ASSIGN_OR_RETURN(bytes.optimizer, (count * convention.optimizer).Value(kWhat));
  const Checked total = Checked(bytes.weights) + bytes.gradients + bytes.optimizer;
  VT_ASSIGN_OR_RETURN(bytes.total, total.Value(kWhat));
  return bytes;
}

absl::StatusOr<uint64_t> Zero3BytesPerGpu(uint64_t parameters, uint64_t largest_module,
                                          uint64_t gpus) {
  constexpr const char* kWhat = "the bytes of training";
  if (gpus == 0) return absl::InvalidArgumentError("there must be 1 GPU or more");
  VT_ASSIGN_OR_RETURN(const uint64_t sharded, (Checked(parameters) * 18).Value(kWhat));
  const uint64_t share = sharded / gpus + (sharded % gpus != 0 ? 1 : 0);
  return (Checked(largest_module) * 4 + share).Value(kWhat);
}

absl::StatusOr<uint64_t> ActivationBytes(const TransformerSpec& given, uint64_t tokens,
                                         uint64_t batch) {
  VT_ASSIGN_OR_RETURN(const TransformerSpec spec, CompleteSpec(given));
  if (spec.cross_layers > 0) {
    return absl::InvalidArgumentError(
        "the estimate of activations knows no layers with cross-attention");
  }
  VT_RETURN_IF_ERROR(CheckTokens(spec, tokens, batch));
  const Checked per_token = Checked(spec.d) * 34 + Checked(spec.heads) * tokens * 5;
  return (per_token * spec.layers * tokens * batch).Value("the activations' bytes");
}

}  // namespace vectable
