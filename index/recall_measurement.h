#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "common/metric.h"
#include "common/vector_codec.h"
#include "index/graph.h"
#include "index/recall_curve.h"
#include "index/row_block.h"

namespace vectable {

// Rows side by side, the first of which are in a graph; those behind them are queries.
struct RecallSample {
  Metric metric = Metric::kCosine;
  VectorCodec codec;
  RowColumns columns;  // codes, coarse, fine and norms of slot 0
  size_t rows = 0;     // in the graph
  size_t queries = 0;
  size_t threads = 1;
  std::function<bool()> stop;  // asked now and then by every thread; may be empty
};

// What walks of wider and wider beams find of the nearest rows that exact search finds. CANCELLED
// when it was told to stop.
absl::StatusOr<std::vector<RecallPoint>> MeasureRecall(const RecallSample& sample,
                                                       const Graph& graph);

}  // namespace vectable
