#include "sizing/model_config.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/flat_json.h"

namespace vectable {
namespace {

// Reads fields into a spec and remembers what is missing.
class ConfigFields {
 public:
  explicit ConfigFields(const FlatJson& json) : json_(json) {}

  // A field that must be there, of at least 1.
  absl::Status Required(const char* name, uint64_t& out) {
    VT_ASSIGN_OR_RETURN(const std::optional<uint64_t> value, json_.Number(name));
    if (!value) {
      missing_.emplace_back(name);
      return absl::OkStatus();
    }
    if (*value == 0) return absl::InvalidArgumentError(absl::StrCat(name, " must be 1 or more"));
    out = *value;
    return absl::OkStatus();
  }
  // A field that may be missing or null; 0 isn't a value of it.
  absl::Status Optional(const char* name, uint64_t& out) {
    VT_ASSIGN_OR_RETURN(const std::optional<uint64_t> value, json_.Number(name));
    if (!value) return absl::OkStatus();
    if (*value == 0) return absl::InvalidArgumentError(absl::StrCat(name, " must be 1 or more"));
    out = *value;
    return absl::OkStatus();
  }
  absl::Status Flag(const char* name, bool& out) {
    VT_ASSIGN_OR_RETURN(const std::optional<bool> value, json_.Bool(name));
    if (value) out = *value;
    return absl::OkStatus();
  }

  const FlatJson& json() const { return json_; }

  absl::Status CheckMissing(const std::string& family) const {
    if (missing_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("a config of the family ", family, " needs ", absl::StrJoin(missing_, ", ")));
  }

