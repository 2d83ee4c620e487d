#include "sizing/model_file.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/gguf_header.h"
#include "sizing/model_config.h"
#include "sizing/read_file.h"
#include "sizing/safetensors_header.h"
#include "sizing/tensor_summary.h"

namespace vectable {
namespace {

// The last part of a path.
std::string FileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

absl::StatusOr<ModelConfig> ReadConfig(const std::string& path) {
  VT_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path, kMaxConfigBytes));
  return ParseModelConfig(text);
}

// The config beside a file, if there is one that is understood.
std::optional<ModelConfig> ConfigBeside(const std::string& path) {
  absl::StatusOr<ModelConfig> config =
      ReadConfig(path.substr(0, path.rfind('/') + 1) + "config.json");
  if (!config.ok()) return std::nullopt;
  return *std::move(config);
}

// Tied names that a file's writer left out say so in its metadata: {"lm_head.weight": the kept
// one}.
void AddLeftOutNames(const std::map<std::string, std::string>& metadata, TensorSummary& summary) {
  for (const auto& [name, kept] : metadata) {
    if (name.ends_with(".weight") && kept.ends_with(".weight")) {
      summary.notes.push_back(
          absl::StrCat(Quoted(name), " is tied to ", Quoted(kept), " and isn't stored"));
    }
  }
}

absl::StatusOr<TensorSummary> SummarizeSafetensors(const std::string& path,
                                                   std::optional<bool> tied) {
  VT_ASSIGN_OR_RETURN(const SafetensorsHeader header, ReadSafetensorsHeader(path));
  VT_ASSIGN_OR_RETURN(TensorSummary summary, SummarizeTensors(header.tensors, tied));
  summary.format = "safetensors";
  summary.header_bytes = header.header_bytes;
  AddLeftOutNames(header.metadata, summary);
  return summary;
}

absl::StatusOr<TensorSummary> SummarizeShards(const std::string& path, std::optional<bool> tied) {
  VT_ASSIGN_OR_RETURN(const SafetensorsShards shards, ReadSafetensorsIndex(path));
  VT_ASSIGN_OR_RETURN(TensorSummary summary, SummarizeTensors(shards.tensors, tied));
  summary.format = "safetensors";
  summary.files = shards.files;
  summary.header_bytes = shards.header_bytes;
  AddLeftOutNames(shards.metadata, summary);
  if (shards.unlisted > 0) {
    summary.notes.push_back(absl::StrCat(shards.unlisted,
                                         " tensors of the shards aren't listed in the index and "
                                         "aren't counted"));
  }
  return summary;
}

absl::StatusOr<TensorSummary> SummarizeGguf(const std::string& path, std::string& name) {
  VT_ASSIGN_OR_RETURN(const GgufHeader header, ReadGgufHeader(path));
  VT_ASSIGN_OR_RETURN(TensorSummary summary, SummarizeTensors(header.tensors, std::nullopt));
  summary.format = absl::StrCat("GGUF v", header.version);
  summary.header_bytes = header.header_bytes;
  if (!header.name.empty()) {
    name = header.name;
    if (!header.architecture.empty()) absl::StrAppend(&name, " (", header.architecture, ")");
  }
  return summary;
}

absl::StatusOr<bool> BeginsWithGguf(const std::string& path) {
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<PartialFile> file, PartialFile::Open(path));
  if (file->size() < 4) return false;
  VT_ASSIGN_OR_RETURN(const std::string magic, file->Read(0, 4));
  return magic == "GGUF";
}

absl::StatusOr<ModelReport> ReportSummary(TensorSummary summary,
                                          const std::optional<ModelConfig>& config,
                                          const MemoryOptions& options) {
  if (options.gpus || ((options.context || options.window) && !config)) {
    return absl::InvalidArgumentError(
        "context, window and GPUs need the model's shape, which the tensors don't tell; give "
        "its config.json");
  }
  MemoryOptions bare = options;
  bare.context.reset();
  bare.window.reset();
  ModelReport report;
  report.total = summary.total;
  report.at_least = summary.packed.undecoded > 0;
  if (summary.total > 0 && !report.at_least) {
    VT_ASSIGN_OR_RETURN(report, ReportTotal(summary.total, bare));
    report.parts = summary.parts;
    report.non_embedding =
        summary.total - summary.parts.embedding - summary.parts.positions - summary.parts.head;
  }
  if (config) {
    VT_ASSIGN_OR_RETURN(const ModelReport shape, ReportSpec(config->spec, options));
    report.kv_cache = shape.kv_cache;
    report.activation_bytes = shape.activation_bytes;
  }
  report.notes = std::move(summary.notes);
  summary.notes.clear();
  report.tensors = std::move(summary);
  return report;
}

absl::StatusOr<ModelReport> ReportTensors(const std::string& path, const MemoryOptions& options) {
  std::string name = FileName(path);
  std::optional<ModelConfig> config;
  absl::StatusOr<TensorSummary> summary;
  if (path.ends_with(".json")) {
    config = ConfigBeside(path);
    summary = SummarizeShards(path, config ? std::optional(config->spec.tied) : std::nullopt);
  } else if (path.ends_with(".safetensors")) {
    config = ConfigBeside(path);
    summary = SummarizeSafetensors(path, config ? std::optional(config->spec.tied) : std::nullopt);
  } else {
    VT_ASSIGN_OR_RETURN(const bool is_gguf, BeginsWithGguf(path));
    if (!is_gguf) {
      return absl::InvalidArgumentError(
          "neither a .safetensors file, its .index.json nor a GGUF file");
    }
    summary = SummarizeGguf(path, name);
  }
  VT_RETURN_IF_ERROR(summary.status());
  VT_ASSIGN_OR_RETURN(ModelReport report, ReportSummary(*std::move(summary), config, options));
  report.name = name;
  return report;
}

}  // namespace

absl::StatusOr<ModelReport> ReportConfigFile(const std::string& path,
                                             const MemoryOptions& options) {
  const absl::StatusOr<ModelConfig> config = ReadConfig(path);
  if (!config.ok()) return Annotate(config.status(), Quoted(path));
  VT_ASSIGN_OR_RETURN(ModelReport report, ReportConfig(*config, options));
  return report;
}

absl::StatusOr<ModelReport> ReportModelFile(const std::string& path, const MemoryOptions& options) {
  absl::StatusOr<ModelReport> report = ReportTensors(path, options);
  if (!report.ok()) return Annotate(report.status(), Quoted(path));
  return report;
}

}  // namespace vectable
