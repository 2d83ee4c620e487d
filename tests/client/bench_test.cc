#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <set>

#include "client/cli/bench_json.h"
#include "client/cli/bench_run.h"
#include "client/cli/bench_text.h"
#include "client/cli/latency.h"
#include "client/cli/word_sample.h"
#include "tests/client/fake_server.h"

namespace vectable {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(LatencyTest, PercentilesAreOfTheNearestRank) {
  const std::vector<double> one = {7};
  EXPECT_EQ(Percentile(one, 1), 7);
  EXPECT_EQ(Percentile(one, 100), 7);
  std::vector<double> twenty(20);
  std::iota(twenty.begin(), twenty.end(), 1);
  EXPECT_EQ(Percentile(twenty, 50), 10);
  EXPECT_EQ(Percentile(twenty, 95), 19);
  EXPECT_EQ(Percentile(twenty, 99), 20);
  std::vector<double> hundred(100);
  std::iota(hundred.begin(), hundred.end(), 1);
  for (size_t percent = 1; percent <= 100; ++percent) {
    EXPECT_EQ(Percentile(hundred, percent), static_cast<double>(percent));
  }
}

TEST(LatencyTest, ASummaryTakesTimesInAnyOrder) {
  const LatencySummary summary = SummarizeLatencies({3, 1, 2, 10});
  EXPECT_EQ(summary.p50, 2);
  EXPECT_EQ(summary.p95, 10);
  EXPECT_EQ(summary.p99, 10);
  EXPECT_EQ(summary.max, 10);
  EXPECT_EQ(SummarizeLatencies({}).max, 0);
}

class BenchTest : public ::testing::Test {
 protected:
  BenchTest() { client_ = *Client::Connect({.server = server_.address()}); }

  FakeState::Table& MakeTable(uint64_t rows) {
    FakeState::Table& table = server_.state().tables["t"];
    table.info.set_name("t");
    table.info.set_dimensions(2);
    for (uint64_t i = 0; i < rows; ++i) {
      const auto x = static_cast<float>(i);
      table.rows["w" + std::to_string(i)] = {i, {1 + x, 1000 - x}};
    }
    table.info.set_next_row_id(rows);
    return table;
  }

  std::vector<std::string> Sample(size_t count, uint64_t seed) {
    return *SampleWords(*client_, *client_->GetTable("t"), count, seed, nullptr);
  }

  // Quick: each measurement takes as many calls as it must.
  static BenchOptions Quick() {
    BenchOptions options;
    options.table = "t";
    options.k = 4;
    options.recalls = {0.9};
    options.batch = 8;
    options.concurrency = 3;
    options.time = absl::ZeroDuration();
    return options;
  }

