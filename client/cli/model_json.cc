#include "client/cli/model_json.h"

#include <optional>
#include <string>
#include <utility>

#include "common/precision.h"
#include "common/status_util.h"
#include "sizing/presets.h"

namespace vectable {
namespace {

Json NumberOrNull(const std::optional<uint64_t>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json PartsJson(const ModelReport& report) {
  Json json;
  json["total"] = report.at_least ? Json(nullptr) : Json(report.total);
  if (!report.parts) return json;
  const ParameterParts& parts = *report.parts;
  json["embedding"] = parts.embedding;
  json["positions"] = parts.positions;
  json["attention"] = parts.attention;
  json["mlp"] = parts.mlp;
  json["norm"] = parts.norm;
  json["head"] = parts.head;
  if (parts.other > 0) json["other"] = parts.other;
  return json;
}

Json RuleJson(const std::optional<RuleOfThumb>& rule) {
  if (!rule) return nullptr;
  Json json;
  json["total"] = rule->total;
  json["error_percent"] = rule->error_percent;
  json["total_with_head"] = rule->untied ? Json(rule->total_with_head) : Json(nullptr);
  json["error_percent_with_head"] =
      rule->untied ? Json(rule->error_percent_with_head) : Json(nullptr);
  return json;
}

Json KvJson(const std::optional<KvCacheReport>& cache) {
  if (!cache) return nullptr;
  Json json;
  json["bytes"] = NumberOrNull(cache->bytes);
  json["bytes_per_token"] = cache->bytes_per_token;
  json["precision"] = std::string(PrecisionName(cache->precision));
  json["tokens"] = NumberOrNull(cache->tokens);
  json["batch"] = cache->batch;
  json["window"] = NumberOrNull(cache->window);
  return json;
}

Json TrainingJson(const ModelReport& report) {
  if (!report.training) return nullptr;
  Json json;
  json["convention"] = std::string(report.convention->name);
  json["weights"] = report.training->weights;
  json["gradients"] = report.training->gradients;
  json["optimizer"] = report.training->optimizer;
  json["total"] = report.training->total;
  return json;
}

Json TotalsJson(const TensorTotals& totals) {
  return {{"tensors", totals.tensors}, {"elements", totals.elements}, {"bytes", totals.bytes}};
}

Json FileJson(const std::optional<TensorSummary>& summary) {
  if (!summary) return nullptr;
  Json json;
  json["format"] = summary->format;
  json["files"] = summary->files;
  json["header_bytes"] = summary->header_bytes;
  json["tensors"] = summary->all.tensors;
  json["tensor_bytes"] = summary->all.bytes;
  json["types"] = Json::object();
  for (const auto& [name, totals] : summary->types) json["types"][name] = TotalsJson(totals);
  json["buffers"] = TotalsJson(summary->buffers);
  json["tied"] = TotalsJson(summary->tied);
  const PackedTotals& packed = summary->packed;
  json["packed"] = {{"tensors", packed.tensors},
                    {"bytes", packed.bytes},
                    {"parameters", packed.undecoded > 0 ? Json(nullptr) : Json(packed.parameters)},
                    {"schemes", packed.schemes}};
  return json;
}

}  // namespace

Json WeightsJson(const std::vector<WeightsEntry>& weights) {
  Json json = Json::object();
  for (const WeightsEntry& entry : weights) {
    json[std::string(PrecisionName(entry.precision))] = entry.bytes;
  }
  return json;
}

Json ModelJson(const ModelReport& report) {
  Json json;
  json["name"] = report.name;
  json["parameters"] = PartsJson(report);
  json["active_parameters"] = NumberOrNull(report.active);
  json["non_embedding_parameters"] = NumberOrNull(report.non_embedding);
  json["parameters_per_layer"] = NumberOrNull(report.per_layer);
  json["parameters_per_cross_layer"] = NumberOrNull(report.per_cross_layer);
  json["estimate"] = RuleJson(report.rule);
  json["weights_bytes"] = WeightsJson(report.weights);
  json["kv_cache"] = KvJson(report.kv_cache);
  json["training"] = TrainingJson(report);
  json["zero3_bytes_per_gpu_estimate"] = NumberOrNull(report.zero3_bytes_per_gpu);
  json["activation_bytes_estimate"] = NumberOrNull(report.activation_bytes);
  json["file"] = FileJson(report.tensors);
  json["notes"] = report.notes;
  return json;
}

absl::StatusOr<Json> PresetsJson() {
  Json presets = Json::array();
  for (const ModelPreset& preset : AllPresets()) {
    VT_ASSIGN_OR_RETURN(const ParameterCounts counts, CountParameters(preset.spec));
    presets.push_back({{"name", std::string(preset.name)},
                       {"title", std::string(preset.title)},
                       {"parameters", counts.total},
                       {"source", std::string(preset.source)}});
  }
  Json json;
  json["presets"] = std::move(presets);
  return json;
}

}  // namespace vectable
