// A table large enough for a graph, through the programs, across a stop and a kill.

#include <gmock/gmock.h>

#include <fstream>
#include <random>

#include "tests/common/test_seed.h"
#include "tests/e2e/server_process.h"

namespace vectable {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr int kRows = 18'003;  // a graph is worth it from 16,384 on
constexpr int kDimensions = 12;

std::string WriteWords(const std::string& folder) {
  std::mt19937_64 random(TestSeed());
  std::normal_distribution<float> normal;
  const std::string path = folder + "/words.txt";
  std::ofstream file(path);
  for (int i = 0; i < kRows - 3; ++i) {
    file << "w" << i;
    for (int d = 0; d < kDimensions; ++d) file << ' ' << normal(random);
    file << '\n';
  }
  for (int i = 0; i < 3; ++i) file << "far" << i << " 1e-3 -1e3 1e3 0 0 0 0 0 0 0 0 0\n";
  return path;
}

TEST(OptimizeTest, AGraphAnswersAtTheRecallAskedForAndOutlivesTheServer) {
  const TempDir folder;
  ServerProcess server;
  server.RunJson({"import", WriteWords(folder.path()), "--table", "t"});
  const auto exact_hits = [&server] {
    const json found = server.RunJson({"nearest", "t", "w0", "w1", "w17000", "--exact"});
    std::string hits;
    for (const json& result : found["results"]) hits += result["hits"].dump();
    return hits;
  };
  const std::string exact = exact_hits();
  const json optimized = server.RunJson({"table", "optimize", "t", "--wait"});
  EXPECT_EQ(optimized["optimizing"], false);
  ASSERT_EQ(optimized["segments"].size(), 1U);
  EXPECT_EQ(optimized["segments"][0]["rows"], kRows);
  EXPECT_EQ(optimized["segments"][0]["graph"], true);
  EXPECT_EQ(optimized["segments"][0]["sealed"], true);
  const json curve = optimized["segments"][0]["recall"];
  ASSERT_GE(curve.size(), 2U);
  for (size_t i = 1; i < curve.size(); ++i) EXPECT_GT(curve[i]["width"], curve[i - 1]["width"]);
  EXPECT_GE(curve.back()["recall_at_10"], 0.95);
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    EXPECT_EQ(exact_hits(), exact);
    // At a low recall a walk is sure to be cheaper than a scan.
    const json found = server.RunJson({"nearest", "t", "w7", "--recall", "0.5"})["results"][0];
    EXPECT_EQ(found["exact"], false);
    EXPECT_GE(found["recall"], 0.5);
    EXPECT_GE(found["width"], 10);
    EXPECT_EQ(found["hits"].size(), 10U);
    EXPECT_EQ(found["rows_searched"], kRows - 1 - round);
    if (round == 0) server.Stop();
    if (round == 1) server.Kill();
    if (round < 2) server.Start();
    // Nobody's neighbour: the exact answers stay.
    server.RunJson({"delete", "t", "far" + std::to_string(round)});
  }
  EXPECT_THAT(server.Run({"table", "show", "t"}).out, HasSubstr("| graph "));
  EXPECT_THAT(server.Run({"nearest", "t", "w7", "--recall", "0.5"}).out, HasSubstr("beam width"));
  const json memory = server.RunJson({"size", "t"})["measured"];
  EXPECT_GE(memory["memory"]["graph"], kRows * 32 * 4);
  EXPECT_GE(memory["memory"]["mapped"], kRows * kDimensions * 4);
  EXPECT_GE(memory["disk"]["index"], kRows * (kDimensions * 4 + 32 * 4));
}

TEST(OptimizeTest, WrongRequestsAreRefused) {
  ServerProcess server;
  server.RunJson({"table", "create", "t", "--dim", "2"});
  server.RunJson({"put", "t", "a", "1", "2"});
  EXPECT_EQ(server.Run({"nearest", "t", "a", "--recall", "0"}).code, 2);
  EXPECT_EQ(server.Run({"nearest", "t", "a", "--recall", "1.5"}).code, 2);
  EXPECT_EQ(server.Run({"nearest", "t", "a", "--recall", "nan"}).code, 2);
  const Outcome missing = server.Run({"table", "optimize", "no", "--wait"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("no table 'no'"));
  EXPECT_EQ(server.RunJson({"table", "optimize", "t", "--wait"})["segments"].size(), 1U);
  v1::NearestRequest request;
  request.set_table("t");
  request.set_k(1);
  request.set_recall(-0.5);
  request.add_queries()->set_word("a");
  const auto refused = server.client().Nearest(request);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("recall is -0.5"));
}

}  // namespace
}  // namespace vectable