 private:
  const FlatJson& json_;
  std::vector<std::string> missing_;
};

bool IsHeadless(const std::string& architecture) {
  return architecture.ends_with("Model") && !architecture.ends_with("LMHeadModel") &&
         !architecture.ends_with("DoubleHeadsModel");
}

// The head of a model that generates; `architecture` may be empty.
void SetCausalHead(ModelConfig& config) {
  const std::string& name = config.architecture;
  if (name.empty() || name.ends_with("ForCausalLM") || name.ends_with("LMHeadModel")) return;
  config.spec.tied = true;  // no head to count; config.tied keeps what the file says
  if (!IsHeadless(name)) {
    config.notes.push_back(
        absl::StrCat("the head of ", Quoted(name), " isn't known and isn't counted"));
  }
}

absl::Status ReadTie(ConfigFields& fields, bool tied_by_default, ModelConfig& config) {
  config.tied = tied_by_default;
  VT_RETURN_IF_ERROR(fields.Flag("tie_word_embeddings", config.tied));
  config.spec.tied = config.tied;
  SetCausalHead(config);
  return absl::OkStatus();
}

absl::Status ReadGpt2(ConfigFields& fields, ModelConfig& config) {
  TransformerSpec& spec = config.spec;
  VT_RETURN_IF_ERROR(fields.Required("vocab_size", spec.vocab));
  VT_RETURN_IF_ERROR(fields.Required("n_positions", spec.positions));
  VT_RETURN_IF_ERROR(fields.Required("n_embd", spec.d));
  VT_RETURN_IF_ERROR(fields.Required("n_layer", spec.layers));
  VT_RETURN_IF_ERROR(fields.Required("n_head", spec.heads));
  VT_RETURN_IF_ERROR(fields.Optional("n_inner", spec.ffn));
  bool crosses = false;
  VT_RETURN_IF_ERROR(fields.Flag("add_cross_attention", crosses));
  if (crosses) std::swap(spec.layers, spec.cross_layers);
  if (spec.ffn == 0 && spec.d <= kMaxSpecValue) spec.ffn = 4 * spec.d;
  return ReadTie(fields, true, config);
}

void SetBertHead(ModelConfig& config) {
  TransformerSpec& spec = config.spec;
  const std::string& name = config.architecture;
  spec.pooler = true;
  if (name == "BertForMaskedLM") {
    spec.pooler = false;
    spec.masked_lm_head = true;
  } else if (name == "BertForPreTraining") {
    spec.masked_lm_head = spec.next_sentence_head = true;
  } else if (name == "BertForNextSentencePrediction") {
    spec.next_sentence_head = true;
  } else if (!name.empty() && name != "BertModel") {
    config.notes.push_back(absl::StrCat("the head of ", Quoted(name),
                                        " isn't known; BERT with its pooler is counted"));
  }
}

absl::Status ReadBert(ConfigFields& fields, ModelConfig& config) {
  TransformerSpec& spec = config.spec;
  VT_RETURN_IF_ERROR(fields.Required("vocab_size", spec.vocab));
  VT_RETURN_IF_ERROR(fields.Required("max_position_embeddings", spec.positions));
  VT_RETURN_IF_ERROR(fields.Required("type_vocab_size", spec.token_types));
  VT_RETURN_IF_ERROR(fields.Required("hidden_size", spec.d));
  VT_RETURN_IF_ERROR(fields.Required("num_hidden_layers", spec.layers));
  VT_RETURN_IF_ERROR(fields.Required("num_attention_heads", spec.heads));
  VT_RETURN_IF_ERROR(fields.Required("intermediate_size", spec.ffn));
  spec.final_norms = 0;
  spec.embedding_norm = true;
  spec.causal = false;
  VT_RETURN_IF_ERROR(fields.Flag("tie_word_embeddings", config.tied));
  VT_ASSIGN_OR_RETURN(const std::optional<std::string> positions,
                      fields.json().String("position_embedding_type"));
  if (positions && *positions != "absolute") {
    config.notes.push_back(absl::StrCat("positions of the kind ", Quoted(*positions),
                                        " have parameters that aren't counted"));
  }
  SetBertHead(config);
  if (spec.masked_lm_head && !config.tied) spec.tied = false;
  return absl::OkStatus();
}

// What Llama and its likes share: rotary positions, gated MLP, RMSNorm, no biases, untied head.
absl::Status ReadLlamaLike(ConfigFields& fields, ModelConfig& config) {
  TransformerSpec& spec = config.spec;
  VT_RETURN_IF_ERROR(fields.Required("vocab_size", spec.vocab));
  VT_RETURN_IF_ERROR(fields.Required("hidden_size", spec.d));
  VT_RETURN_IF_ERROR(fields.Required("intermediate_size", spec.ffn));
  VT_RETURN_IF_ERROR(fields.Required("num_hidden_layers", spec.layers));
  VT_RETURN_IF_ERROR(fields.Required("num_attention_heads", spec.heads));
  VT_RETURN_IF_ERROR(fields.Optional("num_key_value_heads", spec.kv_heads));
  VT_RETURN_IF_ERROR(fields.Optional("head_dim", spec.head_dim));
  spec.gated = true;
  spec.qkv_bias = spec.output_bias = spec.mlp_bias = false;
  spec.norm = NormKind::kRmsNorm;
  spec.tied = false;
  return absl::OkStatus();
}

absl::Status ReadAttentionBias(ConfigFields& fields, TransformerSpec& spec) {
  VT_RETURN_IF_ERROR(fields.Flag("attention_bias", spec.qkv_bias));
  spec.output_bias = spec.qkv_bias;
  return absl::OkStatus();
}

absl::Status ReadLlama(ConfigFields& fields, ModelConfig& config) {
  VT_RETURN_IF_ERROR(ReadLlamaLike(fields, config));
  VT_RETURN_IF_ERROR(ReadAttentionBias(fields, config.spec));
  VT_RETURN_IF_ERROR(fields.Flag("mlp_bias", config.spec.mlp_bias));
  return ReadTie(fields, false, config);
}

absl::Status ReadMistral(ConfigFields& fields, ModelConfig& config) {
  VT_RETURN_IF_ERROR(ReadLlamaLike(fields, config));
  VT_RETURN_IF_ERROR(fields.Optional("sliding_window", config.spec.window));
  return ReadTie(fields, false, config);
}

absl::Status ReadMixtral(ConfigFields& fields, ModelConfig& config) {
  VT_RETURN_IF_ERROR(ReadMistral(fields, config));
  VT_RETURN_IF_ERROR(fields.Required("num_local_experts", config.spec.experts));
  return fields.Required("num_experts_per_tok", config.spec.active_experts);
}

// Queries, keys and values have biases, the output has none.
absl::Status ReadQwen2(ConfigFields& fields, ModelConfig& config) {
  TransformerSpec& spec = config.spec;
  VT_RETURN_IF_ERROR(ReadLlamaLike(fields, config));
  spec.qkv_bias = true;
  bool slides = false;
  VT_RETURN_IF_ERROR(fields.Flag("use_sliding_window", slides));
  if (slides) {
    VT_RETURN_IF_ERROR(fields.Optional("sliding_window", spec.window));
    // The first max_window_layers attend to all tokens.
    VT_ASSIGN_OR_RETURN(const std::optional<uint64_t> all_tokens,
                        fields.json().Number("max_window_layers"));
    spec.global_layers = std::min(all_tokens.value_or(0), spec.layers);
  }
  return ReadTie(fields, false, config);
}

absl::Status ReadGemma(ConfigFields& fields, ModelConfig& config) {
  VT_RETURN_IF_ERROR(ReadLlamaLike(fields, config));
  if (config.spec.head_dim == 0) {  // heads x head_dim isn't d in this family
    VT_RETURN_IF_ERROR(fields.Required("head_dim", config.spec.head_dim));
  }
  VT_RETURN_IF_ERROR(ReadAttentionBias(fields, config.spec));
  return ReadTie(fields, true, config);
}

// Norms before and after attention and MLP; every other layer keeps to the window.
absl::Status ReadGemma2(ConfigFields& fields, ModelConfig& config) {
  VT_RETURN_IF_ERROR(ReadGemma(fields, config));
  config.spec.norms_per_layer = 4;
  VT_RETURN_IF_ERROR(fields.Optional("sliding_window", config.spec.window));
  config.spec.global_layers = config.spec.layers / 2;
  return absl::OkStatus();
}

struct ConfigFamily {
  const char* name;
  absl::Status (*read)(ConfigFields&, ModelConfig&);
};

constexpr ConfigFamily kFamilies[] = {
    {"gpt2", ReadGpt2},       {"bert", ReadBert},   {"llama", ReadLlama}, {"mistral", ReadMistral},
    {"mixtral", ReadMixtral}, {"qwen2", ReadQwen2}, {"gemma", ReadGemma}, {"gemma2", ReadGemma2},
};

std::string FamilyNames() {
  std::string names;
  for (const ConfigFamily& family : kFamilies) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", family.name);
  }
  return names;
}

// Of the fields that most families share, those that an unknown one lacks.
std::string MissingCommonFields(const FlatJson& json) {
  std::vector<std::string> missing;
  for (const char* name : {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
                           "intermediate_size"}) {
    if (!json.Has(name)) missing.emplace_back(name);
  }
  if (missing.empty()) return "; it may be counted from flags (--dim, --layers, ...)";
  return absl::StrCat("; it also lacks ", absl::StrJoin(missing, ", "));
}

absl::StatusOr<const ConfigFamily*> FindFamily(const FlatJson& json) {
  VT_ASSIGN_OR_RETURN(const std::optional<std::string> type, json.String("model_type"));
  if (!type) {
    return absl::InvalidArgumentError(absl::StrCat("the config has no model_type; known are ",
                                                   FamilyNames(), MissingCommonFields(json)));
  }
  for (const ConfigFamily& family : kFamilies) {
    if (*type == family.name) return &family;
  }
  return absl::InvalidArgumentError(absl::StrCat("the family ", Quoted(*type),
                                                 " isn't known; known are ", FamilyNames(),
                                                 MissingCommonFields(json)));
}

}  // namespace

absl::StatusOr<ModelConfig> ParseModelConfig(std::string_view text) {
  VT_ASSIGN_OR_RETURN(const FlatJson json, FlatJson::Parse(text, kMaxConfigBytes));
  VT_ASSIGN_OR_RETURN(const ConfigFamily* const family, FindFamily(json));
  ModelConfig config;
  config.family = family->name;
  config.architecture = json.FirstString("architectures");
  ConfigFields fields(json);
  VT_RETURN_IF_ERROR(family->read(fields, config));
  VT_RETURN_IF_ERROR(fields.CheckMissing(config.family));
  VT_ASSIGN_OR_RETURN(config.spec, CompleteSpec(config.spec));
  if (json.Has("quantization_config")) {
    config.notes.emplace_back(
        "the config speaks of quantized weights; bytes here are those of plain ones");
  }
  return config;
}

}  // namespace vectable
