#include "sizing/model_file.h"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/footprint.h"
#include "sizing/gguf_header.h"
#include "sizing/model_config.h"
#include "sizing/read_file.h"
#include "sizing/safetensors_header.h"
#include "sizing/tensor_summary.h"
#include "sizing/transformer.h"

namespace vectable {
namespace {

// The last part of a path.
std::string FileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

absl::StatusOr<ModelConfig> ReadConfig(const std::string& path) {
  VT_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path, kMaxConfigBytes));
  return ParseModelConfig(text);
}

// What is known of a model beside its tensors.
struct ModelBeside {
  std::optional<ModelConfig> config;
  absl::Status error;       // of a config.json that is there but isn't understood
  const char* advice = "";  // for who asks for what a config tells, where there is none

  std::optional<bool> tied() const { return config ? std::optional(config->tied) : std::nullopt; }
};

ModelBeside ReadConfigBeside(const std::string& path) {
  ModelBeside beside;
  beside.advice = "give its config.json, beside the file or alone";
  absl::StatusOr<ModelConfig> config =
      ReadConfig(path.substr(0, path.rfind('/') + 1) + "config.json");
  if (config.ok()) {
    beside.config = *std::move(config);
  } else if (!absl::IsNotFound(config.status())) {
    beside.error = config.status();
  }
  return beside;
}

void AddLeftOutNames(const TiedNames& left_out, TensorSummary& summary) {
  for (const auto& [name, kept] : left_out) {
    summary.notes.push_back(
        absl::StrCat(Quoted(name), " is tied to ", Quoted(kept), " and isn't stored"));
  }
}

// The number of `digits`, or 0 where they aren't such of a shard's: five or more, as in 00002.
uint64_t ShardNumber(const std::string& digits) {
  uint64_t number = 0;
  const bool all_digits = digits.find_first_not_of("0123456789") == std::string::npos;
  return digits.size() >= 5 && all_digits && absl::SimpleAtoi(digits, &number) ? number : 0;
}

// INVALID_ARGUMENT for a name such as model-00002-of-00004.safetensors, one of several that only
// together are a model.
absl::Status CheckIsNoShard(const std::string& path) {
  std::string stem = FileName(path);
  stem.resize(stem.size() - std::string_view(".safetensors").size());
  const size_t of = stem.rfind("-of-");
  if (of == std::string::npos || of == 0) return absl::OkStatus();
  const size_t dash = stem.rfind('-', of - 1);
  if (dash == std::string::npos) return absl::OkStatus();
  const uint64_t number = ShardNumber(stem.substr(dash + 1, of - dash - 1));
  const uint64_t shards = ShardNumber(stem.substr(of + 4));
  if (number == 0 || shards < 2) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("shard ", number, " of a model of ", shards, ", not the whole; give its index, ",
                   Quoted(absl::StrCat(stem.substr(0, dash), ".safetensors.index.json"))));
}

absl::StatusOr<TensorSummary> SummarizeSafetensors(const std::string& path,
                                                   std::optional<bool> tied) {
  VT_ASSIGN_OR_RETURN(const SafetensorsHeader header, ReadSafetensorsHeader(path));
  VT_RETURN_IF_ERROR(CheckIsNoShard(path));
  VT_ASSIGN_OR_RETURN(TensorSummary summary, SummarizeTensors(header.tensors, tied));
  summary.format = "safetensors";
  summary.header_bytes = header.header_bytes;
  AddLeftOutNames(header.left_out, summary);
  return summary;
}

absl::StatusOr<TensorSummary> SummarizeShards(const std::string& path, std::optional<bool> tied) {
  VT_ASSIGN_OR_RETURN(const SafetensorsShards shards, ReadSafetensorsIndex(path));
  VT_ASSIGN_OR_RETURN(TensorSummary summary, SummarizeTensors(shards.tensors, tied));
  summary.format = "safetensors";
  summary.files = shards.files;
  summary.header_bytes = shards.header_bytes;
  AddLeftOutNames(shards.left_out, summary);
  if (shards.unlisted > 0) {
    summary.notes.push_back(absl::StrCat(shards.unlisted,
                                         " tensors of the shards aren't listed in the index and "
                                         "aren't counted"));
  }
  return summary;
}

