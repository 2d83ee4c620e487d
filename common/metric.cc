#include "common/metric.h"

#include <array>

namespace vectable {
namespace {

constexpr std::array<Metric, 3> kAllMetrics = {Metric::kCosine, Metric::kDot, Metric::kEuclidean};

}  // namespace

std::string_view MetricName(Metric metric) {
  switch (metric) {
    case Metric::kCosine:
      return "cosine";
    case Metric::kDot:
      return "dot";
    case Metric::kEuclidean:
      return "euclidean";
  }
  return "unknown";
}

std::optional<Metric> ParseMetric(std::string_view name) {
  for (Metric metric : kAllMetrics) {
    if (MetricName(metric) == name) return metric;
  }
  return std::nullopt;
}

std::optional<Metric> MetricFromNumber(uint8_t number) {
  for (Metric metric : kAllMetrics) {
    if (static_cast<uint8_t>(metric) == number) return metric;
  }
  return std::nullopt;
}

}  // namespace vectable
