#include "sizing/model_memory.h"

#include <array>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "sizing/footprint.h"
#include "sizing/model_report.h"
#include "sizing/presets.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

constexpr uint64_t kMaxCount = std::numeric_limits<uint64_t>::max();
constexpr auto kMemoryInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kMemoryOutOfRange = absl::StatusCode::kOutOfRange;

TransformerSpec SpecOf(std::string_view preset) { return (*FindPreset(preset))->spec; }

struct TableCase {
  const char* what;
  uint64_t rows;
  uint32_t dimensions;
  uint64_t parameters;
  std::array<uint64_t, 5> bytes;  // in the order of kAllPrecisions
};

TEST(WeightBytesTest, EmbeddingTables) {
  const TableCase cases[] = {
      {"word2vec GoogleNews",
       3'000'000,
       300,
       900'000'000,
       {3'600'000'000, 1'800'000'000, 1'800'000'000, 900'000'000, 450'000'000}},
      {"GloVe 6B 300d",
       400'000,
       300,
       120'000'000,
       {480'000'000, 240'000'000, 240'000'000, 120'000'000, 60'000'000}},
      {"GPT-2 token table",
       50'257,
       768,
       38'597'376,
       {154'389'504, 77'194'752, 77'194'752, 38'597'376, 19'298'688}},
      {"BERT token table",
       30'522,
       768,
       23'440'896,
       {93'763'584, 46'881'792, 46'881'792, 23'440'896, 11'720'448}},
      {"Llama 3 8B token table",
       128'256,
       4'096,
       525'336'576,
       {2'101'346'304, 1'050'673'152, 1'050'673'152, 525'336'576, 262'668'288}},
      {"250,000 words at 1,024",
       250'000,
       1'024,
       256'000'000,
       {1'024'000'000, 512'000'000, 512'000'000, 256'000'000, 128'000'000}},
  };
  for (const TableCase& table : cases) {
    EXPECT_EQ(*ParameterCount(table.rows, table.dimensions), table.parameters) << table.what;
    for (size_t i = 0; i < kAllPrecisions.size(); ++i) {
      EXPECT_EQ(*NominalBytes(table.rows, table.dimensions, kAllPrecisions[i]), table.bytes[i])
          << table.what;
      EXPECT_EQ(*WeightBytes(table.parameters, kAllPrecisions[i]), table.bytes[i]) << table.what;
    }
  }
}

TEST(WeightBytesTest, SevenBillion) {
  EXPECT_EQ(*WeightBytes(7'000'000'000, Precision::kFp32), 28'000'000'000U);
  EXPECT_EQ(*WeightBytes(7'000'000'000, Precision::kBf16), 14'000'000'000U);
  EXPECT_EQ(*WeightBytes(7'000'000'000, Precision::kInt8), 7'000'000'000U);
  EXPECT_EQ(*WeightBytes(7'000'000'000, Precision::kInt4), 3'500'000'000U);
  EXPECT_EQ(*WeightBytes(3, Precision::kInt4), 2U);
  EXPECT_EQ(*WeightBytes(kMaxCount, Precision::kInt4), (kMaxCount >> 1) + 1);
  EXPECT_THAT(WeightBytes(kMaxCount, Precision::kFp16),
              StatusIs(kMemoryOutOfRange, "weights' bytes"));
}

struct KvCase {
  const char* preset;
  uint64_t per_token;
  uint64_t tokens;
  std::optional<uint64_t> window;
  uint64_t bytes;
};

TEST(KvCacheTest, GoldenValues) {
  const KvCase cases[] = {
      {"gpt2", 36'864, 1'024, {}, 37'748'736},
      {"gpt2-xl", 307'200, 1'024, {}, 314'572'800},
      {"llama2-7b", 524'288, 4'096, {}, 2'147'483'648},
      {"llama3-8b", 131'072, 8'192, {}, 1'073'741'824},
      {"llama3-70b", 327'680, 8'192, {}, 2'684'354'560},
      {"mistral-7b", 131'072, 8'192, 0, 1'073'741'824},
      {"mistral-7b", 131'072, 8'192, 4'096, 536'870'912},
      {"mistral-7b", 131'072, 8'192, {}, 1'073'741'824},
      {"mistral-7b", 131'072, 100, {}, 13'107'200},
      // Hugging Face's Llama 3.1 table: 1.953 and 15.625 GiB.
      {"llama3-8b", 131'072, 16'000, {}, 2'097'152'000},
      {"llama3-8b", 131'072, 128'000, {}, 16'777'216'000},
  };
  for (const KvCase& one : cases) {
    const TransformerSpec spec = SpecOf(one.preset);
    EXPECT_EQ(*KvBytesPerToken(spec, Precision::kFp16), one.per_token) << one.preset;
    KvCacheOptions options;
    options.tokens = one.tokens;
    options.window = one.window;
    EXPECT_EQ(*KvCacheBytes(spec, options), one.bytes) << one.preset;
    options.batch = 3;
    options.precision = Precision::kInt8;
    EXPECT_EQ(*KvCacheBytes(spec, options), one.bytes * 3 / 2) << one.preset;
  }
}

TEST(KvCacheTest, LayersWithoutTheWindow) {
  TransformerSpec spec = SpecOf("mistral-7b");
  spec.window = 4'096;
  EXPECT_EQ(*KvCacheBytes(spec, {.tokens = 8'192}), 536'870'912U);
  spec.global_layers = 16;
  EXPECT_EQ(*KvCacheBytes(spec, {.tokens = 8'192}), 1'073'741'824U / 4 * 3);
}

TEST(KvCacheTest, BadInput) {
  EXPECT_THAT(KvCacheBytes(SpecOf("gpt2"), {.tokens = 0}), StatusIs(kMemoryInvalid, "context"));
  EXPECT_THAT(KvCacheBytes(SpecOf("gpt2"), {.tokens = 1, .batch = 0}),
              StatusIs(kMemoryInvalid, "batch must be 1"));
  EXPECT_THAT(KvCacheBytes(SpecOf("gpt2"), {.tokens = 1'025}),
              StatusIs(kMemoryInvalid, "1,025 tokens is over the model's 1,024 learned positions"));
  EXPECT_THAT(KvCacheBytes(SpecOf("llama3-8b"), {.tokens = kMaxCount}),
              StatusIs(kMemoryOutOfRange, "key-value cache's bytes don't fit"));
  EXPECT_THAT(KvCacheBytes(SpecOf("bert-base-cased"), {.tokens = 1}),
              StatusIs(kMemoryInvalid, "no decoder"));
  EXPECT_FALSE(KeepsKvCache(SpecOf("pytorch-transformer")));
}

TEST(TrainingTest, GoldenValues) {
  struct Case {
    const char* convention;
    uint64_t parameters;
    TrainingBytes bytes;
  };
  const uint64_t gpt2 = 124'439'808;
  const uint64_t llama = 6'738'415'616;
  const Case cases[] = {
      {"fp32", gpt2, {4 * gpt2, 4 * gpt2, 8 * gpt2, 1'991'036'928}},
      {"zero-mixed", gpt2, {2 * gpt2, 2 * gpt2, 12 * gpt2, 1'991'036'928}},
      {"hf-mixed", gpt2, {6 * gpt2, 4 * gpt2, 8 * gpt2, 2'239'916'544}},
      {"hf-mixed-8bit", gpt2, {6 * gpt2, 4 * gpt2, 2 * gpt2, 12 * gpt2}},
      {"cookbook", gpt2, {2 * gpt2, 4 * gpt2, 12 * gpt2, 2'239'916'544}},
      {"fp32", llama, {4 * llama, 4 * llama, 8 * llama, 107'814'649'856}},
      {"hf-mixed", llama, {6 * llama, 4 * llama, 8 * llama, 121'291'481'088}},
  };
  for (const Case& one : cases) {
    const TrainingBytes bytes =
        *TrainingMemory(one.parameters, **FindTrainingConvention(one.convention));
    EXPECT_EQ(bytes.weights, one.bytes.weights) << one.convention;
    EXPECT_EQ(bytes.gradients, one.bytes.gradients) << one.convention;
    EXPECT_EQ(bytes.optimizer, one.bytes.optimizer) << one.convention;
    EXPECT_EQ(bytes.total, one.bytes.total) << one.convention;
  }
  EXPECT_THAT(FindTrainingConvention("sgd"),
              StatusIs(absl::StatusCode::kNotFound, "known are fp32, zero-mixed"));
  EXPECT_THAT(TrainingMemory(kMaxCount / 8, AllTrainingConventions()[0]),
              StatusIs(kMemoryOutOfRange, "bytes of training"));
}

// On one GPU: 18 bytes per parameter, and the largest module, GPT-2's token table, once more in
// fp32.
TEST(TrainingTest, Zero3) {
  const ParameterCounts counts = *CountParameters(SpecOf("gpt2"));
  EXPECT_EQ(counts.largest_module, 38'597'376U);
  EXPECT_EQ(*Zero3BytesPerGpu(counts.total, counts.largest_module, 1),
            2'239'916'544 + 4 * 38'597'376U);
  EXPECT_EQ(*Zero3BytesPerGpu(10, 0, 8), 23U);  // 22.5
  EXPECT_THAT(Zero3BytesPerGpu(10, 0, 0), StatusIs(kMemoryInvalid, "1 GPU or more"));
}

// GPT-3's shape in the paper: sbh(34 + 5as/h) per layer.
TEST(ActivationTest, TheFormula) {
  TransformerSpec spec = SpecOf("gpt2");
  spec.positions = 2'048;
  spec.d = 12'288;
  spec.heads = 96;
  spec.layers = 96;
  spec.ffn = 4 * spec.d;
  const uint64_t per_layer = 2'048ULL * 12'288 * (34 + 5 * 96 * 2'048 / 12'288);
  EXPECT_EQ(*ActivationBytes(spec, 2'048, 1), 96 * per_layer);
  EXPECT_EQ(*ActivationBytes(spec, 2'048, 4), 4 * 96 * per_layer);
  EXPECT_THAT(ActivationBytes(spec, 0, 1), StatusIs(kMemoryInvalid, "context"));
  EXPECT_THAT(ActivationBytes(SpecOf("pytorch-transformer"), 1, 1),
              StatusIs(kMemoryInvalid, "cross-attention"));
  EXPECT_THAT(ActivationBytes(SpecOf("llama2-7b"), uint64_t{1} << 40, 1),
              StatusIs(kMemoryOutOfRange, "activations' bytes"));
}

TEST(ModelReportTest, WhatIsNotKnownIsAbsent) {
  const ModelReport bare = *ReportTotal(7'000'000'000, {});
  EXPECT_EQ(bare.total, 7'000'000'000U);
  EXPECT_FALSE(bare.parts || bare.rule || bare.kv_cache || bare.training || bare.active);
  EXPECT_EQ(bare.weights.size(), 5U);
  EXPECT_EQ(bare.weights[0].bytes, 28'000'000'000U);
  EXPECT_THAT(ReportTotal(0, {}), StatusIs(kMemoryInvalid, "1 or more"));
  EXPECT_THAT(ReportTotal(7, {.context = 5}), StatusIs(kMemoryInvalid, "need the model's shape"));

  const ModelReport bert = *ReportSpec(SpecOf("bert-base-cased"), {.context = 512});
  EXPECT_FALSE(bert.kv_cache.has_value());
  EXPECT_TRUE(bert.activation_bytes.has_value());
  EXPECT_FALSE(bert.training || bert.active || bert.per_cross_layer);
}

TEST(ModelReportTest, AllOfIt) {
  MemoryOptions options;
  options.context = 8'192;
  options.batch = 2;
  options.window = 4'096;
  options.training = *FindTrainingConvention("hf-mixed");
  options.gpus = 8;
  const ModelReport report = *ReportSpec(SpecOf("mistral-7b"), options);
  EXPECT_EQ(report.kv_cache->bytes, 2 * 536'870'912U);
  EXPECT_EQ(report.kv_cache->window, 4'096U);
  EXPECT_EQ(report.kv_cache->bytes_per_token, 131'072U);
  EXPECT_EQ(report.training->total, 18 * report.total);
  EXPECT_EQ(*report.zero3_bytes_per_gpu, 18 * report.total / 8 + 4 * 131'072'000ULL);
  EXPECT_TRUE(report.activation_bytes.has_value());
  EXPECT_FALSE(ReportSpec(SpecOf("mistral-7b"), {})->kv_cache->bytes.has_value());
}

}  // namespace
}  // namespace vectable
