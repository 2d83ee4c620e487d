#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vectable {

// What a score means; a higher score is always nearer. The numbers are on disk.
enum class Metric : uint8_t { kCosine = 1, kDot = 2, kEuclidean = 3 };

// "cosine", "dot", "euclidean".
std::string_view MetricName(Metric metric);

// The metric of that name, or nothing.
std::optional<Metric> ParseMetric(std::string_view name);

// The metric with that number on disk, or nothing.
std::optional<Metric> MetricFromNumber(uint8_t number);

}  // namespace vectable
