#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/model_arguments.h"
#include "client/cli/model_json.h"
#include "client/cli/model_text.h"
#include "common/limits.h"
#include "common/status_util.h"
#include "sizing/footprint.h"
#include "sizing/layers.h"
#include "sizing/model_memory.h"

namespace vectable {
namespace {

// A layer's counts as the commands below print them.
struct LayerReport {
  std::string title;
  std::vector<NamedCount> parts;
  uint64_t total = 0;
  std::vector<WeightsEntry> weights;
};

absl::Status SetWeights(LayerReport& report) {
  for (const Precision precision : kAllPrecisions) {
    VT_ASSIGN_OR_RETURN(const uint64_t bytes, WeightBytes(report.total, precision));
    report.weights.push_back({precision, bytes});
  }
  return absl::OkStatus();
}

int PrintLayer(CliContext& context, const LayerReport& report) {
  if (context.json) {
    Json json;
    json["name"] = report.title;
    json["parameters"]["total"] = report.total;
    for (const NamedCount& part : report.parts) json["parameters"][part.name] = part.count;
    json["weights_bytes"] = WeightsJson(report.weights);
    WriteJson(context.out(), json);
    return kExitOk;
  }
  const bool bold = context.out_color();
  context.out() << report.title << "\n\n"
                << CountsTable("Part", report.parts, report.total).Render(bold) << "\n"
                << WeightsTable(report.weights).Render(bold);
  return kExitOk;
}

struct LinearArguments {
  std::string inputs;
  std::string outputs;
  bool no_bias = false;
};

absl::StatusOr<int> Linear(CliContext& context, const LinearArguments& arguments) {
  LinearLayer layer;
  VT_ASSIGN_OR_RETURN(layer.inputs, ParseModelNumber("inputs", arguments.inputs));
  VT_ASSIGN_OR_RETURN(layer.outputs, ParseModelNumber("outputs", arguments.outputs));
  layer.bias = !arguments.no_bias;
  VT_ASSIGN_OR_RETURN(const LinearCounts counts, CountLinear(layer));
  LayerReport report;
  report.title = fmt::format("Linear layer, {} inputs, {} outputs{}", WithThousands(layer.inputs),
                             WithThousands(layer.outputs), layer.bias ? "" : ", no biases");
  report.parts = {{"weights", counts.weights}, {"biases", counts.biases}};
  report.total = counts.total;
  VT_RETURN_IF_ERROR(SetWeights(report));
  return PrintLayer(context, report);
}

struct EmbeddingArguments {
  std::string rows;
  std::string dimensions;
};

absl::StatusOr<int> Embedding(CliContext& context, const EmbeddingArguments& arguments) {
  VT_ASSIGN_OR_RETURN(const uint64_t rows, ParseModelNumber("rows", arguments.rows));
  VT_ASSIGN_OR_RETURN(const uint64_t dimensions,
                      ParseModelNumber("dimensions", arguments.dimensions));
  if (rows == 0 || dimensions == 0) {
    return absl::InvalidArgumentError("an embedding needs 1 or more rows and dimensions");
  }
  if (dimensions > UINT32_MAX) {
    return absl::InvalidArgumentError(fmt::format(
        "{} dimensions; the limit is {}", WithThousands(dimensions), WithThousands(UINT32_MAX)));
  }
  LayerReport report;
  report.title = fmt::format("Embedding, {} x {}", WithThousands(rows), WithThousands(dimensions));
  VT_ASSIGN_OR_RETURN(report.total, ParameterCount(rows, dimensions));
  report.parts = {{"embedding", report.total}};
  for (const Precision precision : kAllPrecisions) {  // rows don't share a byte
    VT_ASSIGN_OR_RETURN(const uint64_t bytes,
                        NominalBytes(rows, static_cast<uint32_t>(dimensions), precision));
    report.weights.push_back({precision, bytes});
  }
  return PrintLayer(context, report);
}

struct AttentionArguments {
  std::string d;
  std::string heads;
  std::string kv_heads = "0";
  std::string head_dim = "0";
  bool no_bias = false;
};

absl::StatusOr<int> Attention(CliContext& context, const AttentionArguments& arguments) {
  AttentionLayer layer;
  VT_ASSIGN_OR_RETURN(layer.d, ParseModelNumber("--dim", arguments.d));
  VT_ASSIGN_OR_RETURN(layer.heads, ParseModelNumber("--heads", arguments.heads));
  VT_ASSIGN_OR_RETURN(layer.kv_heads, ParseModelNumber("--kv-heads", arguments.kv_heads));
  VT_ASSIGN_OR_RETURN(layer.head_dim, ParseModelNumber("--head-dim", arguments.head_dim));
  layer.bias = !arguments.no_bias;
  VT_ASSIGN_OR_RETURN(const AttentionCounts counts, CountAttention(layer));
  LayerReport report;
  const uint64_t kv_heads = layer.kv_heads == 0 ? layer.heads : layer.kv_heads;
  report.title =
      fmt::format("Attention, d {}, {} heads, {} key/value heads{}", WithThousands(layer.d),
                  layer.heads, kv_heads, layer.bias ? "" : ", no biases");
  report.parts = {{"query", counts.query},
                  {"key", counts.key},
                  {"value", counts.value},
                  {"output", counts.output}};
  report.total = counts.total;
  VT_RETURN_IF_ERROR(SetWeights(report));
  return PrintLayer(context, report);
}

absl::StatusOr<int> Presets(CliContext& context) {
  if (context.json) {
    VT_ASSIGN_OR_RETURN(const Json json, PresetsJson());
    WriteJson(context.out(), json);
    return kExitOk;
  }
  VT_ASSIGN_OR_RETURN(const TextTable table, PresetsTable());
  context.out() << table.Render(context.out_color());
  return kExitOk;
}

void AddLinear(CLI::App& model, CliContext& context) {
  CLI::App* linear = model.add_subcommand(
      "linear", "A linear layer: inputs x outputs weights, and a bias per output");
  auto arguments = std::make_shared<LinearArguments>();
  AddText(*linear, "inputs", arguments->inputs, "Inputs")->type_name("M")->required();
  AddText(*linear, "outputs", arguments->outputs, "Outputs")->type_name("N")->required();
  linear->add_flag("--no-bias", arguments->no_bias, "No biases");
  linear->callback([&context, arguments] {
    context.command = [&context, arguments] { return Linear(context, *arguments); };
  });
}

void AddEmbedding(CLI::App& model, CliContext& context) {
  CLI::App* embedding =
      model.add_subcommand("embedding", "An embedding table: rows x dimensions parameters");
  auto arguments = std::make_shared<EmbeddingArguments>();
  AddText(*embedding, "rows", arguments->rows, "Rows, as of a vocabulary")
      ->type_name("V")
      ->required();
  AddText(*embedding, "dimensions", arguments->dimensions, "Components of a row")
      ->type_name("D")
      ->required();
  embedding->callback([&context, arguments] {
    context.command = [&context, arguments] { return Embedding(context, *arguments); };
  });
}

void AddAttention(CLI::App& model, CliContext& context) {
  CLI::App* attention =
      model.add_subcommand("attention", "One attention: query, key, value and output projections");
  auto arguments = std::make_shared<AttentionArguments>();
  const auto number = [attention](const char* name, std::string& out, const char* help) {
    return AddText(*attention, name, out, help)->type_name("N");
  };
  number("--dim", arguments->d, "Components of a token's vector")->required();
  number("--heads", arguments->heads, "Query heads")->required();
  number("--kv-heads", arguments->kv_heads, "Key/value heads; as many as heads if not given");
  number("--head-dim", arguments->head_dim, "Components of a head; dim / heads if not given");
  attention->add_flag("--no-bias", arguments->no_bias, "No biases");
  attention->callback([&context, arguments] {
    context.command = [&context, arguments] { return Attention(context, *arguments); };
  });
}

}  // namespace

void AddModelLayers(CLI::App& model, CliContext& context) {
  AddLinear(model, context);
  AddEmbedding(model, context);
  AddAttention(model, context);
  CLI::App* presets = model.add_subcommand("presets", "List the models known by name");
  presets->callback([&context] { context.command = [&context] { return Presets(context); }; });
}

}  // namespace vectable
