#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "client/cli/app.h"
#include "tests/client/temp_file.h"

namespace vectable {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using Arguments = std::vector<std::string>;

struct Result {
  int code = 0;
  std::string out;
  std::string err;
};

// No server runs in these tests.
Result RunModel(Arguments arguments) {
  std::ostringstream out, err;
  Terminal terminal{out, err};
  arguments.insert(arguments.begin(), "model");
  const int code = RunCli(arguments, terminal);
  return {code, out.str(), err.str()};
}

json ModelJson(Arguments arguments) {
  arguments.emplace_back("--json");
  const Result result = RunModel(arguments);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return json::parse(result.out, nullptr, false);
}

uint64_t SumOfParts(const json& parameters) {
  uint64_t sum = 0;
  for (const auto& [name, count] : parameters.items()) {
    if (name != "total") sum += count.get<uint64_t>();
  }
  return sum;
}

TEST(ModelCommandTest, PresetsAsJson) {
  const json list = ModelJson({"presets"});
  for (const json& preset : list["presets"]) {
    const json model = ModelJson({"--preset", preset["name"]});
    EXPECT_EQ(model["parameters"]["total"], preset["parameters"]);
    EXPECT_EQ(SumOfParts(model["parameters"]), preset["parameters"]) << preset;
  }
}

TEST(ModelCommandTest, Llama3AsJson) {
  const json model = ModelJson({"--preset", "llama3-8b", "--context", "8192"});
  EXPECT_EQ(model["parameters"]["total"], 8'030'261'248);
  EXPECT_EQ(model["parameters"]["embedding"], 525'336'576);
  EXPECT_EQ(model["parameters"]["positions"], 0);
  EXPECT_EQ(model["parameters"]["attention"], 1'342'177'280);
  EXPECT_EQ(model["parameters"]["mlp"], 5'637'144'576);
  EXPECT_EQ(model["parameters"]["norm"], 266'240);
  EXPECT_EQ(model["parameters"]["head"], 525'336'576);
  EXPECT_FALSE(model["parameters"].contains("other"));
  EXPECT_EQ(model["estimate"]["total"], 6'967'787'520);
  EXPECT_NEAR(model["estimate"]["error_percent"].get<double>(), -13.23, 0.005);
  EXPECT_EQ(model["weights_bytes"]["fp32"], 32'121'044'992);
  EXPECT_EQ(model["weights_bytes"]["int4"], 4'015'130'624);
  EXPECT_EQ(model["kv_cache"]["bytes"], 1'073'741'824);
  EXPECT_EQ(model["kv_cache"]["bytes_per_token"], 131'072);
  EXPECT_TRUE(model["kv_cache"]["window"].is_null());
  EXPECT_TRUE(model["training"].is_null());
  EXPECT_TRUE(model["active_parameters"].is_null());
  EXPECT_TRUE(model["file"].is_null());
}

TEST(ModelCommandTest, Llama3AsText) {
  const Result result = RunModel({"--preset", "llama3-8b", "--context", "8192"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("| Total     | 8,030,261,248 Parameters |\n"));
  EXPECT_THAT(result.out, HasSubstr("| Attention | 1,342,177,280 |  16.71 % |\n"));
  EXPECT_THAT(result.out, HasSubstr("an estimate | 6,967,787,520 (-13.23 %) |\n"));
  EXPECT_THAT(result.out, HasSubstr("| fp32      | 32,121,044,992 B (32.12 GB, 29.92 GiB) |\n"));
  EXPECT_THAT(result.out, HasSubstr("8,192 tokens x batch 1    | 1,073,741,824 B (1.07 GB, 1.00"));
}

TEST(ModelCommandTest, ShapesFromFlags) {
  EXPECT_EQ(ModelJson({"--vocab", "50257", "--dim", "768", "--layers", "12", "--heads", "12",
                       "--positions", "1024"})["parameters"]["total"],
            124'439'808);
  EXPECT_EQ(ModelJson({"--vocab", "50257", "--dim", "768", "--layers", "12", "--positions", "1024",
                       "--untied"})["parameters"]["total"],
            163'037'184);
  const Arguments mistral = {"--vocab", "32000",     "--dim",  "4096",    "--layers", "32",
                             "--heads", "32",        "--ffn",  "14336",   "--gated",  "--kv-heads",
                             "8",       "--no-bias", "--norm", "rmsnorm", "--untied"};
  EXPECT_EQ(ModelJson(mistral)["parameters"]["total"], 7'241'732'096);
  Arguments mixtral = mistral;
  mixtral.insert(mixtral.end(), {"--experts", "8", "--active-experts", "2"});
  EXPECT_EQ(ModelJson(mixtral)["parameters"]["total"], 46'702'792'704);
  EXPECT_EQ(ModelJson(mixtral)["active_parameters"], 12'879'925'248);
  Arguments windowed = mistral;
  windowed.insert(windowed.end(), {"--context", "8192", "--window", "4096", "--batch", "2",
                                   "--kv-precision", "int8"});
  EXPECT_EQ(ModelJson(windowed)["kv_cache"]["bytes"], 536'870'912);
  EXPECT_EQ(ModelJson({"--vocab", "30522", "--dim", "768", "--layers", "12", "--heads", "12",
                       "--positions", "512", "--token-types", "2", "--embedding-norm",
                       "--final-norms", "0", "--pooler", "--encoder"})["parameters"]["total"],
            109'482'240);
  EXPECT_EQ(ModelJson({"--dim", "512", "--layers", "6", "--cross-layers", "6", "--heads", "8",
                       "--ffn", "2048", "--final-norms", "2"})["parameters"]["total"],
            44'140'544);
  // Without --heads there is no estimate of activations, which depends on them.
  const json headless = ModelJson({"--dim", "8", "--layers", "1", "--context", "4"});
  EXPECT_TRUE(headless["activation_bytes_estimate"].is_null());
  EXPECT_EQ(headless["notes"].size(), 1U);
  EXPECT_EQ(headless["kv_cache"]["bytes"], 2 * 8 * 4 * 2);
}

TEST(ModelCommandTest, MistralsWindow) {
  const json all = ModelJson({"--preset", "mistral-7b", "--context", "8192"});
  EXPECT_EQ(all["kv_cache"]["bytes"], 1'073'741'824);
  EXPECT_THAT(all["notes"][0], HasSubstr("--window 4096"));
  const json kept = ModelJson({"--preset", "mistral-7b", "--context", "8192", "--window", "4096"});
  EXPECT_EQ(kept["kv_cache"]["bytes"], 536'870'912);
  EXPECT_EQ(kept["notes"].size(), 0U);
}

TEST(ModelCommandTest, BareCounts) {
  const json model = ModelJson({"--parameters", "7000000000", "--train", "fp32"});
  EXPECT_EQ(model["parameters"].dump(), R"({"total":7000000000})");
  EXPECT_EQ(model["weights_bytes"]["fp32"], 28'000'000'000);
  EXPECT_EQ(model["weights_bytes"]["fp16"], 14'000'000'000);
  EXPECT_EQ(model["weights_bytes"]["int8"], 7'000'000'000);
  EXPECT_EQ(model["weights_bytes"]["int4"], 3'500'000'000);
  EXPECT_EQ(model["training"]["total"], 112'000'000'000);
  EXPECT_TRUE(model["estimate"].is_null());
  EXPECT_THAT(RunModel({"--parameters", "7000000000"}).out,
              HasSubstr("28,000,000,000 B (28.00 GB, 26.08 GiB)"));
}

TEST(ModelCommandTest, Training) {
  const json model = ModelJson({"--preset", "gpt2", "--train", "zero-mixed", "--gpus", "4"});
  EXPECT_EQ(model["training"]["convention"], "zero-mixed");
  EXPECT_EQ(model["training"]["total"], 1'991'036'928);
  EXPECT_EQ(model["training"]["weights"], 2 * 124'439'808);
  EXPECT_EQ(model["zero3_bytes_per_gpu_estimate"], 2'239'916'544 / 4 + 4 * 38'597'376);
  EXPECT_THAT(RunModel({"--preset", "gpt2", "--train", "fp32"}).out,
              HasSubstr("| Training, fp32: total            | 1,991,036,928 B"));
}

TEST(ModelCommandTest, Layers) {
  EXPECT_EQ(ModelJson({"linear", "768", "3072"})["parameters"].dump(),
            R"({"biases":3072,"total":2362368,"weights":2359296})");
  EXPECT_EQ(ModelJson({"linear", "768", "3072", "--no-bias"})["parameters"]["total"], 2'359'296);
  const json table = ModelJson({"embedding", "50257", "768"});
  EXPECT_EQ(table["parameters"]["total"], 38'597'376);
  EXPECT_EQ(table["weights_bytes"]["int4"], 19'298'688);
  EXPECT_EQ(ModelJson({"embedding", "10", "301"})["weights_bytes"]["int4"], 1'510);
  const json grouped =
      ModelJson({"attention", "--dim", "4096", "--heads", "32", "--kv-heads", "8", "--no-bias"});
  EXPECT_EQ(grouped["parameters"].dump(), R"({"key":4194304,"output":16777216,"query":16777216,)"
                                          R"("total":41943040,"value":4194304})");
  EXPECT_THAT(RunModel({"linear", "768", "3072"}).out,
              HasSubstr("| Total   | 2,362,368 Parameters |"));
  EXPECT_THAT(RunModel({"presets"}).out, HasSubstr("| llama3-8b "));
}

TEST(ModelCommandTest, Files) {
  const TempFile config(R"({"model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024,
    "n_embd": 768, "n_layer": 12, "n_head": 12})");
  EXPECT_EQ(ModelJson({"--config", config.path()})["parameters"]["total"], 124'439'808);

  const std::string header =
      R"({"model.norm.weight":{"dtype":"F16","shape":[4],"data_offsets":[0,8]},)"
      R"("odd.name":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})";
  const TempFile tensors(std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') +
                         header + std::string(16, 'x'));
  const std::string path = tensors.path() + ".safetensors";
  std::filesystem::copy_file(tensors.path(), path);
  const json model = ModelJson({"--file", path});
  EXPECT_EQ(model["parameters"].dump(),
            R"({"attention":0,"embedding":0,"head":0,"mlp":0,"norm":4,"other":2,"positions":0,)"
            R"("total":6})");
  EXPECT_EQ(model["file"]["types"]["F16"]["bytes"], 8);
  EXPECT_EQ(model["file"]["tensor_bytes"], 16);
  EXPECT_TRUE(model["kv_cache"].is_null());
  EXPECT_THAT(RunModel({"--file", path}).out, HasSubstr("| Total | 2 tensors in 1 file, 16 B"));
  std::filesystem::remove(path);
}

// What the header doesn't tell is said to be unknown, not 0.
TEST(ModelCommandTest, PackedWeightsOfUnknownParameters) {
  const std::string header =
      R"({"model.norm.weight":{"dtype":"F16","shape":[4],"data_offsets":[0,8]},)"
      R"("mlp.up_proj.weight_packed":{"dtype":"I32","shape":[2,1],"data_offsets":[8,16]}})";
  const TempFile tensors(std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') +
                         header + std::string(16, 'x'));
  const std::string path = tensors.path() + ".safetensors";
  std::filesystem::copy_file(tensors.path(), path);
  const json model = ModelJson({"--file", path});
  EXPECT_TRUE(model["parameters"]["total"].is_null());
  EXPECT_TRUE(model["file"]["packed"]["parameters"].is_null());
  const std::string text = RunModel({"--file", path}).out;
  EXPECT_THAT(text, HasSubstr("At least 4 Parameters"));
  EXPECT_THAT(text, HasSubstr("Packed weights (compressed-tensors): 1 tensors, of which the header "
                              "doesn't tell how many parameters they hold, with their scales 8 B"));
  EXPECT_THAT(text, Not(HasSubstr("decode to")));
  std::filesystem::remove(path);
}

TEST(ModelCommandTest, BadValuesAreCode1AndOneLine) {
  const std::vector<std::pair<Arguments, const char*>> cases = {
      {{"--preset", "gpt3"}, "there is no preset 'gpt3'; near it are gpt2"},
      {{"--parameters", "-5"}, "--parameters: '-5' is not a whole number of 0 or more"},
      {{"--parameters", "1e9"}, "--parameters: '1e9' is not a whole number"},
      {{"--parameters", "0"}, "parameters must be 1 or more"},
      {{"--parameters", "18446744073709551616"}, "is not below 2^64"},
      {{"--parameters", "18446744073709551615"}, "don't fit 64 bits"},
      {{"--parameters", "5", "--context", "5"}, "need the model's shape"},
      {{"--dim", "8", "--layers", "-1"}, "--layers: '-1' is not a whole number"},
      {{"--dim", "0", "--layers", "1"}, "d must be 1 or more"},
      {{"--dim", "8", "--layers", "1", "--heads", "0"}, "heads must be 1 or more"},
      {{"--dim", "8", "--layers", "1", "--heads", "3"}, "3 heads don't divide d = 8"},
      {{"--dim", "8", "--layers", "1", "--kv-heads", "1"}, "need --heads"},
      {{"--dim", "99999999999", "--layers", "1"}, "d is 99,999,999,999; the limit is"},
      {{"--dim", "1000000000", "--layers", "1000000000", "--ffn", "1"}, "don't fit 64 bits"},
      {{"--dim", "8", "--layers", "1", "--norm", "batchnorm"}, "--norm: 'batchnorm' is not one of"},
      {{"--preset", "gpt2", "--context", "0"}, "context must be 1"},
      {{"--preset", "gpt2", "--context", "5000"}, "1,024 learned positions"},
      {{"--preset", "gpt2", "--batch", "2"}, "--batch needs --context"},
      {{"--preset", "gpt2", "--kv-precision", "fp64"}, "'fp64' is not one of"},
      {{"--preset", "gpt2", "--train", "sgd"}, "known are fp32, zero-mixed"},
      {{"--preset", "gpt2", "--gpus", "0"}, "1 GPU or more"},
      {{"--config", "/no/config.json"}, "'/no/config.json': cannot open: No such file"},
      {{"--file", "/no/model.gguf"}, "'/no/model.gguf': cannot open: No such file"},
      {{"linear", "-3", "4"}, "inputs: '-3' is not a whole number"},
      {{"linear", "0", "4"}, "1 or more inputs"},
      {{"embedding", "4", "0"}, "1 or more rows"},
      {{"attention", "--dim", "8", "--heads", "3"}, "3 heads don't divide"},
  };
  for (const auto& [arguments, message] : cases) {
    const Result result = RunModel(arguments);
    EXPECT_EQ(result.code, 1) << ::testing::PrintToString(arguments) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
  }
}

TEST(ModelCommandTest, WrongUsageIsCode2) {
  const std::vector<Arguments> cases = {
      {},
      {"--frobnicate"},
      {"frobnicate"},
      {"--vocab", "5"},
      {"--gated"},
      {"--preset", "gpt2", "--parameters", "5"},
      {"--preset", "gpt2", "--layers", "5"},
      {"--preset", "gpt2", "--untied"},
      {"--config", "a", "--file", "b"},
      {"--dim", "8", "--layers", "1", "--tied", "--untied"},
      {"--dim", "8"},
      {"--dim", "8", "--layers", "1", "--bias", "--no-bias"},
      {"--dim", "8", "--layers", "1", "--qkv-bias", "--no-bias"},
      {"--preset"},
      {"linear", "5"},
      {"linear", "5", "5", "5"},
      {"linear", "5", "5", "--preset", "gpt2"},
      {"embedding"},
      {"attention", "--dim", "5"},
  };
  for (const Arguments& arguments : cases) {
    const Result result = RunModel(arguments);
    EXPECT_EQ(result.code, 2) << ::testing::PrintToString(arguments) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("vectable: error: "));
  }
}

TEST(ModelCommandTest, HelpNamesEveryFlag) {
  const std::string help = RunModel({"--help"}).out;
  for (const char* flag :
       {"--preset",  "--config",  "--file",    "--parameters",   "--vocab",
        "--dim",     "--layers",  "--heads",   "--kv-heads",     "--head-dim",
        "--ffn",     "--gated",   "--tied",    "--untied",       "--positions",
        "--norm",    "--bias",    "--no-bias", "--experts",      "--active-experts",
        "--context", "--batch",   "--window",  "--kv-precision", "--train",
        "linear",    "embedding", "attention", "presets"}) {
    EXPECT_THAT(help, HasSubstr(flag));
  }
  EXPECT_THAT(RunModel({"linear", "--help"}).out, HasSubstr("--no-bias"));
  EXPECT_THAT(help, Not(HasSubstr("\x01")));
}

}  // namespace
}  // namespace vectable
