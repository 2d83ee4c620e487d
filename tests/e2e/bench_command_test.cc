// `vectable bench` against a real server: a table that is scanned, and one with a graph.

#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>
#include <random>

#include "absl/time/clock.h"
#include "tests/common/test_seed.h"
#include "tests/e2e/server_process.h"

namespace vectable {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr int kDimensions = 12;

void Import(ServerProcess& server, const std::string& table, int rows) {
  std::mt19937_64 random(TestSeed());
  std::normal_distribution<float> normal;
  const TempDir folder;
  const std::string path = folder.path() + "/words.txt";
  {
    std::ofstream file(path);
    for (int i = 0; i < rows; ++i) {
      file << "w" << i;
      for (int d = 0; d < kDimensions; ++d) file << ' ' << normal(random);
      file << '\n';
    }
  }
  server.RunJson({"import", path, "--table", table});
}

// What holds for every measurement.
void CheckMeasurement(const json& measured) {
  EXPECT_GE(measured["calls"], 1);
  EXPECT_GE(measured["queries"], measured["calls"]);
  EXPECT_GT(measured["seconds"], 0);
  EXPECT_GT(measured["queries_per_second"], 0);
  EXPECT_GE(measured["mean_engine_ms"], 0);
  const json& latency = measured["latency_ms"];
  EXPECT_GT(latency["p50"], 0);
  EXPECT_GE(latency["p95"], latency["p50"]);
  EXPECT_GE(latency["p99"], latency["p95"]);
  EXPECT_GE(latency["max"], latency["p99"]);
  EXPECT_LE(measured["recall_queries"], measured["queries"]);
  if (measured["exact"] == true) {
    EXPECT_EQ(measured["recall"], 1.0);
    EXPECT_EQ(measured["width"], 0);
    EXPECT_EQ(measured["server_recall"], 1.0);
    EXPECT_EQ(measured["exact_queries"], measured["queries"]);
  }
}

TEST(BenchCommandTest, ATableWithoutAGraph) {
  ServerProcess server;
  Import(server, "t", 1'000);
  const json report = server.RunJson({"bench", "t", "--queries", "150", "--seconds", "0.02"});
  EXPECT_EQ(report["name"], "t");
  EXPECT_EQ(report["rows"], 1'000);
  EXPECT_EQ(report["dimensions"], kDimensions);
  EXPECT_EQ(report["precision"], "fp32");
  EXPECT_EQ(report["metric"], "cosine");
  EXPECT_GE(report["segments"], 1);
  EXPECT_EQ(report["graph_rows"], 0);
  EXPECT_EQ(report["server"], server.address());
  EXPECT_EQ(report["k"], 10);
  EXPECT_EQ(report["queries"], 150);
  EXPECT_EQ(report["queries_gone"], 0);
  EXPECT_EQ(report["rows_changed"], false);
  ASSERT_EQ(report["measurements"].size(), 2U + 4U * 3U);
  for (const json& measured : report["measurements"]) {
    SCOPED_TRACE(measured.dump());
    CheckMeasurement(measured);
    EXPECT_EQ(measured["exact"], true);
  }
  const Outcome text = server.Run({"bench", "t", "--seconds", "0", "--queries", "10"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("Table 't' has no graph"));
  EXPECT_THAT(text.out, HasSubstr("optimize t --wait"));
}

TEST(BenchCommandTest, ATableWithAGraph) {
  ServerProcess server;
  Import(server, "t", 18'000);
  server.RunJson({"table", "optimize", "t", "--wait"});
  // At a low recall a walk is sure to be cheaper than a scan of one query.
  const json report = server.RunJson({"bench", "t", "--queries", "300", "--seconds", "0.02",
                                      "--recall", "0.5,1", "--batch", "50", "--concurrency", "3"});
  EXPECT_EQ(report["graph_rows"], 18'000);
  EXPECT_EQ(report["segments"], 1);
  ASSERT_EQ(report["measurements"].size(), 8U);
  for (const json& measured : report["measurements"]) {
    SCOPED_TRACE(measured.dump());
    CheckMeasurement(measured);
    if (measured["asked_recall"] != 0.5) {
      EXPECT_EQ(measured["exact"], true);
    } else if (measured["batch"] == 1) {
      EXPECT_EQ(measured["exact"], false);
      EXPECT_EQ(measured["exact_queries"], 0);
      EXPECT_GE(measured["width"], 10);
      EXPECT_GE(measured["server_recall"], 0.5);
      EXPECT_EQ(measured["recall_queries"], 300);
      EXPECT_GE(measured["recall"], 0.4);  // asked on average over other queries
      EXPECT_LE(measured["recall"], 1.0);
    } else {
      EXPECT_EQ(measured["batch"], 50);
    }
  }
  const json& in_flight = report["measurements"][4];
  EXPECT_EQ(in_flight["concurrency"], 3);
  EXPECT_THAT(
      server.Run({"bench", "t", "--seconds", "0", "--queries", "10", "--recall", "0.5"}).out,
      HasSubstr("1 segment, 18,000 of 18,000 rows in graphs"));
}

TEST(BenchCommandTest, WhatCannotBeMeasured) {
  ServerProcess server;
  server.RunJson({"table", "create", "t", "--dim", "2"});
  EXPECT_THAT(server.Run({"bench", "none"}).err, HasSubstr("no table 'none'"));
  EXPECT_THAT(server.Run({"bench", "t"}).err, HasSubstr("table 't' is empty"));
  server.RunJson({"put", "t", "a", "1", "2"});
  server.RunJson({"put", "t", "b", "2", "1"});
  const Outcome few = server.Run({"--json", "bench", "t", "-k", "2"});
  EXPECT_EQ(few.code, 1);
  EXPECT_EQ(few.out, "");
  EXPECT_THAT(few.err, HasSubstr("table 't' has 2 rows; for k = 2 it must have at least 3"));
  EXPECT_EQ(server.RunJson({"bench", "t", "-k", "1", "--seconds", "0"})["queries"], 2);
}

TEST(BenchCommandTest, EndsWithoutAReportWhenStoppedOrLeftAlone) {
  ServerProcess server;
  Import(server, "t", 1'000);
  const auto start = [&server] {
    auto bench = Process::Start(
        {ProgramPath("vectable"), "--server", server.address(), "bench", "t", "--seconds", "600"});
    absl::SleepFor(absl::Milliseconds(500));
    return bench;
  };
  const auto interrupted = start();
  interrupted->Signal(SIGINT);
  EXPECT_EQ(interrupted->Wait(), 130);
  EXPECT_EQ(interrupted->out(), "");
  const auto alone = start();
  server.Kill();
  EXPECT_EQ(alone->Wait(), 1);
  EXPECT_EQ(alone->out(), "");
  EXPECT_THAT(alone->err(), HasSubstr("vectable: error: "));
}

}  // namespace
}  // namespace vectable