absl::StatusOr<TensorSummary> SummarizeGguf(const std::string& path, std::string& name) {
  VT_ASSIGN_OR_RETURN(const GgufHeader header, ReadGgufHeader(path));
  if (header.splits > 1) {
    const std::string part =
        header.split < header.splits ? absl::StrCat("part ", header.split + 1) : "a part";
    return absl::InvalidArgumentError(absl::StrCat(
        part, " of a GGUF model split into ", header.splits, "; it can't be counted as the whole"));
  }
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

// INVALID_ARGUMENT where `options` ask for what only a config tells, and there is none.
absl::Status CheckShapeIsKnown(const ModelBeside& beside, const MemoryOptions& options) {
  if (beside.config || (!options.context && !options.window && !options.gpus)) {
    return absl::OkStatus();
  }
  const std::string why = beside.error.ok() ? beside.advice
                                            : absl::StrCat("its config.json isn't understood: ",
                                                           beside.error.message());
  return absl::InvalidArgumentError(absl::StrCat(
      "context, window and GPUs need the model's shape, which the tensors don't tell; ", why));
}

// Adds what depends on the shape. ZeRO-3's bytes are of the parameters that the files hold.
absl::Status AddShape(const TransformerSpec& spec, const MemoryOptions& options,
                      ModelReport& report) {
  VT_ASSIGN_OR_RETURN(const ModelReport shape, ReportSpec(spec, options));
  report.kv_cache = shape.kv_cache;
  report.activation_bytes = shape.activation_bytes;
  if (!options.gpus || report.weights.empty()) return absl::OkStatus();
  VT_ASSIGN_OR_RETURN(const ParameterCounts counts, CountParameters(spec));
  VT_ASSIGN_OR_RETURN(report.zero3_bytes_per_gpu,
                      Zero3BytesPerGpu(report.total, counts.largest_module, *options.gpus));
  return absl::OkStatus();
}

absl::StatusOr<ModelReport> ReportSummary(TensorSummary summary, const ModelBeside& beside,
                                          const MemoryOptions& options) {
  VT_RETURN_IF_ERROR(CheckShapeIsKnown(beside, options));
  MemoryOptions bare = options;
  bare.context.reset();
  bare.window.reset();
  bare.gpus.reset();
  ModelReport report;
  report.total = summary.total;
  report.at_least = summary.packed.undecoded > 0;
  if (summary.total > 0 && !report.at_least) {
    VT_ASSIGN_OR_RETURN(report, ReportTotal(summary.total, bare));
    report.parts = summary.parts;
    report.non_embedding =
        summary.total - summary.parts.embedding - summary.parts.positions - summary.parts.head;
  }
  if (beside.config) {
    VT_RETURN_IF_ERROR(Annotate(AddShape(beside.config->spec, options, report),
                                "with the shape of its config.json"));
  }
  report.notes = std::move(summary.notes);
  summary.notes.clear();
  if (beside.config && !report.at_least) {
    VT_ASSIGN_OR_RETURN(const ParameterCounts counts, CountParameters(beside.config->spec));
    if (counts.total != summary.total) {
      report.notes.push_back(
          absl::StrCat("the config.json beside it counts ", WithThousands(counts.total),
                       " parameters and the tensors hold ", WithThousands(summary.total),
                       "; cache and activations follow the config"));
    }
  }
  if (report.at_least && (options.training != nullptr || options.gpus)) {
    report.notes.emplace_back("memory of training isn't known without all parameters");
  }
  if (!beside.error.ok()) {
    report.notes.push_back(
        absl::StrCat("the config.json beside it isn't used: ", beside.error.message()));
  }
  report.tensors = std::move(summary);
  return report;
}

absl::StatusOr<ModelReport> ReportTensors(const std::string& path, const MemoryOptions& options) {
  std::string name = FileName(path);
  ModelBeside beside;
  absl::StatusOr<TensorSummary> summary;
  if (path.ends_with(".json")) {
    beside = ReadConfigBeside(path);
    summary = SummarizeShards(path, beside.tied());
  } else if (path.ends_with(".safetensors")) {
    beside = ReadConfigBeside(path);
    summary = SummarizeSafetensors(path, beside.tied());
  } else {
    beside.advice = "a config.json beside a GGUF file isn't read; give it alone";
    VT_ASSIGN_OR_RETURN(const bool is_gguf, BeginsWithGguf(path));
    if (!is_gguf) {
      return absl::InvalidArgumentError(
          "neither a .safetensors file, its .index.json nor a GGUF file");
    }
    summary = SummarizeGguf(path, name);
  }
  VT_RETURN_IF_ERROR(summary.status());
  VT_ASSIGN_OR_RETURN(ModelReport report, ReportSummary(*std::move(summary), beside, options));
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
