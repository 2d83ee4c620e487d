#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/precision.h"
#include "sizing/model_config.h"
#include "sizing/model_memory.h"
#include "sizing/tensor_summary.h"
#include "sizing/transformer.h"

namespace vectable {

// What is asked beside the parameters and the bytes of the weights.
struct MemoryOptions {
  std::optional<uint64_t> context = {};  // tokens; asks for the key-value cache and the activations
  uint64_t batch = 1;                    // sequences
  std::optional<uint64_t> window = {};   // instead of the model's own; 0: none
  Precision kv_precision = Precision::kFp16;
  const TrainingConvention* training = nullptr;  // asks for training memory
  std::optional<uint64_t> gpus = {};             // asks for ZeRO-3's bytes per GPU
};

struct WeightsEntry {
  Precision precision = Precision::kFp32;
  uint64_t bytes = 0;
};

struct KvCacheReport {
  Precision precision = Precision::kFp16;
  uint64_t bytes_per_token = 0;  // of one sequence, no window
  std::optional<uint64_t> tokens = {};
  uint64_t batch = 1;
  std::optional<uint64_t> window = {};  // absent: none
  std::optional<uint64_t> bytes = {};   // absent without tokens
};

// All that is known of a model. A figure that isn't known is absent.
struct ModelReport {
  std::string name;  // for people
  uint64_t total = 0;
  bool at_least = false;  // the files hold more, which their headers don't tell
  std::optional<ParameterParts> parts = {};
  std::optional<uint64_t> active = {};  // with experts alone
  std::optional<uint64_t> per_layer = {};
  std::optional<uint64_t> per_cross_layer = {};
  std::optional<uint64_t> non_embedding = {};  // total - embedding - positions - head
  std::optional<RuleOfThumb> rule = {};        // an estimate
  std::vector<WeightsEntry> weights;           // one per precision, from fp32 to int4
  std::optional<KvCacheReport> kv_cache = {};
  const TrainingConvention* convention = nullptr;
  std::optional<TrainingBytes> training = {};        // without activations
  std::optional<uint64_t> zero3_bytes_per_gpu = {};  // an estimate
  std::optional<uint64_t> activation_bytes = {};     // at 16 bits, an estimate
  std::optional<TensorSummary> tensors;              // of a model's files; its notes are below
  std::vector<std::string> notes;
};

// The report of a shape. Errors as those of transformer.h and model_memory.h. The key-value cache
// is left out, not an error, where the model keeps none; so are activations that the estimate
// doesn't know.
absl::StatusOr<ModelReport> ReportSpec(const TransformerSpec& spec, const MemoryOptions& options);

// The same of a configuration, with its name and notes.
absl::StatusOr<ModelReport> ReportConfig(const ModelConfig& config, const MemoryOptions& options);

// The report of a bare count. INVALID_ARGUMENT for a count of 0, and when `options` ask for what
// needs a shape.
absl::StatusOr<ModelReport> ReportTotal(uint64_t parameters, const MemoryOptions& options);

}  // namespace vectable
