#include "client/cli/bench_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

using BenchClock = std::chrono::steady_clock;

constexpr int kNotFoundCode = 5;  // google.rpc.Code

double SecondsSince(BenchClock::time_point start) {
  return std::chrono::duration<double>(BenchClock::now() - start).count();
}

// What one thread counted.
struct BenchTally {
  std::vector<double> call_ms;
  double engine_ms = 0;
  uint64_t queries = 0;
  uint64_t exact_queries = 0;
  uint32_t width = 0;
  double server_recall = 1;
  double recall_sum = 0;
  uint64_t recall_queries = 0;
  SequenceRange sequences;

  void Add(const BenchTally& other) {
    call_ms.insert(call_ms.end(), other.call_ms.begin(), other.call_ms.end());
    engine_ms += other.engine_ms;
    queries += other.queries;
    exact_queries += other.exact_queries;
    width = std::max(width, other.width);
    server_recall = std::min(server_recall, other.server_recall);
    recall_sum += other.recall_sum;
    recall_queries += other.recall_queries;
    sequences.Add(other.sequences);
  }
};

// The share of a query's true neighbours among the hits.
double RecallOf(const v1::QueryResult& result, const BenchQuery& query) {
  const auto right =
      std::count_if(result.hits().begin(), result.hits().end(),
                    [&query](const v1::Hit& hit) { return hit.score() >= query.least_score; });
  return std::min(1.0, static_cast<double>(right) / query.true_hits);
}

// One measurement.
class BenchPass {
 public:
  BenchPass(Client& client, const BenchOptions& options, BenchQueries& queries,
            const Measurement& plan)
      : client_(client),
        options_(options),
        queries_(queries.list),
        gone_(queries.gone),
        sequences_(queries.sequences),
        result_(plan),
        batch_(std::min(plan.batch, queries.list.size())) {}

  absl::StatusOr<Measurement> Run(const std::function<absl::Status(double)>& look) {
    std::vector<BenchTally> tallies(result_.concurrency);
    start_ = BenchClock::now();
    {
      std::vector<std::jthread> others;
      for (size_t i = 1; i < tallies.size(); ++i) {
        others.emplace_back([this, &tally = tallies[i]] { Work(tally, nullptr); });
      }
      Work(tallies[0], look);
    }
    result_.seconds = SecondsSince(start_);
    {
      const absl::MutexLock lock(&mutex_);
      VT_RETURN_IF_ERROR(error_);
    }
    for (size_t i = 1; i < tallies.size(); ++i) tallies[0].Add(tallies[i]);
    if (tallies[0].queries == 0) return AllWordsGone(options_.table);
    sequences_.Add(tallies[0].sequences);
    Take(std::move(tallies[0]));
    return result_;
  }

 private:
  void Work(BenchTally& tally, const std::function<absl::Status(double)>& look) {
    while (true) {
      const uint64_t call = next_call_.fetch_add(1);
      if (!Wanted(call)) return;
      absl::Status status = Call(call, tally);
      if (status.ok() && look) status = look(TimePassed());
      if (!status.ok()) return Fail(status);
    }
  }

  bool Wanted(uint64_t call) const {
    if (stopped_) return false;
    if (TimePassed() < 1) return true;
    return call * batch_ < queries_.size() && (walked_ || !answered_);
  }

  double TimePassed() const {
    const double time = absl::ToDoubleSeconds(options_.time);
    return time > 0 ? std::min(1.0, SecondsSince(start_) / time) : 1;
  }

  void Fail(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_) {
    stopped_ = true;
    const absl::MutexLock lock(&mutex_);
    if (error_.ok()) error_ = status;
  }

  // The queries in their order, over and over.
  absl::Status Call(uint64_t call, BenchTally& tally) {
    v1::NearestRequest request = BenchRequest(options_, result_.asked_recall);
    std::vector<uint64_t> asked;
    for (uint64_t i = call * batch_; i < (call + 1) * batch_; ++i) {
      if (gone_[i % queries_.size()]) continue;
      request.add_queries()->set_word(queries_[i % queries_.size()].word);
      asked.push_back(i);
    }
    if (asked.empty()) return absl::OkStatus();
    const BenchClock::time_point start = BenchClock::now();
    VT_ASSIGN_OR_RETURN(const v1::NearestResponse reply, AskBench(client_, request));
    const double milliseconds = SecondsSince(start) * 1000;
    const uint64_t before = tally.queries;
    for (size_t i = 0; i < asked.size(); ++i) {
      TakeAnswer(asked[i], reply.results(static_cast<int>(i)), tally);
    }
    if (tally.queries == before) return absl::OkStatus();
    tally.call_ms.push_back(milliseconds);
    tally.engine_ms += static_cast<double>(reply.engine_micros()) / 1000;
    tally.sequences.Add(reply.sequence());
    return absl::OkStatus();
  }

