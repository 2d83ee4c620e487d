#include "server/model_messages.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "server/enums.h"
#include "server/text.h"
#include "sizing/model_config.h"
#include "sizing/presets.h"

namespace vectable {
namespace {

absl::StatusOr<NormKind> NormFromProto(v1::NormKind norm) {
  switch (norm) {
    case v1::NORM_KIND_UNSPECIFIED:
    case v1::NORM_KIND_LAYER_NORM:
      return NormKind::kLayerNorm;
    case v1::NORM_KIND_RMS_NORM:
      return NormKind::kRmsNorm;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("there is no norm of number ", static_cast<int>(norm)));
  }
}

absl::StatusOr<ModelReport> ReportPreset(const std::string& name, const MemoryOptions& options) {
  VT_ASSIGN_OR_RETURN(const ModelPreset* const preset, FindPreset(name));
  VT_ASSIGN_OR_RETURN(ModelReport report, ReportSpec(preset->spec, options));
  report.name = std::string(preset->title);
  if (!preset->note.empty() && !options.window) report.notes.emplace_back(preset->note);
  return report;
}

absl::StatusOr<ModelReport> ReportOf(const v1::EstimateModelRequest& request,
                                     const MemoryOptions& options) {
  switch (request.model_case()) {
    case v1::EstimateModelRequest::kPreset:
      return ReportPreset(request.preset(), options);
    case v1::EstimateModelRequest::kSpec: {
      VT_ASSIGN_OR_RETURN(const TransformerSpec spec, SpecFromProto(request.spec()));
      return ReportSpec(spec, options);
    }
    case v1::EstimateModelRequest::kConfigJson: {
      const absl::StatusOr<ModelConfig> config = ParseModelConfig(request.config_json());
      if (!config.ok()) return Annotate(config.status(), "config_json");
      return ReportConfig(*config, options);
    }
    case v1::EstimateModelRequest::kParameters:
      return ReportTotal(request.parameters(), options);
    case v1::EstimateModelRequest::MODEL_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      "the request has no model: set preset, spec, config_json or parameters");
}

void FillParts(const ParameterParts& parts, v1::ParameterParts& message) {
  message.set_embedding(parts.embedding);
  message.set_positions(parts.positions);
  message.set_attention(parts.attention);
  message.set_mlp(parts.mlp);
  message.set_norm(parts.norm);
  message.set_head(parts.head);
}

void FillRule(const RuleOfThumb& rule, v1::RuleOfThumb& message) {
  message.set_total(rule.total);
  message.set_error_percent(rule.error_percent);
  if (!rule.untied) return;
  message.set_total_with_head(rule.total_with_head);
  message.set_error_percent_with_head(rule.error_percent_with_head);
}

void FillKvCache(const KvCacheReport& cache, v1::KvCacheBytes& message) {
  message.set_precision(PrecisionToProto(cache.precision));
  message.set_bytes_per_token(cache.bytes_per_token);
  message.set_batch(cache.batch);
  if (cache.tokens) message.set_tokens(*cache.tokens);
  if (cache.window) message.set_window(*cache.window);
  if (cache.bytes) message.set_bytes(*cache.bytes);
}

void FillTraining(const ModelReport& report, v1::TrainingBytes& message) {
  message.set_convention(std::string(report.convention->name));
  message.set_weights(report.training->weights);
  message.set_gradients(report.training->gradients);
  message.set_optimizer(report.training->optimizer);
  message.set_total(report.training->total);
}

void FillCounts(const ModelReport& report, v1::EstimateModelResponse& response) {
  response.set_name(ReplaceInvalidUtf8(report.name));
  response.set_parameters(report.total);
  if (report.parts) FillParts(*report.parts, *response.mutable_parts());
  if (report.active) response.set_active_parameters(*report.active);
  if (report.per_layer) response.set_parameters_per_layer(*report.per_layer);
  if (report.per_cross_layer) response.set_parameters_per_cross_layer(*report.per_cross_layer);
  if (report.non_embedding) response.set_non_embedding_parameters(*report.non_embedding);
  if (report.rule) FillRule(*report.rule, *response.mutable_estimate());
}

void FillMemory(const ModelReport& report, v1::EstimateModelResponse& response) {
  for (const WeightsEntry& entry : report.weights) {
    v1::WeightsBytes* weights = response.add_weights();
    weights->set_precision(PrecisionToProto(entry.precision));
    weights->set_bytes(entry.bytes);
  }
  if (report.kv_cache) FillKvCache(*report.kv_cache, *response.mutable_kv_cache());
  if (report.training) FillTraining(report, *response.mutable_training());
  if (report.zero3_bytes_per_gpu) response.set_zero3_bytes_per_gpu(*report.zero3_bytes_per_gpu);
  if (report.activation_bytes) response.set_activation_bytes(*report.activation_bytes);
}

}  // namespace

