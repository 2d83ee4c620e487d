// What the server tells of itself: metrics and the log of slow calls.
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "prometheus/registry.h"
#include "prometheus/text_serializer.h"
#include "server/call_reporter.h"
#include "server/state_metrics.h"
#include "tests/server/rpc_fixture.h"

namespace vectable {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class MetricsTest : public RpcFixture {
 protected:
  MetricsTest() {
    options.reporter = &reporter_;
    Start();
  }
  ~MetricsTest() override { Stop(); }

  std::vector<std::string> slow() {
    absl::MutexLock lock(&mu_);
    return slow_;
  }

  // What Prometheus would be given.
  std::string CallText() const {
    return prometheus::TextSerializer().Serialize(reporter_.metrics().registry()->Collect());
  }
  std::string StateText() {
    const StateMetrics state(
        database(), [this] { return server().load(); }, "1.2.3");
    return prometheus::TextSerializer().Serialize(state.Collect());
  }

  v1::NearestRequest Search(const std::string& table, const std::string& word) {
    v1::NearestRequest request;
    request.set_table(table);
    request.set_k(3);
    request.set_exact(true);
    request.add_queries()->set_word(word);
    return request;
  }

 private:
  absl::Mutex mu_;
  std::vector<std::string> slow_ ABSL_GUARDED_BY(mu_);
  CallReporter reporter_{{.slow =
                              [this](const std::string& line) {
                                absl::MutexLock lock(&mu_);
                                slow_.push_back(line);
                              },
                          .slow_after = absl::ZeroDuration()}};
};

TEST_F(MetricsTest, CallsAreCountedByRpcAndCode) {
  EXPECT_THAT(CallText(),
              HasSubstr("vectable_requests_total{code=\"OK\",rpc=\"RowService/Upsert\"} 0"));
  MakeTable("toy", 2);
  Put("toy", "cat", {0, 1});
  Put("toy", "dog", {1, 1});
  grpc::Status status;
  Call(search, &v1::SearchService::Stub::Nearest, Search("none", "cat"), &status);
  EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
  const std::string text = CallText();
  EXPECT_THAT(text, HasSubstr("vectable_requests_total{code=\"OK\",rpc=\"RowService/Upsert\"} 2"));
  EXPECT_THAT(
      text,
      HasSubstr("vectable_requests_total{code=\"NOT_FOUND\",rpc=\"SearchService/Nearest\"} 1"));
  EXPECT_THAT(text, HasSubstr("vectable_request_seconds_count{rpc=\"RowService/Upsert\"} 2"));
  EXPECT_THAT(text, HasSubstr("vectable_request_seconds_count{rpc=\"SearchService/Nearest\"} 1"));
}

TEST_F(MetricsTest, StreamsAreCountedWhenTheyEnd) {
  MakeTable("toy", 2);
  Put("toy", "cat", {0, 1});
  v1::ScanRequest request;
  request.set_table("toy");
  {
    grpc::ClientContext context;
    const auto stream = rows->Scan(&context, request);
    v1::ScanResponse reply;
    while (stream->Read(&reply)) {
    }
    EXPECT_TRUE(stream->Finish().ok());
  }
  {
    grpc::ClientContext context;
    const auto stream = search->NearestStream(&context);
    v1::NearestStreamResponse reply;
    EXPECT_TRUE(stream->Write(Search("toy", "cat")));
    EXPECT_TRUE(stream->Read(&reply));
    // The scan may be on its way out still.
    const absl::Time until = absl::Now() + absl::Seconds(30);
    while (server().load().calls_under_way > 1 && absl::Now() < until) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    EXPECT_THAT(StateText(), HasSubstr("vectable_requests_in_flight 1"));
    EXPECT_TRUE(stream->WritesDone());
    EXPECT_FALSE(stream->Read(&reply));
    EXPECT_TRUE(stream->Finish().ok());
  }
  const std::string text = CallText();
  EXPECT_THAT(text, HasSubstr("vectable_requests_total{code=\"OK\",rpc=\"RowService/Scan\"} 1"));
  EXPECT_THAT(
      text,
      HasSubstr("vectable_requests_total{code=\"OK\",rpc=\"SearchService/NearestStream\"} 1"));
  for (const std::string& line : slow()) EXPECT_THAT(line, Not(HasSubstr("Stream")));
}

TEST_F(MetricsTest, TablesAndTheStoreAreMeasured) {
  MakeTable("toy", 2);
  Put("toy", "cat", {0, 1});
  Put("toy", "dog", {1, 1});
  Put("toy", "cat", {1, 0});
  MakeTable("other", 5, v1::METRIC_DOT);
  const std::string text = StateText();
  for (const char* line :
       {"vectable_build_info{version=\"1.2.3\"} 1", "vectable_up 1", "vectable_tables 2",
        "vectable_table_rows{table=\"toy\"} 2", "vectable_table_parameters{table=\"toy\"} 4",
        "vectable_table_dead_rows{table=\"toy\"} 1", "vectable_table_rows{table=\"other\"} 0",
        "vectable_table_dimensions{table=\"other\",precision=\"fp32\",metric=\"dot\"} 5",
        "vectable_table_segments{table=\"toy\",kind=\"growing\"} 1", "vectable_queue_tasks 0",
        "vectable_parked_requests 0", "vectable_store_writes_stopped 0",
        "vectable_store_background_errors_total 0"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  for (const char* name :
       {"vectable_table_memory_bytes{table=\"toy\",part=\"codes\"}",
        "vectable_table_disk_bytes{table=\"toy\",part=\"rows\"}",
        "vectable_store_disk_bytes{part=\"write_ahead_log\"}", "process_resident_memory_bytes",
        "process_open_fds", "process_cpu_seconds_total"}) {
    EXPECT_THAT(text, HasSubstr(name));
  }
}

TEST_F(MetricsTest, SlowCallsAreNamedWithoutTheirWords) {
  MakeTable("toy", 2);
  Put("toy", "secretive", {0, 1});
  Call(search, &v1::SearchService::Stub::Nearest, Search("toy", "secretive"));
  EXPECT_THAT(slow(), ElementsAre(HasSubstr("TableService/CreateTable took "),
                                  HasSubstr(" ms, table 'toy', 1 rows: OK"),
                                  HasSubstr(" ms, table 'toy', 1 queries, k 3, exact: OK")));
  for (const std::string& line : slow()) EXPECT_THAT(line, Not(HasSubstr("secretive")));
}

}  // namespace
}  // namespace vectable