  // `asked` counts on when the queries begin anew.
  void TakeAnswer(uint64_t asked, const v1::QueryResult& result, BenchTally& tally) {
    const size_t at = asked % queries_.size();
    if (result.code() != 0) {
      gone_[at] = true;
      return;
    }
    ++tally.queries;
    answered_ = true;
    if (result.exact()) {
      ++tally.exact_queries;
    } else {
      walked_ = true;
      tally.width = std::max(tally.width, result.width());
      tally.server_recall = std::min(tally.server_recall, result.recall());
    }
    if (asked >= queries_.size()) return;
    tally.recall_sum += RecallOf(result, queries_[at]);
    ++tally.recall_queries;
  }

  void Take(BenchTally tally) {
    result_.calls = tally.call_ms.size();
    result_.queries = tally.queries;
    result_.engine_ms = tally.engine_ms / static_cast<double>(result_.calls);
    result_.latency = SummarizeLatencies(std::move(tally.call_ms));
    result_.exact_queries = tally.exact_queries;
    result_.width = tally.width;
    result_.server_recall = tally.server_recall;
    result_.recall_queries = tally.recall_queries;
    if (tally.recall_queries > 0) {
      result_.recall = tally.recall_sum / static_cast<double>(tally.recall_queries);
    }
  }

  Client& client_;
  const BenchOptions& options_;
  const std::vector<BenchQuery>& queries_;
  std::vector<std::atomic<bool>>& gone_;
  SequenceRange& sequences_;
  Measurement result_;
  const size_t batch_;
  BenchClock::time_point start_;
  std::atomic<uint64_t> next_call_ = 0;
  std::atomic<bool> answered_ = false;
  std::atomic<bool> walked_ = false;  // for any answer
  std::atomic<bool> stopped_ = false;
  absl::Mutex mutex_;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::string Measurement::asked_text() const {
  return asked_recall ? fmt::format("recall {:g}", *asked_recall) : "exact";
}

std::string Measurement::calls_text() const {
  if (batch > 1) return fmt::format("batches of {}", WithThousands(batch));
  if (concurrency > 1) return fmt::format("{} in flight", concurrency);
  return "one by one";
}

double Measurement::queries_per_second() const {
  return seconds > 0 ? static_cast<double>(queries) / seconds : 0;
}

v1::NearestRequest BenchRequest(const BenchOptions& options, std::optional<double> recall) {
  v1::NearestRequest request;
  request.set_table(options.table);
  request.set_k(options.k);
  if (recall) {
    request.set_recall(*recall);
  } else {
    request.set_exact(true);
  }
  return request;
}

absl::StatusOr<v1::NearestResponse> AskBench(Client& client, const v1::NearestRequest& request) {
  VT_ASSIGN_OR_RETURN(v1::NearestResponse reply, client.Nearest(request));
  if (reply.results_size() != request.queries_size()) {
    return absl::InternalError(fmt::format("the server answered {} of {} queries",
                                           reply.results_size(), request.queries_size()));
  }
  for (const v1::QueryResult& result : reply.results()) {
    if (result.code() != 0 && result.code() != kNotFoundCode) {
      return absl::Status(static_cast<absl::StatusCode>(result.code()), result.error());
    }
  }
  return reply;
}

absl::Status AllWordsGone(const std::string& table) {
  return absl::FailedPreconditionError(
      fmt::format("table {}: none of the sampled words is left", Quoted(table)));
}

absl::StatusOr<Measurement> MeasureSearches(Client& client, const BenchOptions& options,
                                            BenchQueries& queries, const Measurement& plan,
                                            const std::function<absl::Status(double)>& look) {
  return BenchPass(client, options, queries, plan).Run(look);
}

}  // namespace vectable
