#include <random>
#include <string>

#include "gtest/gtest.h"
#include "sizing/model_file.h"
#include "sizing/presets.h"
#include "sizing/safetensors_header.h"
#include "tests/common/test_seed.h"
#include "tests/sizing/file_writers.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

constexpr auto kFileInvalid = absl::StatusCode::kInvalidArgument;

std::string Layer(uint64_t layer, const std::string& rest) {
  return "h." + std::to_string(layer) + "." + rest;
}

// GPT-2 as its file on the hub has it: with each layer's causal mask.
SafetensorsWriter Gpt2File(const std::string& type, uint64_t bits, bool with_head = false) {
  const uint64_t d = 768;
  SafetensorsWriter file;
  file.Add("wte.weight", type, {50'257, d}, bits).Add("wpe.weight", type, {1'024, d}, bits);
  for (uint64_t i = 0; i < 12; ++i) {
    file.Add(Layer(i, "ln_1.weight"), type, {d}, bits).Add(Layer(i, "ln_1.bias"), type, {d}, bits);
    file.Add(Layer(i, "attn.bias"), type, {1, 1, 1'024, 1'024}, bits);
    file.Add(Layer(i, "attn.c_attn.weight"), type, {d, 3 * d}, bits);
    file.Add(Layer(i, "attn.c_attn.bias"), type, {3 * d}, bits);
    file.Add(Layer(i, "attn.c_proj.weight"), type, {d, d}, bits);
    file.Add(Layer(i, "attn.c_proj.bias"), type, {d}, bits);
    file.Add(Layer(i, "ln_2.weight"), type, {d}, bits).Add(Layer(i, "ln_2.bias"), type, {d}, bits);
    file.Add(Layer(i, "mlp.c_fc.weight"), type, {d, 4 * d}, bits);
    file.Add(Layer(i, "mlp.c_fc.bias"), type, {4 * d}, bits);
    file.Add(Layer(i, "mlp.c_proj.weight"), type, {4 * d, d}, bits);
    file.Add(Layer(i, "mlp.c_proj.bias"), type, {d}, bits);
  }
  file.Add("ln_f.weight", type, {d}, bits).Add("ln_f.bias", type, {d}, bits);
  if (with_head) file.Add("lm_head.weight", type, {50'257, d}, bits);
  return file;
}

void ExpectSameParts(const ParameterParts& got, const ParameterParts& expected) {
  EXPECT_EQ(got.embedding, expected.embedding);
  EXPECT_EQ(got.positions, expected.positions);
  EXPECT_EQ(got.attention, expected.attention);
  EXPECT_EQ(got.mlp, expected.mlp);
  EXPECT_EQ(got.norm, expected.norm);
  EXPECT_EQ(got.head, expected.head);
  EXPECT_EQ(got.other, expected.other);
}

ParameterParts PartsOfPreset(std::string_view name) {
  return CountParameters((*FindPreset(name))->spec)->parts;
}

TEST(SafetensorsTest, Gpt2EqualsThePreset) {
  const FileFolder folder;
  const ModelReport report =
      *ReportModelFile(Gpt2File("F32", 32).WriteTo(folder, "model.safetensors"), {});
  EXPECT_EQ(report.total, 124'439'808U);
  ExpectSameParts(*report.parts, PartsOfPreset("gpt2"));
  EXPECT_EQ(report.tensors->buffers.elements, 12 * 1'048'576U);
  EXPECT_EQ(report.tensors->all.elements, 137'022'720U);  // what a plain sum would say
  EXPECT_EQ(report.tensors->all.bytes, 4 * 137'022'720U);
  EXPECT_EQ(report.tensors->types.at("F32").tensors, report.tensors->all.tensors);
  EXPECT_FALSE(report.kv_cache.has_value());
}

TEST(SafetensorsTest, ATiedHeadIsCountedOnce) {
  const FileFolder folder;
  const ModelReport report =
      *ReportModelFile(Gpt2File("F16", 16, true).WriteTo(folder, "model.safetensors"), {});
  EXPECT_EQ(report.total, 124'439'808U);
  EXPECT_EQ(report.parts->head, 0U);
  EXPECT_EQ(report.tensors->tied.elements, 38'597'376U);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_EQ(report.notes[0], "'lm_head.weight' is tied to 'wte.weight' and is counted once");
}

SafetensorsWriter TinyLlama() {
  SafetensorsWriter file;
  file.Add("model.embed_tokens.weight", "BF16", {100, 8}, 16);
  file.Add("model.layers.0.self_attn.q_proj.weight", "BF16", {8, 8}, 16);
  file.Add("model.layers.0.self_attn.rotary_emb.inv_freq", "F32", {2}, 32);
  file.Add("model.layers.0.mlp.gate_proj.weight", "BF16", {16, 8}, 16);
  file.Add("model.layers.0.input_layernorm.weight", "F32", {8}, 32);
  file.Add("model.norm.weight", "BF16", {8}, 16);
  file.Add("vision.patch.weight", "BF16", {3}, 16);
  file.Add("lm_head.weight", "BF16", {100, 8}, 16);
  return file;
}

constexpr const char* kTiedLlama = R"({"model_type": "llama", "hidden_size": 8,
  "intermediate_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1, "vocab_size": 100,
  "tie_word_embeddings": true})";

