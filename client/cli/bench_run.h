#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/bench_pass.h"
#include "client/client.h"
#include "vectable/v1/table.pb.h"

namespace vectable {

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
