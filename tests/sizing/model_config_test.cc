#include "sizing/model_config.h"

#include <string>

#include "gtest/gtest.h"
#include "sizing/presets.h"
#include "tests/sizing/file_writers.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

constexpr auto kConfigInvalid = absl::StatusCode::kInvalidArgument;

constexpr const char* kGpt2 = R"({"activation_function": "gelu_new",
  "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1, "bos_token_id": 50256,
  "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12,
  "n_layer": 12, "n_positions": 1024, "n_inner": null, "vocab_size": 50257,
  "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}})";

std::string BertConfig(const std::string& architectures) {
  return R"({"model_type": "bert", "attention_probs_dropout_prob": 0.1, "hidden_act": "gelu",
  "hidden_size": 768, "intermediate_size": 3072, "max_position_embeddings": 512,
  "num_attention_heads": 12, "num_hidden_layers": 12, "type_vocab_size": 2,
  "vocab_size": 30522)" +
         architectures + "}";
}

std::string LlamaConfig(const std::string& more, const std::string& family = "llama") {
  return R"({"model_type": ")" + family + R"(", "hidden_size": 4096, "intermediate_size": 14336,
  "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
  "rope_theta": 500000.0, "rope_scaling": null, "vocab_size": 128256)" +
         more + "}";
}

// The total, or 0 after a failure.
uint64_t TotalOf(const std::string& text) {
  const absl::StatusOr<ModelConfig> config = ParseModelConfig(text);
  EXPECT_THAT(config, IsOk());
  if (!config.ok()) return 0;
  const absl::StatusOr<ParameterCounts> counts = CountParameters(config->spec);
  EXPECT_THAT(counts, IsOk());
  return counts.ok() ? counts->total : 0;
}

TEST(ModelConfigTest, Gpt2) {
  EXPECT_EQ(TotalOf(kGpt2), 124'439'808U);
  const ModelConfig config = *ParseModelConfig(kGpt2);
  EXPECT_EQ(config.family, "gpt2");
  EXPECT_EQ(config.architecture, "GPT2LMHeadModel");
  EXPECT_TRUE(config.notes.empty());
}

TEST(ModelConfigTest, BertWithEachHead) {
  EXPECT_EQ(TotalOf(BertConfig("")), 109'482'240U);
  EXPECT_EQ(TotalOf(BertConfig(R"(, "architectures": ["BertModel"])")), 109'482'240U);
  EXPECT_EQ(TotalOf(BertConfig(R"(, "architectures": ["BertForMaskedLM"])")), 109'514'298U);
  EXPECT_EQ(TotalOf(BertConfig(R"(, "architectures": ["BertForPreTraining"])")), 110'106'428U);
  const std::string other = BertConfig(R"(, "architectures": ["BertForTokenClassification"])");
  EXPECT_EQ(TotalOf(other), 109'482'240U);
  EXPECT_EQ(ParseModelConfig(other)->notes.size(), 1U);
  EXPECT_FALSE(ParseModelConfig(other)->spec.causal);
}