TEST(SafetensorsTest, PartsByName) {
  const FileFolder folder;
  const std::string path = TinyLlama().WriteTo(folder, "model.safetensors");
  const ModelReport report = *ReportModelFile(path, {});
  ExpectSameParts(*report.parts, {800, 0, 64, 128, 16, 800, 3});
  EXPECT_EQ(report.total, 1'811U);
  EXPECT_THAT(ReportModelFile(path, {.context = 9}),
              StatusIs(kFileInvalid, "give its config.json"));
  // A config beside it tells that the head is tied, and what the cache takes.
  folder.Write("config.json", kTiedLlama);
  const ModelReport tied = *ReportModelFile(path, {.context = 9});
  ExpectSameParts(*tied.parts, {800, 0, 64, 128, 16, 0, 3});
  EXPECT_EQ(tied.kv_cache->bytes, 2 * 8 * 9 * 2U);
}

TEST(SafetensorsTest, Zero3WithAConfigBeside) {
  const FileFolder folder;
  const std::string path = TinyLlama().WriteTo(folder, "model.safetensors");
  folder.Write("config.json", kTiedLlama);
  // 1,011 parameters in the file; the largest matrix is the embedding's.
  const ModelReport report = *ReportModelFile(path, {.gpus = 2});
  EXPECT_EQ(report.total, 1'011U);
  EXPECT_EQ(report.zero3_bytes_per_gpu, 18 * 1'011 / 2 + 4 * 800U);
  EXPECT_THAT(
      ReportModelFile(path, {.gpus = 0}),
      StatusIs(kFileInvalid, "with the shape of its config.json: there must be 1 GPU or more"));
  SafetensorsWriter packed;
  packed.Add("model.layers.0.mlp.up_proj.weight_packed", "I32", {4, 4}, 32);
  const ModelReport unknown =
      *ReportModelFile(packed.WriteTo(folder, "packed.safetensors"), {.gpus = 2});
  EXPECT_FALSE(unknown.zero3_bytes_per_gpu.has_value());
  EXPECT_EQ(unknown.notes.back(), "memory of training isn't known without all parameters");
}

TEST(SafetensorsTest, WhyAConfigBesideIsOfNoUse) {
  const FileFolder folder;
  const std::string path = TinyLlama().WriteTo(folder, "model.safetensors");
  const std::pair<const char*, const char*> cases[] = {
      {"{", "not valid JSON at byte"},
      {R"({"model_type": "t5"})", "the family 't5' isn't known"},
      {R"({"model_type": "gpt2"})", "a config of the family gpt2 needs vocab_size"},
  };
  for (const auto& [config, why] : cases) {
    folder.Write("config.json", config);
    for (const MemoryOptions& options :
         {MemoryOptions{.context = 9}, MemoryOptions{.window = 9}, MemoryOptions{.gpus = 9}}) {
      EXPECT_THAT(ReportModelFile(path, options),
                  StatusIs(kFileInvalid, std::string("its config.json isn't understood: ") + why));
    }
    const ModelReport report = *ReportModelFile(path, {});
    EXPECT_EQ(report.total, 1'811U);
    ASSERT_FALSE(report.notes.empty());
    EXPECT_TRUE(report.notes.back().starts_with(
        std::string("the config.json beside it isn't used: ") + why))
        << report.notes.back();
  }
}

// An architecture without a head that is known says nothing of the head that is stored.
TEST(SafetensorsTest, AStoredHeadCountsWhateverTheArchitecture) {
  const FileFolder folder;
  const std::string path = TinyLlama().WriteTo(folder, "model.safetensors");
  const auto head = [&](const std::string& more) {
    folder.Write("config.json", R"({"model_type": "llama", "hidden_size": 8, "vocab_size": 100,
      "intermediate_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1, )" +
                                    more + "}");
    return ReportModelFile(path, {})->parts->head;
  };
  for (const char* name : {"LlamaModel", "LlamaForReward", "LlamaForCausalLM"}) {
    const std::string architectures = R"("architectures": [")" + std::string(name) + "\"]";
    EXPECT_EQ(head(architectures), 800U) << name;
    EXPECT_EQ(head(architectures + R"(, "tie_word_embeddings": true)"), 0U) << name;
  }
}

TEST(SafetensorsTest, NamesLeftOutByTheWriter) {
  const FileFolder folder;
  SafetensorsWriter file;
  file.Metadata(R"({"format":"pt","lm_head.weight":"model.embed_tokens.weight"})");
  file.Add("model.embed_tokens.weight", "F32", {10, 4}, 32);
  const ModelReport report = *ReportModelFile(file.WriteTo(folder, "m.safetensors"), {});
  EXPECT_EQ(report.total, 40U);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_EQ(report.notes[0],
            "'lm_head.weight' is tied to 'model.embed_tokens.weight' and isn't stored");
}

// Of metadata as long as it may be, only what is of use is kept, and not too much of that.
TEST(SafetensorsTest, MetadataTakesNoMemory) {
  constexpr const char* kTensor = R"("t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  std::string useless = R"({"__metadata__":{)", useful = useless;
  for (int i = 0; i < 400'000; ++i) useless += "\"" + std::to_string(i) + R"(":"",)";
  for (int i = 0; i < 1'000; ++i) {
    useful += "\"" + std::to_string(i) + R"(.weight":"kept.weight",)";
  }
  const std::string long_name(kMaxTiedNameBytes, 'x');
  const std::string long_names =
      R"({"__metadata__":{"a.weight":")" + long_name + R"(.weight",")" + long_name +
      R"(.weight":"a.weight","b.weight":"no","no":"b.weight"},)" + kTensor;
  useless.back() = useful.back() = '}';
  useless.append(",").append(kTensor);
  useful.append(",").append(kTensor);
  const long before = PeakKibibytes();
  EXPECT_TRUE(ParseSafetensorsHeader(useless, 1)->left_out.empty());
  EXPECT_LT(PeakKibibytes() - before, 8 << 10);
  EXPECT_EQ(ParseSafetensorsHeader(useful, 1)->left_out.size(), kMaxTiedNames);
  EXPECT_TRUE(ParseSafetensorsHeader(long_names, 1)->left_out.empty());
}

