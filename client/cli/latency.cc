#include "client/cli/latency.h"

#include <algorithm>

namespace vectable {

double Percentile(std::span<const double> sorted, size_t percent) {
  const size_t rank = (sorted.size() * percent + 99) / 100;  // from 1; whole numbers round nothing
  return sorted[rank - 1];
}

LatencySummary SummarizeLatencies(std::vector<double> milliseconds) {
  if (milliseconds.empty()) return {};
  std::sort(milliseconds.begin(), milliseconds.end());
  return {Percentile(milliseconds, 50), Percentile(milliseconds, 95), Percentile(milliseconds, 99),
          milliseconds.back()};
}

}  // namespace vectable
