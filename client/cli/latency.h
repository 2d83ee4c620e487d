#pragma once

#include <span>
#include <vector>

namespace vectable {

// How long calls took, in milliseconds.
struct LatencySummary {
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double max = 0;
};

// The least of `sorted`, ascending, that at least `percent` of 100 of them don't exceed (the
// nearest rank): always one that was measured. `sorted` isn't empty, `percent` is 1 to 100.
double Percentile(std::span<const double> sorted, size_t percent);

// Of times in any order; zeros for none.
LatencySummary SummarizeLatencies(std::vector<double> milliseconds);

}  // namespace vectable
