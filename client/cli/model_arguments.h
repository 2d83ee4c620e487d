#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sizing/model_report.h"
#include "sizing/transformer.h"

namespace vectable {

// A flag of `model` that sets a number of the shape.
struct ShapeFlag {
  const char* flag;
  uint64_t TransformerSpec::*field;
  const char* help;
};
inline constexpr std::array<ShapeFlag, 14> kShapeFlags = {{
    {"--vocab", &TransformerSpec::vocab, "Rows of the token embedding; 0 if not given"},
    {"--dim", &TransformerSpec::d, "Components of a token's vector"},
    {"--layers", &TransformerSpec::layers, "Layers of self-attention and MLP"},
    {"--cross-layers", &TransformerSpec::cross_layers,
     "Layers that have cross-attention too; 0 if not given"},
    {"--heads", &TransformerSpec::heads, "Query heads"},
    {"--kv-heads", &TransformerSpec::kv_heads, "Key/value heads; as many as heads if not given"},
    {"--head-dim", &TransformerSpec::head_dim, "Components of a head; dim / heads if not given"},
    {"--ffn", &TransformerSpec::ffn, "Width of the MLP; 4 x dim if not given; 0: no MLP"},
    {"--positions", &TransformerSpec::positions,
     "Learned positions; 0, as with rotary ones, if not given"},
    {"--token-types", &TransformerSpec::token_types, "Token types (BERT has 2); 0 if not given"},
    {"--experts", &TransformerSpec::experts, "MLPs per layer that a router chooses from"},
    {"--active-experts", &TransformerSpec::active_experts, "Experts that a token uses"},
    {"--norms-per-layer", &TransformerSpec::norms_per_layer, "2 if not given"},
    {"--final-norms", &TransformerSpec::final_norms, "Norms after the last layer; 1 if not given"},
}};

// What was typed after `model`. Numbers are kept as text until the command runs: a bad one is an
// error of the command (exit code 1), not a wrong usage. Empty: not given.
struct ModelArguments {
  std::string preset;
  std::string config;
  std::string file;
  std::string parameters;

  std::array<std::string, kShapeFlags.size()> shape;
  std::string norm;
  bool gated = false;
  bool tied = false;
  bool untied = false;
  bool bias = false;
  bool no_bias = false;
  bool qkv_bias = false;
  bool embedding_norm = false;
  bool head_bias = false;
  bool pooler = false;
  bool encoder = false;

  std::string context;
  std::string batch;
  std::string window;
  std::string kv_precision;
  std::string train;
  std::string gpus;
};

// Declares the flags of `model`; `arguments` outlives the parse.
void AddModelOptions(CLI::App& app, ModelArguments& arguments);

// Whether any of the flags is given.
bool AnyModelOption(const ModelArguments& arguments);

// Throws CLI::ValidationError unless exactly one source of a model is given.
void CheckModelSource(const ModelArguments& arguments);

// `text` as a whole number. INVALID_ARGUMENT names the flag.
absl::StatusOr<uint64_t> ParseModelNumber(const std::string& flag, const std::string& text);

// The shape that the flags describe. INVALID_ARGUMENT names a flag whose value is no number.
// Without --heads there is one head: counts don't depend on how many there are.
absl::StatusOr<TransformerSpec> SpecFromFlags(const ModelArguments& arguments);
bool HeadsAreGiven(const ModelArguments& arguments);

absl::StatusOr<MemoryOptions> MemoryFromFlags(const ModelArguments& arguments);

}  // namespace vectable
