#include "client/cli/model_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "client/cli/arguments.h"
#include "common/names.h"
#include "common/precision.h"
#include "common/status_util.h"

namespace vectable {
namespace {

constexpr const char* kSource = "Where the model comes from";
constexpr const char* kShape = "The shape, in place of a source; defaults are those of GPT-2";
constexpr const char* kMemory = "Memory";

void AddShapeOptions(CLI::App& app, ModelArguments& arguments) {
  for (size_t i = 0; i < kShapeFlags.size(); ++i) {
    AddText(app, kShapeFlags[i].flag, arguments.shape[i], kShapeFlags[i].help)
        ->type_name("N")
        ->group(kShape);
  }
  AddText(app, "--norm", arguments.norm, "layernorm (the default) or rmsnorm")
      ->type_name("NAME")
      ->group(kShape);
  const auto flag = [&app](const char* name, bool& out, const char* help) {
    return app.add_flag(name, out, help)->group(kShape);
  };
  flag("--gated", arguments.gated, "An MLP of three matrices instead of two");
  CLI::Option* tied =
      flag("--tied", arguments.tied, "The output head is the token embedding (the default)");
  flag("--untied", arguments.untied, "The output head has vocab x dim parameters of its own")
      ->excludes(tied);
  CLI::Option* bias = flag("--bias", arguments.bias, "Biases in attention and MLP (the default)");
  CLI::Option* no_bias = flag("--no-bias", arguments.no_bias, "No biases there")->excludes(bias);
  flag("--qkv-bias", arguments.qkv_bias, "Biases of queries, keys and values alone")
      ->excludes(bias)
      ->excludes(no_bias);
  flag("--embedding-norm", arguments.embedding_norm, "A norm after the embedding");
  flag("--head-bias", arguments.head_bias, "A bias of the output head");
  flag("--pooler", arguments.pooler, "BERT's pooler");
  flag("--encoder", arguments.encoder, "An encoder: it keeps no key-value cache");
}

bool AnyShapeFlag(const ModelArguments& arguments) {
  return std::any_of(arguments.shape.begin(), arguments.shape.end(),
                     [](const std::string& text) { return !text.empty(); }) ||
         !arguments.norm.empty() || arguments.gated || arguments.tied || arguments.untied ||
         arguments.bias || arguments.no_bias || arguments.qkv_bias || arguments.embedding_norm ||
         arguments.head_bias || arguments.pooler || arguments.encoder;
}

std::string ShapeText(const ModelArguments& arguments, std::string_view flag) {
  for (size_t i = 0; i < kShapeFlags.size(); ++i) {
    if (kShapeFlags[i].flag == flag) return arguments.shape[i];
  }
  return "";
}

absl::Status SetOptional(const char* flag, const std::string& text, std::optional<uint64_t>& out) {
  if (text.empty()) return absl::OkStatus();
  VT_ASSIGN_OR_RETURN(out, ParseModelNumber(flag, text));
  return absl::OkStatus();
}

absl::Status SetNorm(const std::string& text, NormKind& norm) {
  if (text.empty() || text == "layernorm") {
    norm = NormKind::kLayerNorm;
  } else if (text == "rmsnorm") {
    norm = NormKind::kRmsNorm;
  } else {
    return absl::InvalidArgumentError(
        fmt::format("--norm: {} is not one of layernorm, rmsnorm", Quoted(text)));
  }
  return absl::OkStatus();
}

absl::Status SetPrecision(const std::string& text, Precision& precision) {
  if (text.empty()) return absl::OkStatus();
  const std::optional<Precision> known = ParsePrecision(text);
  if (!known) {
    return absl::InvalidArgumentError(
        fmt::format("--kv-precision: {} is not one of fp32, fp16, bf16, int8, int4", Quoted(text)));
  }
  precision = *known;
  return absl::OkStatus();
}

}  // namespace

void AddModelOptions(CLI::App& app, ModelArguments& arguments) {
  AddText(app, "--preset", arguments.preset, "A known model; 'vectable model presets' lists them")
      ->type_name("NAME")
      ->group(kSource);
  AddText(app, "--config", arguments.config,
          "A Hugging Face config.json (gpt2, bert, llama, mistral, mixtral, qwen2, gemma, gemma2)")
      ->type_name("FILE")
      ->group(kSource);
  AddText(app, "--file", arguments.file,
          "A .safetensors file, its .index.json, or a .gguf file; weights aren't read")
      ->type_name("FILE")
      ->group(kSource);
  AddText(app, "--parameters", arguments.parameters, "A bare count, for bytes alone")
      ->type_name("N")
      ->group(kSource);
  AddShapeOptions(app, arguments);
  const auto memory = [&app](const char* name, std::string& out, const char* type,
                             const char* help) {
    AddText(app, name, out, help)->type_name(type)->group(kMemory);
  };
  memory("--context", arguments.context, "N",
         "Tokens of context, for the key-value cache and activations");
  memory("--batch", arguments.batch, "N", "Sequences at once; 1 if not given");
  memory("--window", arguments.window, "N", "Sliding window in tokens; 0: none");
  memory("--kv-precision", arguments.kv_precision, "P",
         "Precision of the key-value cache (fp32, fp16, bf16, int8, int4); fp16 if not given");
  memory("--train", arguments.train, "NAME",
         "Memory of training with Adam (fp32, zero-mixed, hf-mixed, hf-mixed-8bit, cookbook)");
  memory("--gpus", arguments.gpus, "N", "GPUs that share a training under ZeRO-3 (an estimate)");
}

bool AnyModelOption(const ModelArguments& arguments) {
  for (const std::string* text :
       {&arguments.preset, &arguments.config, &arguments.file, &arguments.parameters,
        &arguments.context, &arguments.batch, &arguments.window, &arguments.kv_precision,
        &arguments.train, &arguments.gpus}) {
    if (!text->empty()) return true;
  }
  return AnyShapeFlag(arguments);
}

void CheckModelSource(const ModelArguments& arguments) {
  std::vector<std::string> given;
  if (!arguments.preset.empty()) given.emplace_back("--preset");
  if (!arguments.config.empty()) given.emplace_back("--config");
  if (!arguments.file.empty()) given.emplace_back("--file");
  if (!arguments.parameters.empty()) given.emplace_back("--parameters");
  if (AnyShapeFlag(arguments)) given.emplace_back("flags of a shape");
  if (given.empty()) {
    throw CLI::ValidationError(
        "model",
        "give --preset, --config, --file, --parameters, or a shape (--dim, --layers, ...)");
  }
  if (given.size() > 1) {
    throw CLI::ValidationError(
        "model", fmt::format("give one source of a model, not {}", fmt::join(given, " and ")));
  }
  if (AnyShapeFlag(arguments) && ShapeText(arguments, "--dim").empty()) {
    throw CLI::ValidationError("model", "a shape needs --dim");
  }
  if (AnyShapeFlag(arguments) && ShapeText(arguments, "--layers").empty() &&
      ShapeText(arguments, "--cross-layers").empty()) {
    throw CLI::ValidationError("model", "a shape needs --layers or --cross-layers");
  }
}

absl::StatusOr<uint64_t> ParseModelNumber(const std::string& flag, const std::string& text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    return absl::InvalidArgumentError(fmt::format("{}: {} is not below 2^64", flag, Quoted(text)));
  }
  if (error != std::errc() || stop != end) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {} is not a whole number of 0 or more", flag, Quoted(text)));
  }
  return value;
}