  FakeServer server_;
  std::unique_ptr<Client> client_;
};

TEST_F(BenchTest, ASampleOfAListedTable) {
  MakeTable(50);
  const std::vector<std::string> words = Sample(20, 7);
  EXPECT_EQ(std::set<std::string>(words.begin(), words.end()).size(), 20U);
  EXPECT_EQ(Sample(20, 7), words);
  EXPECT_NE(Sample(20, 8), words);
  EXPECT_EQ(Sample(100, 7).size(), 50U);
  const auto stop = [] { return true; };
  EXPECT_EQ(SampleWords(*client_, *client_->GetTable("t"), 5, 1, stop).status().code(),
            absl::StatusCode::kCancelled);
}

TEST_F(BenchTest, ASampleOfALargeTableReadsFewRows) {
  FakeState::Table& table = MakeTable(101'000);
  for (int i = 0; i < 500; ++i) table.rows.erase("w" + std::to_string(i * 200));
  const std::vector<std::string> words = Sample(300, 7);
  EXPECT_EQ(std::set<std::string>(words.begin(), words.end()).size(), 300U);
  const std::vector<int>& keys = server_.state().get_keys;
  EXPECT_LT(std::accumulate(keys.begin(), keys.end(), 0), 400);
  EXPECT_EQ(Sample(300, 7), words);
  // Ids too far apart to be guessed.
  table.info.set_next_row_id(uint64_t{1} << 62);
  server_.state().get_keys.clear();
  EXPECT_EQ(Sample(300, 7).size(), 300U);
  EXPECT_TRUE(server_.state().get_keys.empty());
}

TEST_F(BenchTest, ExactAnswersNeedNotAllBeAsked) {
  MakeTable(60);
  const absl::StatusOr<BenchReport> report = RunBench(*client_, Quick(), {});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->queries, 60U);
  EXPECT_EQ(report->server_version, "0.0.0-fake");
  ASSERT_EQ(report->measurements.size(), 5U);
  for (const Measurement& measured : report->measurements) {
    EXPECT_TRUE(measured.exact());
    EXPECT_EQ(measured.recall, 1);
    EXPECT_EQ(measured.width, 0U);
    EXPECT_EQ(measured.queries, measured.calls * measured.batch);
    EXPECT_GE(measured.latency.p95, measured.latency.p50);
    EXPECT_GE(measured.latency.p99, measured.latency.p95);
    EXPECT_GE(measured.latency.max, measured.latency.p99);
    EXPECT_LE(measured.latency.max, measured.seconds * 1000);
    EXPECT_DOUBLE_EQ(measured.engine_ms, 0.005);
  }
  EXPECT_EQ(report->measurements[0].calls, 1U);
  EXPECT_EQ(report->measurements[1].calls, 1U);
  EXPECT_LE(report->measurements[4].calls, 3U);
  EXPECT_THAT(BenchNotes(*report), HasSubstr("optimize t --wait"));
}

TEST_F(BenchTest, ARecallIsMeasuredOverAllQueriesOnce) {
  MakeTable(60);
  server_.state().walk_width = 32;  // the nearest of 4 is missed
  const absl::StatusOr<BenchReport> report = RunBench(*client_, Quick(), {});
  ASSERT_TRUE(report.ok()) << report.status();
  for (const Measurement& measured : report->measurements) {
    SCOPED_TRACE(measured.asked_text() + ", " + measured.calls_text());
    if (!measured.asked_recall) {
      EXPECT_EQ(measured.recall, 1);
      continue;
    }
    EXPECT_EQ(measured.exact_queries, 0U);
    EXPECT_EQ(measured.width, 32U);
    EXPECT_DOUBLE_EQ(measured.server_recall, 0.9);
    EXPECT_DOUBLE_EQ(measured.recall, 0.75);
    EXPECT_EQ(measured.recall_queries, 60U);
    // 60 aren't whole batches of 8: the last one begins anew.
    EXPECT_EQ(measured.queries, measured.batch == 8 ? 64U : 60U);
  }
  for (const int queries : server_.state().query_counts) {
    EXPECT_TRUE(queries == 60 || queries == 8 || queries == 1) << queries;
  }
}

TEST_F(BenchTest, AHitThatTiesWithTheLastIsRight) {
  FakeState::Table& table = MakeTable(60);
  for (auto& [word, row] : table.rows) row.vector = {1, 1};
  server_.state().walk_width = 32;
  const absl::StatusOr<BenchReport> report = RunBench(*client_, Quick(), {});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->measurements.back().recall, 1);
  EXPECT_FALSE(report->measurements.back().exact());
}

TEST_F(BenchTest, ATableThatChangesMeanwhile) {
  FakeState::Table& table = MakeTable(60);
  server_.state().walk_width = 32;
  uint64_t steps_seen = 0;
  BenchHooks hooks;
  hooks.progress = [&](uint64_t done, uint64_t steps) {
    EXPECT_GE(done, steps_seen);
    EXPECT_LE(done, steps);
    steps_seen = done;
    if (done < steps / 2) return;
    const std::lock_guard lock(server_.state().mutex);
    table.rows.erase("w17");
    server_.state().sequence = 9;
    if (table.info.segments().empty()) table.info.add_segments()->set_graph(true);
  };
  const absl::StatusOr<BenchReport> report = RunBench(*client_, Quick(), hooks);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->queries, 60U);
  EXPECT_EQ(report->queries_gone, 1U);
  EXPECT_TRUE(report->rows_changed);
  EXPECT_TRUE(report->index_changed);
  EXPECT_EQ(report->measurements.back().recall_queries, 59U);
  EXPECT_THAT(BenchNotes(*report), AllOf(HasSubstr("left out: 1."), HasSubstr("written to"),
                                         HasSubstr("merged meanwhile")));
}

