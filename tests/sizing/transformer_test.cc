#include "sizing/transformer.h"

#include <functional>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "sizing/presets.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

TransformerSpec PresetSpec(std::string_view name) {
  const absl::StatusOr<const ModelPreset*> preset = FindPreset(name);
  EXPECT_THAT(preset, IsOk());
  return preset.ok() ? (*preset)->spec : TransformerSpec();
}

ParameterCounts Count(const TransformerSpec& spec) {
  const absl::StatusOr<ParameterCounts> counts = CountParameters(spec);
  EXPECT_THAT(counts, IsOk());
  return counts.value_or(ParameterCounts());
}

uint64_t SumOfParts(const ParameterParts& parts) {
  return parts.embedding + parts.positions + parts.attention + parts.mlp + parts.norm + parts.head +
         parts.other;
}

struct Golden {
  const char* preset;
  uint64_t total;
};

class PresetTotalTest : public testing::TestWithParam<Golden> {};

TEST_P(PresetTotalTest, ExactToTheLastDigitAndPartsAddUp) {
  const ParameterCounts counts = Count(PresetSpec(GetParam().preset));
  EXPECT_EQ(counts.total, GetParam().total);
  EXPECT_EQ(SumOfParts(counts.parts), counts.total);
  EXPECT_EQ(counts.active, counts.total);
  EXPECT_EQ(counts.parts.other, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Models, PresetTotalTest,
    testing::Values(Golden{"gpt2", 124'439'808}, Golden{"gpt2-medium", 354'823'168},
                    Golden{"gpt2-large", 774'030'080}, Golden{"gpt2-xl", 1'557'611'200},
                    Golden{"llama2-7b", 6'738'415'616}, Golden{"llama3-8b", 8'030'261'248},
                    Golden{"llama3-70b", 70'553'706'496}, Golden{"mistral-7b", 7'241'732'096},
                    Golden{"bert-base-uncased", 109'482'240},
                    Golden{"bert-base-cased", 108'310'272}));

INSTANTIATE_TEST_SUITE_P(TorchModules, PresetTotalTest,
                         testing::Values(Golden{"pytorch-transformer-encoder-layer", 7'087'872},
                                         Golden{"pytorch-transformer-encoder-layer-2048",
                                                5'513'984},
                                         Golden{"pytorch-transformer-encoder", 85'054'464},
                                         Golden{"pytorch-transformer-decoder-layer", 9'451'776},
                                         Golden{"pytorch-multihead-attention", 2'362'368},
                                         Golden{"pytorch-transformer", 44'140'544},
                                         Golden{"pytorch-embedding", 23'440'896}));

struct Variant {
  const char* what;
  const char* preset;
  std::function<void(TransformerSpec&)> change;
  uint64_t total;
};

TEST(TransformerTest, VariantsOfThePresets) {
  const Variant variants[] = {
      {"BERT base without pooler", "bert-base-uncased",
       [](TransformerSpec& spec) { spec.pooler = false; }, 108'891'648},
      {"BERT base with tied masked-LM head", "bert-base-uncased",
       [](TransformerSpec& spec) {
         spec.pooler = false;
         spec.masked_lm_head = true;
       },
       109'514'298},
      {"BERT base with pre-training heads", "bert-base-uncased",
       [](TransformerSpec& spec) { spec.masked_lm_head = spec.next_sentence_head = true; },
       110'106'428},
      {"GPT-2 small without positions", "gpt2", [](TransformerSpec& spec) { spec.positions = 0; },
       123'653'376},
      {"GPT-2 small as if untied", "gpt2", [](TransformerSpec& spec) { spec.tied = false; },
       163'037'184},
      {"Llama 3 8B without head", "llama3-8b", [](TransformerSpec& spec) { spec.tied = true; },
       7'504'924'672},
      {"an encoder layer without its norms' biases", "pytorch-transformer-encoder-layer",
       [](TransformerSpec& spec) { spec.norm = NormKind::kRmsNorm; }, 7'087'872 - 2 * 768},
      {"a head bias", "gpt2", [](TransformerSpec& spec) { spec.head_bias = true; },
       124'439'808 + 50'257},
  };
  for (const Variant& variant : variants) {
    TransformerSpec spec = PresetSpec(variant.preset);
    variant.change(spec);
    const ParameterCounts counts = Count(spec);
    EXPECT_EQ(counts.total, variant.total) << variant.what;
    EXPECT_EQ(SumOfParts(counts.parts), counts.total) << variant.what;
  }
}

TEST(TransformerTest, PerLayer) {
  EXPECT_EQ(Count(PresetSpec("gpt2")).per_layer, 7'087'872U);
  EXPECT_EQ(Count(PresetSpec("bert-base-uncased")).per_layer, 7'087'872U);
  EXPECT_EQ(Count(PresetSpec("llama2-7b")).per_layer, 202'383'360U);
  EXPECT_EQ(Count(PresetSpec("llama3-8b")).per_layer, 218'112'000U);
  EXPECT_EQ(Count(PresetSpec("mistral-7b")).per_layer, 218'112'000U);
  EXPECT_EQ(Count(PresetSpec("llama3-70b")).per_layer, 855'654'400U);
  const ParameterCounts torch = Count(PresetSpec("pytorch-transformer"));
  EXPECT_EQ(torch.per_layer * 6 + torch.per_cross_layer * 6 + 2 * 2 * 512, 44'140'544U);
}

TEST(TransformerTest, NonEmbedding) {
  EXPECT_EQ(Count(PresetSpec("llama3-8b")).non_embedding, 6'979'588'096U);
  EXPECT_EQ(Count(PresetSpec("llama2-7b")).non_embedding, 6'476'271'616U);
  EXPECT_EQ(Count(PresetSpec("gpt2")).non_embedding, 12 * 7'087'872U + 2 * 768);
}

TEST(TransformerTest, PartsOfLlama3) {
  const ParameterParts parts = Count(PresetSpec("llama3-8b")).parts;
  EXPECT_EQ(parts.embedding, 525'336'576U);
  EXPECT_EQ(parts.positions, 0U);
  EXPECT_EQ(parts.attention, 32 * 41'943'040U);
  EXPECT_EQ(parts.mlp, 32 * 3ULL * 4'096 * 14'336);
  EXPECT_EQ(parts.norm, 65 * 4'096U);
  EXPECT_EQ(parts.head, 525'336'576U);
}

TEST(TransformerTest, PartsOfGpt2AndBert) {
  const ParameterParts gpt2 = Count(PresetSpec("gpt2")).parts;
  EXPECT_EQ(gpt2.embedding, 38'597'376U);
  EXPECT_EQ(gpt2.positions, 1'024 * 768U);
  EXPECT_EQ(gpt2.attention, 12 * 2'362'368U);
  EXPECT_EQ(gpt2.mlp, 12 * 4'722'432U);
  EXPECT_EQ(gpt2.norm, 25 * 1'536U);
  EXPECT_EQ(gpt2.head, 0U);
  const ParameterParts bert = Count(PresetSpec("bert-base-uncased")).parts;
  EXPECT_EQ(bert.embedding, 23'440'896U);
  EXPECT_EQ(bert.positions, (512 + 2) * 768U);
  EXPECT_EQ(bert.norm, 25 * 1'536U);
  EXPECT_EQ(bert.head, 768 * 768 + 768U);
}

// Mixtral 8x7B's published shape: Mistral 7B with 8 experts, of which 2 are active.
TEST(TransformerTest, Experts) {
  TransformerSpec spec = PresetSpec("mistral-7b");
  spec.experts = 8;
  spec.active_experts = 2;
  const uint64_t expert = 3 * 4'096ULL * 14'336;
  const uint64_t router = 4'096 * 8ULL;
  const ParameterCounts counts = Count(spec);
  EXPECT_EQ(counts.total, 7'241'732'096 + 32 * (7 * expert + router));
  EXPECT_EQ(counts.total, 46'702'792'704U);
  EXPECT_EQ(counts.active, 7'241'732'096 + 32 * (expert + router));
  EXPECT_EQ(counts.parts.mlp, 32 * (8 * expert + router));
  EXPECT_EQ(SumOfParts(counts.parts), counts.total);
}

TEST(TransformerTest, HeadDimNeedNotBeAPartOfD) {
  TransformerSpec spec;
  spec.d = 10;
  spec.layers = 1;
  spec.heads = 3;
  spec.kv_heads = 1;
  spec.head_dim = 7;
  spec.final_norms = spec.norms_per_layer = 0;
  EXPECT_EQ(Count(spec).parts.attention, 10 * 21 + 2 * 10 * 7 + 21 * 10 + 21 + 14 + 10U);
  spec.qkv_bias = false;
  EXPECT_EQ(Count(spec).parts.attention, 10 * 21 + 2 * 10 * 7 + 21 * 10 + 10U);
  spec.output_bias = false;
  EXPECT_EQ(Count(spec).total, 10 * 21 + 2 * 10 * 7 + 21 * 10U);
}

struct RuleCase {
  const char* preset;
  double error_percent;
  double with_head;  // 0: tied
};

class RuleOfThumbTest : public testing::TestWithParam<RuleCase> {};

TEST_P(RuleOfThumbTest, ErrorInPercent) {
  const TransformerSpec spec = PresetSpec(GetParam().preset);
  const absl::StatusOr<RuleOfThumb> rule = EstimateParameters(spec, Count(spec).total);
  ASSERT_THAT(rule, IsOk());
  EXPECT_NEAR(rule->error_percent, GetParam().error_percent, 0.005);
  EXPECT_EQ(rule->untied, GetParam().with_head != 0);
  EXPECT_NEAR(rule->error_percent_with_head, GetParam().with_head, 0.005);
}

INSTANTIATE_TEST_SUITE_P(
    Models, RuleOfThumbTest,
    testing::Values(RuleCase{"gpt2", -0.73, 0}, RuleCase{"gpt2-medium", -0.39, 0},
                    RuleCase{"gpt2-large", -0.25, 0}, RuleCase{"gpt2-xl", -0.17, 0},
                    RuleCase{"bert-base-uncased", -1.01, 0}, RuleCase{"llama2-7b", -2.45, -0.50},
                    RuleCase{"mistral-7b", -9.23, -7.42}, RuleCase{"llama3-70b", -7.20, -5.71},
                    RuleCase{"llama3-8b", -13.23, -6.69}));

TEST(RuleOfThumbTest, TheNotesThatStartedTheProject) {
  TransformerSpec spec;
  spec.d = 1'024;
  spec.layers = 24;
  EXPECT_EQ(EstimateParameters(spec, 1)->total, 301'989'888U);
  spec.d = 4'096;
  spec.layers = 32;
  EXPECT_EQ(EstimateParameters(spec, 1)->total, 6'442'450'944U);
  EXPECT_EQ(EstimateParameters(PresetSpec("gpt2"), 1)->total, 123'532'032U);
}

TEST(TransformerTest, BadShapesAreNamed) {
  struct Bad {
    std::function<void(TransformerSpec&)> change;
    const char* message;
  };
  const Bad cases[] = {
      {[](TransformerSpec& spec) { spec.d = 0; }, "d must be 1 or more"},
      {[](TransformerSpec& spec) { spec.heads = 0; }, "heads must be 1 or more"},
      {[](TransformerSpec& spec) { spec.heads = 7; }, "7 heads don't divide d = 768"},
      {[](TransformerSpec& spec) { spec.kv_heads = 5; }, "5 kv heads don't divide 12 heads"},
      {[](TransformerSpec& spec) { spec.kv_heads = 24; }, "24 kv heads don't divide 12 heads"},
      {[](TransformerSpec& spec) { spec.layers = kMaxSpecValue + 1; },
       "layers is 1,000,000,001; the limit is 1,000,000,000"},
      {[](TransformerSpec& spec) { spec.vocab = std::numeric_limits<uint64_t>::max(); },
       "vocab is 18,446,744,073,709,551,615"},
      {[](TransformerSpec& spec) { spec.experts = 8; }, "how many are active isn't given"},
      {[](TransformerSpec& spec) {
         spec.experts = 2;
         spec.active_experts = 3;
       },
       "3 active experts of only 2"},
      {[](TransformerSpec& spec) { spec.active_experts = 1; }, "1 active experts of only 0"},
      {[](TransformerSpec& spec) { spec.global_layers = 13; }, "13 global layers of 12 layers"},
  };
  for (const Bad& bad : cases) {
    TransformerSpec spec = PresetSpec("gpt2");
    bad.change(spec);
    EXPECT_THAT(CountParameters(spec), StatusIs(absl::StatusCode::kInvalidArgument, bad.message));
  }
}

TEST(TransformerTest, OverflowIsSaid) {
  TransformerSpec spec = PresetSpec("gpt2");
  spec.layers = kMaxSpecValue;
  spec.ffn = kMaxSpecValue;
  EXPECT_THAT(CountParameters(spec),
              StatusIs(absl::StatusCode::kOutOfRange, "the MLPs' parameters don't fit 64 bits"));
  spec = PresetSpec("gpt2");
  spec.d = spec.layers = kMaxSpecValue;
  spec.heads = 1;
  EXPECT_THAT(CountParameters(spec),
              StatusIs(absl::StatusCode::kOutOfRange, "attention's parameters don't fit"));
  EXPECT_THAT(EstimateParameters(spec, 1), StatusIs(absl::StatusCode::kOutOfRange, "don't fit"));
}

}  // namespace
}  // namespace vectable
