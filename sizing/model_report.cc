#include "sizing/model_report.h"

#include <utility>

#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

absl::StatusOr<KvCacheReport> ReportKvCache(const TransformerSpec& spec,
                                            const MemoryOptions& options) {
  KvCacheReport report;
  report.precision = options.kv_precision;
  report.batch = options.batch;
  const uint64_t window = options.window.value_or(spec.window);
  if (window > 0) report.window = window;
  VT_ASSIGN_OR_RETURN(report.bytes_per_token, KvBytesPerToken(spec, options.kv_precision));
  if (!options.context) return report;
  report.tokens = options.context;
  KvCacheOptions cache;
  cache.tokens = *options.context;
  cache.batch = options.batch;
  cache.window = options.window;
  cache.precision = options.kv_precision;
  VT_ASSIGN_OR_RETURN(report.bytes, KvCacheBytes(spec, cache));
  return report;
}

absl::Status AddWeightsAndTraining(const MemoryOptions& options, ModelReport& report) {
  for (const Precision precision : kAllPrecisions) {
    VT_ASSIGN_OR_RETURN(const uint64_t bytes, WeightBytes(report.total, precision));
    report.weights.push_back({precision, bytes});
  }
  if (options.training == nullptr) return absl::OkStatus();
  report.convention = options.training;
  VT_ASSIGN_OR_RETURN(report.training, TrainingMemory(report.total, *options.training));
  return absl::OkStatus();
}

absl::Status AddShapeMemory(const TransformerSpec& spec, const MemoryOptions& options,
                            ModelReport& report) {
  if (KeepsKvCache(spec)) {
    VT_ASSIGN_OR_RETURN(report.kv_cache, ReportKvCache(spec, options));
  }
  if (options.context && spec.layers > 0 && spec.cross_layers == 0) {
    VT_ASSIGN_OR_RETURN(report.activation_bytes,
                        ActivationBytes(spec, *options.context, options.batch));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ModelReport> ReportSpec(const TransformerSpec& spec, const MemoryOptions& options) {
  VT_ASSIGN_OR_RETURN(const ParameterCounts counts, CountParameters(spec));
  ModelReport report;
  report.total = counts.total;
  report.parts = counts.parts;
  if (spec.experts > 0) report.active = counts.active;
  if (spec.layers > 0) report.per_layer = counts.per_layer;
  if (spec.cross_layers > 0) report.per_cross_layer = counts.per_cross_layer;
  report.non_embedding = counts.non_embedding;
  VT_ASSIGN_OR_RETURN(report.rule, EstimateParameters(spec, counts.total));
  VT_RETURN_IF_ERROR(AddWeightsAndTraining(options, report));
  VT_RETURN_IF_ERROR(AddShapeMemory(spec, options, report));
  if (options.gpus) {
    VT_ASSIGN_OR_RETURN(report.zero3_bytes_per_gpu,
                        Zero3BytesPerGpu(counts.total, counts.largest_module, *options.gpus));
  }
  return report;
}

absl::StatusOr<ModelReport> ReportConfig(const ModelConfig& config, const MemoryOptions& options) {
  VT_ASSIGN_OR_RETURN(ModelReport report, ReportSpec(config.spec, options));
  report.name = config.family;
  if (!config.architecture.empty()) report.name += ", " + Quoted(config.architecture);
  report.notes.insert(report.notes.end(), config.notes.begin(), config.notes.end());
  return report;
}

absl::StatusOr<ModelReport> ReportTotal(uint64_t parameters, const MemoryOptions& options) {
  if (parameters == 0) return absl::InvalidArgumentError("parameters must be 1 or more");
  if (options.context || options.window || options.gpus) {
    return absl::InvalidArgumentError(
        "context, window and GPUs need the model's shape, not a count of parameters alone");
  }
  ModelReport report;
  report.total = parameters;
  VT_RETURN_IF_ERROR(AddWeightsAndTraining(options, report));
  return report;
}

}  // namespace vectable