TEST(ModelConfigTest, Llama) {
  EXPECT_EQ(TotalOf(LlamaConfig("")), 8'030'261'248U);
  EXPECT_EQ(TotalOf(LlamaConfig(R"(, "architectures": ["LlamaForCausalLM"])")), 8'030'261'248U);
  EXPECT_EQ(TotalOf(LlamaConfig(R"(, "architectures": ["LlamaModel"])")), 7'504'924'672U);
  EXPECT_EQ(TotalOf(LlamaConfig(R"(, "tie_word_embeddings": true)")), 7'504'924'672U);
  // Biases of q (4,096), k and v (1,024 each) and o (4,096); of the MLP's 14,336, 14,336, 4,096.
  EXPECT_EQ(TotalOf(LlamaConfig(R"(, "attention_bias": true)")),
            8'030'261'248U + 32 * (2 * 4'096 + 2 * 1'024));
  EXPECT_EQ(TotalOf(LlamaConfig(R"(, "mlp_bias": true)")),
            8'030'261'248U + 32 * (2 * 14'336 + 4'096));
}

TEST(ModelConfigTest, TheTieIsKeptWhereNoHeadIsCounted) {
  const auto tied = [](const std::string& text) { return ParseModelConfig(text)->tied; };
  for (const char* name : {"LlamaModel", "LlamaForTokenClassification", "LlamaForCausalLM"}) {
    const std::string architecture = R"(, "architectures": [")" + std::string(name) + "\"]";
    EXPECT_FALSE(tied(LlamaConfig(architecture))) << name;
    EXPECT_TRUE(tied(LlamaConfig(architecture + R"(, "tie_word_embeddings": true)"))) << name;
  }
  EXPECT_TRUE(ParseModelConfig(LlamaConfig(R"(, "architectures": ["LlamaModel"])"))->spec.tied);
  EXPECT_TRUE(tied(kGpt2));
  EXPECT_TRUE(tied(BertConfig("")));
  EXPECT_FALSE(tied(BertConfig(R"(, "tie_word_embeddings": false)")));
}

TEST(ModelConfigTest, Llama2HasAsManyKvHeadsAsHeads) {
  EXPECT_EQ(TotalOf(R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
    "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 32000})"),
            6'738'415'616U);
}

TEST(ModelConfigTest, MistralAndMixtral) {
  const std::string shape = R"("hidden_size": 4096, "intermediate_size": 14336,
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
    "vocab_size": 32000)";
  const std::string mistral = R"({"model_type": "mistral", "sliding_window": 4096, )" + shape + "}";
  EXPECT_EQ(TotalOf(mistral), 7'241'732'096U);
  EXPECT_EQ(ParseModelConfig(mistral)->spec.window, 4'096U);
  EXPECT_EQ(ParseModelConfig(R"({"model_type": "mistral", "sliding_window": null, )" + shape + "}")
                ->spec.window,
            0U);
  const std::string mixtral = R"({"model_type": "mixtral", "num_local_experts": 8,
    "num_experts_per_tok": 2, )" +
                              shape + "}";
  EXPECT_EQ(TotalOf(mixtral), 46'702'792'704U);
  EXPECT_EQ(CountParameters(ParseModelConfig(mixtral)->spec)->active, 12'879'925'248U);
  EXPECT_THAT(ParseModelConfig(R"({"model_type": "mixtral", )" + shape + "}"),
              StatusIs(kConfigInvalid, "mixtral needs num_local_experts, num_experts_per_tok"));
}

// Qwen2-0.5B: tied, biases of q, k and v alone.
TEST(ModelConfigTest, Qwen2) {
  const uint64_t d = 896, f = 4'864, layers = 24, vocab = 151'936, kv = 2 * 64;
  const uint64_t attention = 2 * d * d + 2 * d * kv + d + 2 * kv;
  const std::string shape = R"({"model_type": "qwen2", "hidden_size": 896,
    "intermediate_size": 4864, "num_attention_heads": 14, "num_hidden_layers": 24,
    "num_key_value_heads": 2, "vocab_size": 151936, "use_sliding_window": false,
    "sliding_window": 131072, "max_window_layers": 24)";
  EXPECT_EQ(TotalOf(shape + R"(, "tie_word_embeddings": true})"),
            vocab * d + layers * (attention + 3 * d * f + 2 * d) + d);
  EXPECT_EQ(TotalOf(shape + R"(, "tie_word_embeddings": true})"), 494'032'768U);
  EXPECT_EQ(TotalOf(shape + "}"), 494'032'768U + vocab * d);
  EXPECT_EQ(ParseModelConfig(shape + "}")->spec.window, 0U);
}

TEST(ModelConfigTest, Qwen2SlidesFromALayerOn) {
  const std::string shape = R"({"model_type": "qwen2", "hidden_size": 8, "intermediate_size": 8,
    "num_attention_heads": 2, "num_hidden_layers": 4, "vocab_size": 10, "use_sliding_window": true,
    "sliding_window": 16)";
  EXPECT_EQ(ParseModelConfig(shape + R"(, "max_window_layers": 3})")->spec.global_layers, 3U);
  EXPECT_EQ(ParseModelConfig(shape + R"(, "max_window_layers": 0})")->spec.global_layers, 0U);
  EXPECT_EQ(ParseModelConfig(shape + R"(, "max_window_layers": 70})")->spec.global_layers, 4U);
  EXPECT_EQ(ParseModelConfig(shape + "}")->spec.window, 16U);
}

// Gemma 2B and 7B: heads x head_dim isn't d in the latter; the head is tied by default.
TEST(ModelConfigTest, Gemma) {
  EXPECT_EQ(TotalOf(R"({"model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384,
    "num_attention_heads": 8, "num_hidden_layers": 18, "num_key_value_heads": 1, "head_dim": 256,
    "vocab_size": 256000})"),
            256'000ULL * 2'048 +
                18 * (2 * 2'048 * 2'048ULL + 2 * 2'048 * 256 + 3 * 2'048 * 16'384 + 2 * 2'048) +
                2'048);
  EXPECT_EQ(
      TotalOf(R"({"model_type": "gemma", "hidden_size": 3072, "intermediate_size": 24576,
    "num_attention_heads": 16, "num_hidden_layers": 28, "num_key_value_heads": 16,
    "head_dim": 256, "vocab_size": 256000})"),
      256'000ULL * 3'072 + 28 * (4 * 3'072 * 4'096ULL + 3 * 3'072 * 24'576 + 2 * 3'072) + 3'072);
  const std::string gemma2 = R"({"model_type": "gemma2", "hidden_size": 2304,
    "intermediate_size": 9216, "num_attention_heads": 8, "num_hidden_layers": 26,
    "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 256000, "sliding_window": 4096})";
  EXPECT_EQ(TotalOf(gemma2),
            256'000ULL * 2'304 +
                26 * (2 * 2'304 * 2'048ULL + 2 * 2'304 * 1'024 + 3 * 2'304 * 9'216 + 4 * 2'304) +
                2'304);
  EXPECT_EQ(ParseModelConfig(gemma2)->spec.global_layers, 13U);
}

TEST(ModelConfigTest, BadInputIsOneClearLine) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "not valid JSON"},
      {"{", "not valid JSON at byte"},
      {"[1]", "not a JSON object"},
      {"12", "not a JSON object"},
      {"{}", "no model_type; known are gpt2, bert, llama, mistral"},
      {R"({"model_type": "t5", "d_model": 512})",
       "the family 't5' isn't known; known are gpt2, bert, llama, mistral, mixtral, qwen2, gemma, "
       "gemma2; it also lacks vocab_size, hidden_size"},
      {R"({"model_type": 5})", "model_type must be a string; it is a number"},
      {R"({"model_type": "llama", "vocab_size": 5})",
       "llama needs hidden_size, intermediate_size, num_hidden_layers, num_attention_heads"},
      {R"({"model_type": "gpt2"})", "gpt2 needs vocab_size, n_positions, n_embd, n_layer, n_head"},
      {LlamaConfig(R"(, "num_attention_heads": 0)"), "num_attention_heads must be 1 or more"},
      {LlamaConfig(R"(, "num_attention_heads": -32)"),
       "num_attention_heads must be a whole number of 0 or more; it is -32"},
      {LlamaConfig(R"(, "num_attention_heads": 7)"), "7 heads don't divide d = 4096"},
      {LlamaConfig(R"(, "num_key_value_heads": 5)"), "5 kv heads don't divide 32 heads"},
      {LlamaConfig(R"(, "hidden_size": "4096")"), "it is the string '4096'"},
      {LlamaConfig(R"(, "hidden_size": 4096.5)"), "hidden_size must be a whole number"},
      {LlamaConfig(R"(, "hidden_size": [4096])"), "it is no plain value"},
      {LlamaConfig(R"(, "tie_word_embeddings": 1)"), "tie_word_embeddings must be true or false"},
      {LlamaConfig(R"(, "num_hidden_layers": 1e400)"), "not valid JSON"},
      {LlamaConfig(R"(, "num_hidden_layers": 18446744073709551615)"), "the limit is 1,000,000,000"},
      {LlamaConfig(R"(, "num_hidden_layers": 99999999999999999999)"), "a whole number"},
      {LlamaConfig(R"(, "vocab_size": 5000000000)"), "vocab is 5,000,000,000; the limit is"},
      {LlamaConfig("", "ll\xff"), "not valid JSON"},
      {std::string(100'000, '['), "not a JSON object"},
      {R"({"model_type":)" + std::string(100'000, '['), "nested deeper than 64 levels"},
      {"{\"a\":" + std::string(1'000'000, '{'), "not valid JSON"},
      {std::string(kMaxConfigBytes + 1, ' '), "bytes of JSON; the limit is 16777216"},
  };
  for (const auto& [text, message] : cases) {
    const absl::StatusOr<ModelConfig> config = ParseModelConfig(text);
    EXPECT_THAT(config, StatusIs(kConfigInvalid, message)) << text.substr(0, 200);
    EXPECT_EQ(std::string(config.status().message()).find('\n'), std::string::npos);
  }
}

TEST(ModelConfigTest, TheArchitectureIsTheFirstOfTheTexts) {
  EXPECT_EQ(ParseModelConfig(LlamaConfig(R"(, "architectures": ["A", "B"])"))->architecture, "A");
  EXPECT_EQ(ParseModelConfig(LlamaConfig(R"(, "architectures": [])"))->architecture, "");
  EXPECT_EQ(ParseModelConfig(LlamaConfig(R"(, "architectures": null)"))->architecture, "");
}

TEST(ModelConfigTest, LongListsTakeNoMemory) {
  std::string list = R"(, "architectures": ["LlamaForCausalLM")";
  for (int i = 0; i < 1'000'000; ++i) list += R"(,"")";
  const std::string text = LlamaConfig(list + "]");
  const long before = PeakKibibytes();
  EXPECT_EQ(ParseModelConfig(text)->architecture, "LlamaForCausalLM");
  EXPECT_LT(PeakKibibytes() - before, 8 << 10);
}

TEST(ModelConfigTest, TooManyMembersAreAnError) {
  std::string members;
  for (int i = 0; i < 10'000; ++i) members += ", \"" + std::to_string(i) + "\": 0";
  EXPECT_THAT(ParseModelConfig(LlamaConfig(members)),
              StatusIs(kConfigInvalid, "the JSON object has more than 10000 members, the limit"));
}

TEST(ModelConfigTest, OverflowIsSaidByTheCount) {
  const ModelConfig config = *ParseModelConfig(R"({"model_type": "llama",
    "hidden_size": 1000000000, "intermediate_size": 1000000000, "num_attention_heads": 1,
    "num_hidden_layers": 1000000000, "vocab_size": 1})");
  EXPECT_THAT(CountParameters(config.spec), StatusIs(absl::StatusCode::kOutOfRange, "don't fit"));
}

}  // namespace
}  // namespace vectable