TEST(SafetensorsTest, BertsTiedDecoder) {
  const FileFolder folder;
  SafetensorsWriter file;
  file.Add("bert.embeddings.word_embeddings.weight", "F32", {50, 4}, 32);
  file.Add("bert.embeddings.token_type_embeddings.weight", "F32", {2, 4}, 32);
  file.Add("bert.embeddings.position_ids", "I64", {1, 512}, 64);
  file.Add("bert.embeddings.LayerNorm.weight", "F32", {4}, 32);
  file.Add("bert.encoder.layer.0.attention.output.dense.weight", "F32", {4, 4}, 32);
  file.Add("bert.encoder.layer.0.attention.output.LayerNorm.weight", "F32", {4}, 32);
  file.Add("bert.encoder.layer.0.output.dense.weight", "F32", {4, 16}, 32);
  file.Add("bert.pooler.dense.weight", "F32", {4, 4}, 32);
  file.Add("cls.predictions.bias", "F32", {50}, 32);
  file.Add("cls.predictions.decoder.bias", "F32", {50}, 32);
  file.Add("cls.predictions.decoder.weight", "F32", {50, 4}, 32);
  file.Add("cls.predictions.transform.LayerNorm.weight", "F32", {4}, 32);
  const ModelReport report = *ReportModelFile(file.WriteTo(folder, "m.safetensors"), {});
  ExpectSameParts(*report.parts, {200, 8, 16, 64, 8, 16 + 50 + 4, 0});
}

