#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/precision.h"
#include "sizing/transformer.h"

namespace vectable {

// Memory of a model in bytes. All: OUT_OF_RANGE when a figure doesn't fit 64 bits.

// ceil(parameters x bits / 8): the values alone, without scales per block or row.
absl::StatusOr<uint64_t> WeightBytes(uint64_t parameters, Precision precision);

// Keys and values that a decoder keeps of the tokens it has seen:
//   2 x layers x kv_heads x head_dim x tokens x batch x bytes per value
// where a layer with a window keeps at most that many tokens (Mistral's reference inference sizes
// its cache so).
struct KvCacheOptions {
  uint64_t tokens = 0;                  // 1 or more
  uint64_t batch = 1;                   // sequences; 1 or more
  std::optional<uint64_t> window = {};  // instead of the spec's; 0: none
  Precision precision = Precision::kFp16;
};
// Bytes of one token of one sequence.
absl::StatusOr<uint64_t> KvBytesPerToken(const TransformerSpec& spec, Precision precision);
// INVALID_ARGUMENT for zero tokens or sequences, more tokens than there are learned positions, or a
// model that keeps no such cache (KeepsKvCache).
absl::StatusOr<uint64_t> KvCacheBytes(const TransformerSpec& spec, const KvCacheOptions& options);
// An encoder keeps none; with cross-attention it would depend on the source's length too.
bool KeepsKvCache(const TransformerSpec& spec);

// What training with Adam holds per parameter, without activations, under a convention.
struct TrainingConvention {
  std::string_view name;
  uint32_t weights = 0;    // bytes per parameter
  uint32_t gradients = 0;  // bytes per parameter
  uint32_t optimizer = 0;  // bytes per parameter
  std::string_view source;
};
// fp32 (4+4+8), zero-mixed (2+2+12), hf-mixed (6+4+8), hf-mixed-8bit (6+4+2), cookbook (2+4+12).
std::span<const TrainingConvention> AllTrainingConventions();
// NOT_FOUND names those there are.
absl::StatusOr<const TrainingConvention*> FindTrainingConvention(std::string_view name);

struct TrainingBytes {
  uint64_t weights = 0;
  uint64_t gradients = 0;
  uint64_t optimizer = 0;
  uint64_t total = 0;
};
absl::StatusOr<TrainingBytes> TrainingMemory(uint64_t parameters,
                                             const TrainingConvention& convention);

// Bytes on each of `gpus` GPUs under DeepSpeed's ZeRO-3 without offload, an estimate:
// ceil(18 x parameters / gpus) + 4 x the parameters of the largest single module (stage3.py).
absl::StatusOr<uint64_t> Zero3BytesPerGpu(uint64_t parameters, uint64_t largest_module,
                                          uint64_t gpus);

// Activations kept for the backward pass, an estimate: s x b x d x L x (34 + 5 x heads x s / d)
// bytes at 16 bits, for s tokens, b sequences, L layers, nothing recomputed, dropout masks included
// (Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer Models",
// equation 2). It assumes a plain MLP of 4d, as many kv heads as heads, and leaves the embedding
// and the head out. INVALID_ARGUMENT for zero tokens or sequences, or layers with cross-attention.
absl::StatusOr<uint64_t> ActivationBytes(const TransformerSpec& spec, uint64_t tokens,
                                         uint64_t batch);

}  // namespace vectable
