#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/latency.h"
#include "client/client.h"
#include "vectable/v1/table.pb.h"

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

// What was measured on one table.
struct BenchReport {
  v1::Table table;  // before the measurements
  std::string server_version;
  uint64_t queries = 0;        // sampled words that were there at the start
  uint64_t queries_gone = 0;   // sampled words that weren't, or vanished later
  bool rows_changed = false;   // written to meanwhile: recall is against the rows as they were
  bool index_changed = false;  // merged meanwhile
  std::vector<Measurement> measurements;

  // Rows in segments with graphs, dead ones left out.
  uint64_t graph_rows() const;
};

struct BenchHooks {
  std::function<bool()> interrupted;                            // asked on the calling thread
  std::function<void(uint64_t done, uint64_t steps)> progress;  // steps of about equal time
};

// Measures recall and speed of searches in a table, over one connection. The queries are words of
// the table, asked by word: a word is no hit of its own, and a call carries no vector. The truth
// are exact answers to them, got first, which warms the server, too.
//
// Exact search is measured with one query at a time and in batches, and so is each recall asked
// for, and that with several calls in flight as well (batches and calls in flight of 1 aren't
// measured twice). A measurement ends when its time is up and each query was asked, or when its
// time is up and every answer so far was exact. A batch whose answers don't fit one reply takes
// several requests.
//
// Errors: the server's, with what was being measured; FAILED_PRECONDITION: the table has no more
// than k rows, or none of the words is left; CANCELLED: interrupted.
absl::StatusOr<BenchReport> RunBench(Client& client, const BenchOptions& options,
                                     const BenchHooks& hooks);

}  // namespace vectable