absl::StatusOr<TransformerSpec> SpecFromProto(const v1::TransformerSpec& message) {
  TransformerSpec spec;
  spec.vocab = message.vocab();
  spec.positions = message.positions();
  spec.token_types = message.token_types();
  spec.d = message.dim();
  spec.layers = message.layers();
  spec.cross_layers = message.cross_layers();
  spec.heads = message.heads();
  spec.kv_heads = message.kv_heads();
  spec.head_dim = message.head_dim();
  if (message.has_ffn()) {
    spec.ffn = message.ffn();
  } else {
    spec.ffn = spec.d <= kMaxSpecValue ? 4 * spec.d : spec.d;  // the latter is refused by its name
  }
  spec.gated = message.gated();
  if (message.has_qkv_bias()) spec.qkv_bias = message.qkv_bias();
  if (message.has_output_bias()) spec.output_bias = message.output_bias();
  if (message.has_mlp_bias()) spec.mlp_bias = message.mlp_bias();
  spec.experts = message.experts();
  spec.active_experts = message.active_experts();
  VT_ASSIGN_OR_RETURN(spec.norm, NormFromProto(message.norm()));
  if (message.has_norms_per_layer()) spec.norms_per_layer = message.norms_per_layer();
  if (message.has_final_norms()) spec.final_norms = message.final_norms();
  spec.embedding_norm = message.embedding_norm();
  spec.tied = !message.untied();
  spec.head_bias = message.head_bias();
  spec.pooler = message.pooler();
  spec.masked_lm_head = message.masked_lm_head();
  spec.next_sentence_head = message.next_sentence_head();
  spec.causal = !message.encoder();
  spec.window = message.window();
  spec.global_layers = message.global_layers();
  return spec;
}

absl::StatusOr<MemoryOptions> MemoryOptionsFromProto(const v1::EstimateModelRequest& request) {
  MemoryOptions options;
  if (request.has_context()) options.context = request.context();
  if (request.has_batch()) options.batch = request.batch();
  if (request.has_batch() && !request.has_context()) {
    return absl::InvalidArgumentError("batch needs context, the tokens of each sequence");
  }
  if (request.has_window()) options.window = request.window();
  if (request.has_gpus()) options.gpus = request.gpus();
  if (request.kv_precision() != v1::PRECISION_UNSPECIFIED) {
    VT_ASSIGN_OR_RETURN(options.kv_precision, PrecisionFromProto(request.kv_precision()));
  }
  if (!request.training().empty()) {
    VT_ASSIGN_OR_RETURN(options.training, FindTrainingConvention(request.training()));
  }
  return options;
}

absl::Status EstimateModel(const v1::EstimateModelRequest& request,
                           v1::EstimateModelResponse& response) {
  VT_ASSIGN_OR_RETURN(const MemoryOptions options, MemoryOptionsFromProto(request));
  VT_ASSIGN_OR_RETURN(const ModelReport report, ReportOf(request, options));
  FillCounts(report, response);
  FillMemory(report, response);
  for (const std::string& note : report.notes) response.add_notes(ReplaceInvalidUtf8(note));
  return absl::OkStatus();
}

}  // namespace vectable