bool HeadsAreGiven(const ModelArguments& arguments) {
  return !ShapeText(arguments, "--heads").empty();
}

absl::StatusOr<TransformerSpec> SpecFromFlags(const ModelArguments& arguments) {
  TransformerSpec spec;
  spec.heads = 1;
  for (size_t i = 0; i < kShapeFlags.size(); ++i) {
    const std::string& text = arguments.shape[i];
    if (text.empty()) continue;
    VT_ASSIGN_OR_RETURN(spec.*kShapeFlags[i].field, ParseModelNumber(kShapeFlags[i].flag, text));
  }
  const bool heads_matter = spec.kv_heads > 0 || spec.head_dim > 0;
  if (heads_matter && !HeadsAreGiven(arguments)) {
    return absl::InvalidArgumentError("--kv-heads and --head-dim need --heads");
  }
  if (ShapeText(arguments, "--ffn").empty()) {
    spec.ffn = spec.d <= kMaxSpecValue ? 4 * spec.d : spec.d;  // the latter is refused by its name
  }
  VT_RETURN_IF_ERROR(SetNorm(arguments.norm, spec.norm));
  spec.gated = arguments.gated;
  spec.tied = !arguments.untied;
  spec.qkv_bias = !arguments.no_bias;
  spec.output_bias = spec.mlp_bias = !arguments.no_bias && !arguments.qkv_bias;
  spec.embedding_norm = arguments.embedding_norm;
  spec.head_bias = arguments.head_bias;
  spec.pooler = arguments.pooler;
  spec.causal = !arguments.encoder;
  return spec;
}

absl::StatusOr<MemoryOptions> MemoryFromFlags(const ModelArguments& arguments) {
  MemoryOptions options;
  VT_RETURN_IF_ERROR(SetOptional("--context", arguments.context, options.context));
  VT_RETURN_IF_ERROR(SetOptional("--window", arguments.window, options.window));
  VT_RETURN_IF_ERROR(SetOptional("--gpus", arguments.gpus, options.gpus));
  std::optional<uint64_t> batch;
  VT_RETURN_IF_ERROR(SetOptional("--batch", arguments.batch, batch));
  options.batch = batch.value_or(1);
  if (batch && !options.context) {
    return absl::InvalidArgumentError("--batch needs --context, the tokens of each sequence");
  }
  VT_RETURN_IF_ERROR(SetPrecision(arguments.kv_precision, options.kv_precision));
  if (!arguments.train.empty()) {
    VT_ASSIGN_OR_RETURN(options.training, FindTrainingConvention(arguments.train));
  }
  return options;
}

}  // namespace vectable
