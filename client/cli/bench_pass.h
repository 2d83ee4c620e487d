#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/latency.h"
#include "client/client.h"
#include "vectable/v1/search.pb.h"

namespace vectable {

struct BenchOptions {
  std::string table;
  size_t queries = 1'000;  // words of the table, at least 1
  uint64_t seed = 1;       // chooses them
  uint32_t k = 10;         // hits per query, at least 1
  std::vector<double> recalls = {0.9, 0.95, 0.98, 0.99};
  size_t batch = 100;                      // queries per call where there are batches, at least 1
  size_t concurrency = 4;                  // calls in flight where there are several, at least 1
  absl::Duration time = absl::Seconds(2);  // that one measurement takes
};

// One way of asking, and what it gave.
struct Measurement {
  std::optional<double> asked_recall;  // absent where exact answers were asked for
  size_t batch = 1;                    // queries per call
  size_t concurrency = 1;              // calls in flight

  uint64_t calls = 0;
  uint64_t queries = 0;    // answered
  double seconds = 0;      // from the first call to the end of the last
  LatencySummary latency;  // of calls
  double engine_ms = 0;    // mean time of a call in the server's engine, as its replies say

  uint64_t exact_queries = 0;  // answered exactly
  uint32_t width = 0;          // the greatest beam width in replies; 0: no walk
  double server_recall = 1;    // the least recall in replies: what walks were measured to reach
  // The mean share of a query's true k nearest that were found; a hit that scores no less than the
  // k-th of them counts as one. Each query counts once, and those not asked again don't count.
  double recall = 0;
  uint64_t recall_queries = 0;

  // "exact", "recall 0.95".
  std::string asked_text() const;
  // "one by one", "batches of 100", "4 in flight".
  std::string calls_text() const;
  double queries_per_second() const;
  bool exact() const { return exact_queries == queries; }
};

// A word to ask for, and what tells its true neighbours.
struct BenchQuery {
  std::string word;
  double least_score = 0;  // of the true neighbours
  int true_hits = 0;       // k, unless the table has shrunk
};

// Which mutations the replies saw.
struct SequenceRange {
  uint64_t first = std::numeric_limits<uint64_t>::max();
  uint64_t last = 0;

  void Add(uint64_t sequence) { Add({sequence, sequence}); }
  void Add(const SequenceRange& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
};

// The queries of a run, and what was seen of the table while they were asked.
struct BenchQueries {
  std::vector<BenchQuery> list;
  std::vector<std::atomic<bool>> gone;  // one per query: its word has vanished
  SequenceRange sequences;
};

// A request without queries yet; exact where no recall is given.
v1::NearestRequest BenchRequest(const BenchOptions& options, std::optional<double> recall);

// One result per query of the request: hits, or the code of a word that isn't there. Any other
// error of a query is one of the whole.
absl::StatusOr<v1::NearestResponse> AskBench(Client& client, const v1::NearestRequest& request);

// FAILED_PRECONDITION: no word is left to ask for.
absl::Status AllWordsGone(const std::string& table);

// Asks the queries as `plan` says and fills in what came of it. Ends when the time is up and each
// query was asked, or when the time is up and every answer so far was exact. `look` is called on
// this thread after each of its calls, with the share of the time that has passed, up to 1; an
// error of it ends the measurement and is given back.
absl::StatusOr<Measurement> MeasureSearches(Client& client, const BenchOptions& options,
                                            BenchQueries& queries, const Measurement& plan,
                                            const std::function<absl::Status(double)>& look);

}  // namespace vectable