TEST_F(BenchTest, AllWordsGone) {
  FakeState::Table& table = MakeTable(60);
  BenchHooks hooks;
  hooks.progress = [&](uint64_t done, uint64_t) {
    const std::lock_guard lock(server_.state().mutex);
    if (done >= 1'000) table.rows.clear();
  };
  const absl::StatusOr<BenchReport> report = RunBench(*client_, Quick(), hooks);
  EXPECT_EQ(report.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("none of the sampled words"));
}

TEST_F(BenchTest, TheServerGoesAway) {
  MakeTable(60);
  BenchOptions options = Quick();
  options.time = absl::Seconds(60);
  BenchHooks hooks;
  hooks.progress = [this](uint64_t done, uint64_t) {
    if (done >= 1'000) server_.Stop();
  };
  const absl::StatusOr<BenchReport> report = RunBench(*client_, options, hooks);
  EXPECT_EQ(report.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("measuring exact, one by one: "));
}

TEST_F(BenchTest, AnInterruptEndsAllThreads) {
  MakeTable(60);
  server_.state().walk_width = 32;
  BenchOptions options = Quick();
  uint64_t last = 0, all = 1;
  BenchHooks hooks;
  hooks.progress = [&](uint64_t done, uint64_t steps) { last = done, all = steps; };
  hooks.interrupted = [&] { return last + 1'000 >= all; };  // in the measurement with threads
  const absl::StatusOr<BenchReport> report = RunBench(*client_, options, hooks);
  EXPECT_EQ(report.status().code(), absl::StatusCode::kCancelled);
}

TEST_F(BenchTest, NothingIsMeasuredTwice) {
  MakeTable(20);
  BenchOptions options = Quick();
  options.batch = 1;
  options.concurrency = 1;
  const absl::StatusOr<BenchReport> report = RunBench(*client_, options, {});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->measurements.size(), 2U);
}

BenchReport HandMade() {
  BenchReport report;
  report.table.set_name("glove");
  report.table.set_rows(341'479);
  v1::Segment& segment = *report.table.add_segments();
  segment.set_rows(341'479);
  segment.set_graph(true);
  report.queries = 1'000;
  Measurement& measured = report.measurements.emplace_back();
  measured.asked_recall = 0.95;
  measured.concurrency = 4;
  measured.queries = 9'000;
  measured.seconds = 2;
  measured.latency = {0.5, 1, 2, 31.25};
  measured.recall = 0.97036;
  measured.width = 1'156;
  return report;
}

TEST(BenchTextTest, FiguresAreRoundedAndAligned) {
  const BenchReport report = HandMade();
  EXPECT_EQ(BenchTable(report, {}).Render(),
            "+-------------+-------------+-----------+--------+--------+--------+--------+"
            "-----------+-------+-------+\n"
            "| Asked       | Calls       | Queries/s | p50 ms | p95 ms | p99 ms | Max ms |"
            " Recall@10 | Width | Exact |\n"
            "+-------------+-------------+-----------+--------+--------+--------+--------+"
            "-----------+-------+-------+\n"
            "| recall 0.95 | 4 in flight |     4,500 |  0.500 |  1.000 |  2.000 | 31.250 |"
            "    0.9704 | 1,156 |    no |\n"
            "+-------------+-------------+-----------+--------+--------+--------+--------+"
            "-----------+-------+-------+\n");
  EXPECT_THAT(BenchHead(report, {}, "here:1").Render(),
              HasSubstr("1 segment, 341,479 of 341,479 rows in graphs"));
  EXPECT_EQ(BenchNotes(report), "");
}

TEST(BenchTextTest, ExactAnswersToARecallAreExplained) {
  BenchReport report = HandMade();
  report.measurements[0].exact_queries = 4'000;
  EXPECT_THAT(BenchTable(report, {}).Render(), HasSubstr("4,000 of 9,000"));
  report.measurements[0].exact_queries = 9'000;
  EXPECT_THAT(BenchNotes(report), HasSubstr("Exact where a recall was asked"));
  report.measurements[0].asked_recall = 1;
  EXPECT_EQ(BenchNotes(report), "");
  report.table.mutable_segments(0)->set_graph(false);
  EXPECT_THAT(BenchNotes(report), HasSubstr("Table 'glove' has no graph"));
}

TEST(BenchJsonTest, EveryFieldIsThere) {
  const Json json = BenchJson(HandMade(), {}, "here:1");
  EXPECT_EQ(json["graph_rows"], 341'479);
  EXPECT_EQ(json["server"], "here:1");
  EXPECT_EQ(json["k"], 10);
  const Json& measured = json["measurements"][0];
  EXPECT_EQ(measured["asked"], "recall");
  EXPECT_EQ(measured["asked_recall"], 0.95);
  EXPECT_EQ(measured["queries_per_second"], 4'500);
  EXPECT_EQ(measured["latency_ms"].dump(), R"({"p50":0.5,"p95":1.0,"p99":2.0,"max":31.25})");
  EXPECT_EQ(measured["exact"], false);
}

}  // namespace
}  // namespace vectable
