#include "client/cli/bench_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "client/cli/word_sample.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

constexpr size_t kTruthBatch = 100;     // queries per call
constexpr uint64_t kPassSteps = 1'000;  // of progress, per measurement

std::vector<Measurement> PlanMeasurements(const BenchOptions& options) {
  std::vector<Measurement> plans;
  const auto add = [&plans](std::optional<double> recall, size_t batch, size_t concurrency) {
    Measurement& plan = plans.emplace_back();
    plan.asked_recall = recall;
    plan.batch = batch;
    plan.concurrency = concurrency;
  };
  add(std::nullopt, 1, 1);
  if (options.batch > 1) add(std::nullopt, options.batch, 1);
  for (const double recall : options.recalls) {
    add(recall, 1, 1);
    if (options.batch > 1) add(recall, options.batch, 1);
    if (options.concurrency > 1) add(recall, 1, options.concurrency);
  }
  return plans;
}

absl::Status CheckRows(const v1::Table& table, uint32_t k) {
  if (table.rows() > k) return absl::OkStatus();
  if (table.rows() == 0) {
    return absl::FailedPreconditionError(
        fmt::format("table {} is empty: there is nothing to measure", Quoted(table.name())));
  }
  return absl::FailedPreconditionError(
      fmt::format("table {} has {} rows; for k = {} it must have at least {}", Quoted(table.name()),
                  WithThousands(table.rows()), k, WithThousands(uint64_t{k} + 1)));
}

// A run over one table.
class BenchRun {
 public:
  BenchRun(Client& client, const BenchOptions& options, const BenchHooks& hooks)
      : client_(client),
        options_(options),
        hooks_(hooks),
        plans_(PlanMeasurements(options)),
        steps_((plans_.size() + 1) * kPassSteps) {}

  absl::StatusOr<BenchReport> Run() {
    VT_ASSIGN_OR_RETURN(report_.table, client_.GetTable(options_.table));
    VT_RETURN_IF_ERROR(CheckRows(report_.table, options_.k));
    VT_ASSIGN_OR_RETURN(const v1::GetServerInfoResponse info, client_.GetServerInfo());
    report_.server_version = info.version();
    VT_RETURN_IF_ERROR(FindTruth());
    // Its index, now that it is loaded for sure.
    VT_ASSIGN_OR_RETURN(report_.table, client_.GetTable(options_.table));
    queries_.gone = std::vector<std::atomic<bool>>(queries_.list.size());
    for (const Measurement& plan : plans_) {
      const uint64_t done = (report_.measurements.size() + 1) * kPassSteps;
      const auto look = [this, done](double share) {
        return Look(done + static_cast<uint64_t>(share * kPassSteps));
      };
      absl::StatusOr<Measurement> measured =
          MeasureSearches(client_, options_, queries_, plan, look);
      if (!measured.ok()) {
        return Annotate(measured.status(),
                        fmt::format("measuring {}, {}", plan.asked_text(), plan.calls_text()));
      }
      report_.measurements.push_back(*std::move(measured));
    }
    report_.queries = queries_.list.size();
    report_.queries_gone +=
        static_cast<uint64_t>(std::count(queries_.gone.begin(), queries_.gone.end(), true));
    report_.rows_changed = queries_.sequences.first != queries_.sequences.last;
    return CompareIndex();
  }

 private:
  absl::Status Look(uint64_t done) const {
    if (hooks_.progress) hooks_.progress(done, steps_);
    return hooks_.interrupted && hooks_.interrupted() ? absl::CancelledError("interrupted")
                                                      : absl::OkStatus();
  }

  absl::Status FindTruth() {
    VT_ASSIGN_OR_RETURN(
        const std::vector<std::string> words,
        SampleWords(client_, report_.table, options_.queries, options_.seed, hooks_.interrupted));
    for (size_t begin = 0; begin < words.size(); begin += kTruthBatch) {
      VT_RETURN_IF_ERROR(Look(begin * kPassSteps / words.size()));
      v1::NearestRequest request = BenchRequest(options_, std::nullopt);
      const size_t end = std::min(begin + kTruthBatch, words.size());
      for (size_t i = begin; i < end; ++i) request.add_queries()->set_word(words[i]);
      absl::StatusOr<v1::NearestResponse> reply = AskBench(client_, request);
      if (!reply.ok()) return Annotate(reply.status(), "finding the true neighbours");
      for (size_t i = begin; i < end; ++i) {
        const v1::QueryResult& result = reply->results(static_cast<int>(i - begin));
        if (result.hits().empty()) {
          ++report_.queries_gone;
        } else {
          queries_.list.push_back({words[i], result.hits().rbegin()->score(), result.hits_size()});
        }
      }
      queries_.sequences.Add(reply->sequence());
    }
    return queries_.list.empty() ? AllWordsGone(options_.table) : absl::OkStatus();
  }

  absl::StatusOr<BenchReport> CompareIndex() {
    VT_ASSIGN_OR_RETURN(const v1::Table after, client_.GetTable(options_.table));
    const auto& before = report_.table.segments();
    report_.index_changed =
        !std::equal(before.begin(), before.end(), after.segments().begin(), after.segments().end(),
                    [](const v1::Segment& a, const v1::Segment& b) {
                      return a.sealed() == b.sealed() && a.graph() == b.graph();
                    });
    return std::move(report_);
  }

  Client& client_;
  const BenchOptions& options_;
  const BenchHooks& hooks_;
  const std::vector<Measurement> plans_;
  const uint64_t steps_;
  BenchQueries queries_;
  BenchReport report_;
};

}  // namespace

uint64_t BenchReport::graph_rows() const {
  uint64_t rows = 0;
  for (const v1::Segment& segment : table.segments()) {
    if (segment.graph()) rows += segment.rows();
  }
  return rows;
}

absl::StatusOr<BenchReport> RunBench(Client& client, const BenchOptions& options,
                                     const BenchHooks& hooks) {
  return BenchRun(client, options, hooks).Run();
}

}  // namespace vectable