TEST(SafetensorsTest, PackedWeights) {
  const FileFolder folder;
  SafetensorsWriter gptq;  // 64 inputs, 32 outputs, 4 bits, groups of 32
  gptq.Add("model.layers.0.mlp.up_proj.qweight", "I32", {8, 32}, 32);
  gptq.Add("model.layers.0.mlp.up_proj.qzeros", "I32", {2, 4}, 32);
  gptq.Add("model.layers.0.mlp.up_proj.scales", "F16", {2, 32}, 16);
  gptq.Add("model.layers.0.mlp.up_proj.g_idx", "I32", {64}, 32);
  gptq.Add("model.norm.weight", "F16", {7}, 16);
  ModelReport report = *ReportModelFile(gptq.WriteTo(folder, "gptq.safetensors"), {});
  ExpectSameParts(*report.parts, {0, 0, 0, 64 * 32, 7, 0, 0});
  EXPECT_EQ(report.tensors->packed.schemes, std::vector<std::string>{"GPTQ 4-bit"});
  EXPECT_EQ(report.tensors->packed.bytes, 8 * 32 * 4 + 2 * 4 * 4 + 2 * 32 * 2 + 64 * 4U);
  EXPECT_EQ(report.tensors->packed.parameters, 64 * 32U);

  SafetensorsWriter awq;
  awq.Add("model.layers.0.self_attn.q_proj.qweight", "I32", {64, 4}, 32);
  awq.Add("model.layers.0.self_attn.q_proj.qzeros", "I32", {2, 4}, 32);
  awq.Add("model.layers.0.self_attn.q_proj.scales", "F16", {2, 32}, 16);
  report = *ReportModelFile(awq.WriteTo(folder, "awq.safetensors"), {});
  EXPECT_EQ(report.parts->attention, 64 * 32U);
  EXPECT_EQ(report.tensors->packed.schemes, std::vector<std::string>{"AWQ 4-bit"});

  SafetensorsWriter bnb;
  bnb.Add("model.layers.0.self_attn.q_proj.weight", "U8", {1'024, 1}, 8);
  bnb.Add("model.layers.0.self_attn.q_proj.weight.absmax", "F32", {32}, 32);
  bnb.Add("model.layers.0.self_attn.q_proj.weight.quant_map", "F32", {16}, 32);
  bnb.Add("model.layers.0.self_attn.q_proj.weight.quant_state.bitsandbytes__nf4", "U8", {90}, 8);
  report = *ReportModelFile(bnb.WriteTo(folder, "bnb.safetensors"), {});
  EXPECT_EQ(report.total, 2'048U);
  EXPECT_EQ(report.parts->attention, 2'048U);

  SafetensorsWriter fp8;
  fp8.Add("model.layers.0.mlp.up_proj.weight", "F8_E4M3", {4, 4}, 8);
  fp8.Add("model.layers.0.mlp.up_proj.weight_scale_inv", "F32", {1}, 32);
  EXPECT_EQ(ReportModelFile(fp8.WriteTo(folder, "fp8.safetensors"), {})->total, 16U);

  SafetensorsWriter unknown;
  unknown.Add("model.layers.0.mlp.up_proj.weight_packed", "I32", {4, 4}, 32);
  unknown.Add("model.layers.0.mlp.up_proj.weight_scale", "F16", {4, 1}, 16);
  unknown.Add("model.norm.weight", "F16", {7}, 16);
  report = *ReportModelFile(unknown.WriteTo(folder, "unknown.safetensors"), {});
  EXPECT_TRUE(report.at_least);
  EXPECT_EQ(report.total, 7U);
  EXPECT_TRUE(report.weights.empty());
  EXPECT_EQ(report.tensors->packed.undecoded, 1U);
}

TEST(SafetensorsTest, ShardsThroughTheIndex) {
  const FileFolder folder;
  SafetensorsWriter one, two;
  one.Add("model.embed_tokens.weight", "BF16", {100, 8}, 16);
  two.Add("lm_head.weight", "BF16", {100, 8}, 16).Add("model.norm.weight", "BF16", {8}, 16);
  one.WriteTo(folder, "model-00001-of-00002.safetensors");
  two.WriteTo(folder, "model-00002-of-00002.safetensors");
  const auto index = [&folder](const std::string& map) {
    return ReportModelFile(
        folder.Write("model.safetensors.index.json",
                     R"({"metadata":{"total_size":3216},"weight_map":)" + map + "}"),
        {});
  };
  const std::string kOne = "\"model-00001-of-00002.safetensors\"";
  const std::string kTwo = "\"model-00002-of-00002.safetensors\"";
  const ModelReport report =
      *index("{\"model.embed_tokens.weight\":" + kOne + ",\"lm_head.weight\":" + kTwo +
             ",\"model.norm.weight\":" + kTwo + "}");
  EXPECT_EQ(report.total, 1'608U);
  EXPECT_EQ(report.tensors->files, 2U);
  EXPECT_EQ(report.tensors->all.bytes, 3'216U);

  const std::string embed = "{\"model.embed_tokens.weight\":" + kOne;
  EXPECT_THAT(
      index(embed + ",\"x\":\"model-00003.safetensors\"}"),
      StatusIs(absl::StatusCode::kNotFound, "shard 'model-00003.safetensors': cannot open"));
  EXPECT_THAT(index(embed + ",\"gone\":" + kTwo + "}"),
              StatusIs(kFileInvalid, "tensor 'gone' is listed in shard"));
  EXPECT_THAT(index(embed + ",\"lm_head.weight\":" + kOne + ",\"model.norm.weight\":" + kTwo + "}"),
              StatusIs(kFileInvalid, "tensor 'lm_head.weight' is in shard"));
  EXPECT_THAT(index(embed + ",\"model.embed_tokens.weight\":" + kTwo + "}"),
              StatusIs(kFileInvalid, "is listed in 'model-00001"));
  EXPECT_THAT(index("{\"a\":\"../secret\"}"), StatusIs(kFileInvalid, "beside the index"));
  EXPECT_THAT(index("{\"a\":\"/etc/passwd\"}"), StatusIs(kFileInvalid, "beside the index"));
  EXPECT_THAT(index("{\"a\":5}"), StatusIs(kFileInvalid, "no weight_map"));
  EXPECT_THAT(index("[]"), StatusIs(kFileInvalid, "no weight_map"));
  EXPECT_THAT(index("{}"), StatusIs(kFileInvalid, "no tensor"));
  EXPECT_EQ(index(embed + ",\"lm_head.weight\":" + kTwo + "}")->notes.size(), 1U);
  // The same tensor in two shards.
  one.Add("lm_head.weight", "BF16", {100, 8}, 16)
      .WriteTo(folder, "model-00001-of-00002.safetensors");
  EXPECT_THAT(index(embed + ",\"lm_head.weight\":" + kTwo + ",\"model.norm.weight\":" + kTwo + "}"),
              StatusIs(kFileInvalid, "tensor 'lm_head.weight' is in shard"));
}

TEST(SafetensorsTest, AShardIsNotTheWhole) {
  const FileFolder folder;
  const auto report = [&folder](const std::string& name) {
    return ReportModelFile(TinyLlama().WriteTo(folder, name), {});
  };
  EXPECT_THAT(report("model-00002-of-00004.safetensors"),
              StatusIs(kFileInvalid,
                       "shard 2 of a model of 4, not the whole; give its index, "
                       "'model.safetensors.index.json'"));
  EXPECT_THAT(report("a-b-00001-of-000163.safetensors"),
              StatusIs(kFileInvalid,
                       "shard 1 of a model of 163, not the whole; give its index, "
                       "'a-b.safetensors.index.json'"));
  for (const char* whole :
       {"model.safetensors", "model-00001-of-00001.safetensors", "best-of-00002.safetensors",
        "model-1-of-2.safetensors", "-of-.safetensors", "model-0000x-of-00002.safetensors"}) {
    EXPECT_THAT(report(whole), IsOk()) << whole;
  }
}

TEST(SafetensorsTest, BadHeadersAreOneClearLine) {
  struct Bad {
    std::string json;
    uint64_t data_bytes;
    const char* message;
  };
  const auto one = [](const std::string& type, const std::string& shape,
                      const std::string& offsets) {
    return R"({"t":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
           "}}";
  };
  const Bad cases[] = {
      {"", 0, "the header: not valid JSON"},
      {"[]", 0, "isn't a JSON object"},
      {R"({"t":5})", 0, "tensor 't'"},
      {R"({"t":{}})", 0, "tensor 't': it has no dtype"},
      {R"({"t":{"dtype":"F32"}})", 0, "it has no shape"},
      {R"({"t":{"dtype":"F32","shape":[1]}})", 4, "it has no data_offsets"},
      {R"({"t":{"dtype":"F32","dtype":"F32"}})", 4, "once each"},
      {R"({"t":{"extra":[1]}})", 4, "at 'extra'"},
      {R"({"__metadata__":{"a":1}})", 0, "texts alone"},
      {one("F33", "[1]", "[0,4]"), 4, "unknown dtype 'F33'"},
      {one("F32", "[2]", "[0,4]"), 4, "its shape takes 8 bytes as F32, its offsets span 4"},
      {one("F32", "[1]", "[4,0]"), 4, "its offsets end at 0 before they begin at 4"},
      {one("F32", "[1]", "[0,4,8]"), 4, "data_offsets has 3 numbers"},
      {one("F32", "[-1]", "[0,4]"), 4, "shape must hold whole numbers"},
      {one("F32", "[1.5]", "[0,4]"), 4, "shape must hold whole numbers"},
      {one("F32", "[\"1\"]", "[0,4]"), 4, "shape must hold whole numbers"},
      {one("F32", "[[1]]", "[0,4]"), 4, "tensor 't'"},
      {one("F4", "[3]", "[0,1]"), 1, "don't fill whole bytes"},
      {one("F32", "[4294967296,4294967296,2]", "[0,4]"), 4, ""},
      {one("F32", "[2]", "[0,8]"), 4, "its bytes end at 8, but the file has 4"},
      {one("F32", "[1]", "[0,4]"), 8, "the file has 8 bytes of data; its tensors use 4"},
      {one("F32", "[1]", "[4,8]"), 8, "its bytes begin at 4; nothing uses those from 0"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
       6, "tensor 'b': its bytes from 2 overlap another tensor's, up to 4"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
       4, "overlap another tensor's"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
       R"("a":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
       8, "tensor 'a': the header names it twice"},
      {"{\"t\":" + std::string(100'000, '['), 0, "tensor 't'"},
  };
  for (const Bad& bad : cases) {
    const absl::StatusOr<SafetensorsHeader> header =
        ParseSafetensorsHeader(bad.json, bad.data_bytes);
    EXPECT_FALSE(header.ok()) << bad.json.substr(0, 200);
    EXPECT_NE(std::string(header.status().message()).find(bad.message), std::string::npos)
        << header.status();
    EXPECT_EQ(std::string(header.status().message()).find('\n'), std::string::npos);
  }
  EXPECT_THAT(
      ParseSafetensorsHeader(one("F32", "[4294967296,4294967296,2]", "[0,4]"), 4),
      StatusIs(absl::StatusCode::kOutOfRange, "tensor 't': its elements don't fit 64 bits"));
}

TEST(SafetensorsTest, ScalarsAndEmptyTensors) {
  SafetensorsWriter file;
  file.Add("scalar", "I64", {}, 64).Add("empty", "F32", {0, 5}, 32).Add("f4", "F4", {4}, 4);
  const SafetensorsHeader header = *ParseSafetensorsHeader(file.json(), file.data_bytes());
  EXPECT_EQ(header.tensors.size(), 3U);
  EXPECT_EQ(header.tensors[0].elements + header.tensors[1].elements, 1U);
}

TEST(SafetensorsTest, BadFiles) {
  const FileFolder folder;
  const auto report = [&folder](const std::string& content, uint64_t size = 0) {
    return ReportModelFile(folder.Write("bad.safetensors", content, size), {});
  };
  EXPECT_THAT(report(""), StatusIs(kFileInvalid, "the file has 0 bytes"));
  EXPECT_THAT(report(LittleEndian(1'000, 8) + "{}"),
              StatusIs(kFileInvalid, "the header's length is 1000 bytes, but the file has only 2"));
  EXPECT_THAT(report(LittleEndian(UINT64_MAX, 8) + "{}"),
              StatusIs(kFileInvalid, "limit is 100000000"));
  EXPECT_THAT(report(LittleEndian(0, 8)), StatusIs(kFileInvalid, "not valid JSON"));
  EXPECT_THAT(report(LittleEndian(2, 8) + "{}"), StatusIs(kFileInvalid, "names no tensor"));
  EXPECT_THAT(
      ReportModelFile("/no/such.safetensors", {}),
      StatusIs(absl::StatusCode::kNotFound, "'/no/such.safetensors': cannot open: No such"));
  EXPECT_THAT(ReportModelFile("/", {}), StatusIs(kFileInvalid, "not a regular file"));
  EXPECT_THAT(ReportModelFile(folder.Write("model.bin", "PK"), {}),
              StatusIs(kFileInvalid, "neither a .safetensors file"));
  // 10 GB given by mistake: a hole of zeros, whose header would be empty.
  EXPECT_THAT(report("", 10'000'000'000), StatusIs(kFileInvalid, "not valid JSON"));
}

// Only the header of a 10 GB file is read: the process doesn't grow by more.
TEST(SafetensorsTest, NoWeightsAreRead) {
  const FileFolder folder;
  SafetensorsWriter file;
  file.Add("model.embed_tokens.weight", "F32", {2'500'000, 1'000}, 32);
  const std::string path = file.WriteTo(folder, "large.safetensors");
  EXPECT_EQ(std::filesystem::file_size(path), 10'000'000'000 + 8 + file.json().size());
  const long before = PeakKibibytes();
  const ModelReport report = *ReportModelFile(path, {});
  EXPECT_EQ(report.total, 2'500'000'000U);
  EXPECT_EQ(report.tensors->header_bytes, 8 + file.json().size());
  EXPECT_LT(PeakKibibytes() - before, 64 << 10);
}

// A name is looked at component by component, of which it could have millions.
TEST(SafetensorsTest, ANameOfDotsTakesNoMemory) {
  const FileFolder folder;
  SafetensorsWriter file;
  file.Add(std::string(2'000'000, '.') + "norm", "F32", {4}, 32);
  const std::string path = file.WriteTo(folder, "dots.safetensors");
  const long before = PeakKibibytes();
  const ModelReport report = *ReportModelFile(path, {});
  EXPECT_LT(PeakKibibytes() - before, 32 << 10);
  EXPECT_EQ(report.total, 4U);
}

// Whatever bytes come, there is an answer or an error, and no crash.
TEST(SafetensorsTest, RandomDamage) {
  std::mt19937_64 random(TestSeed());
  const FileFolder folder;
  const std::string json = TinyLlama().json();
  const std::string whole = LittleEndian(json.size(), 8) + json;
  for (int i = 0; i < 1'000; ++i) {
    std::string bytes = whole;
    const int flips = static_cast<int>(random() % 4);
    for (int flip = 0; flip < flips; ++flip) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    }
    if (random() % 3 == 0) bytes.resize(random() % bytes.size());
    const uint64_t data = random() % 3 == 0 ? random() % 4'000 : TinyLlama().data_bytes();
    const absl::StatusOr<ModelReport> report =
        ReportModelFile(folder.Write("m.safetensors", bytes, bytes.size() + data), {});
    if (!report.ok()) {
      ASSERT_EQ(std::string(report.status().message()).find('\n'), std::string::npos);
      continue;
    }
    const ParameterParts& parts = *report->parts;
    ASSERT_EQ(parts.embedding + parts.positions + parts.attention + parts.mlp + parts.norm +
                  parts.head + parts.other,
              report->total);
  }
}

}  // namespace
}  // namespace vectable
