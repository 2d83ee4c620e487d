#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "index/graph_builder.h"
#include "index/sealed_segment.h"
#include "index/segment.h"

namespace vectable {

// Live rows to gather: those of some segments, as of one version.
struct SegmentSource {
  std::shared_ptr<const Segment> segment;
  size_t slots = 0;
};

struct SegmentBuildOptions {
  std::string path;            // of the new file; empty: a file in memory
  size_t graph_rows = 16'384;  // from so many rows on there is a graph
  GraphOptions graph;          // its `stop` ends the whole build: CANCELLED
};

// Gathers the rows of `sources` that live in `version` into one segment: writes its file, builds
// its graph and measures the graph's recall. Takes long, and nothing is changed meanwhile.
//
// The recall is measured before the last thousand rows, chosen by a hash, come into the graph, with
// these rows as queries: real vectors of the table that the graph doesn't hold. (A row that the
// graph holds would find its neighbours by its own links.)
absl::StatusOr<std::shared_ptr<SealedSegment>> BuildSegment(
    Metric metric, const VectorCodec& codec, const std::vector<SegmentSource>& sources,
    uint64_t version, const SegmentBuildOptions& options);

}  // namespace vectable
