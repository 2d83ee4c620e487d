#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace vectable {

// What walks of one width find: the share of the true 10 (100) nearest rows, over queries that were
// measured.
struct RecallPoint {
  uint32_t width = 0;
  float at_10 = 0;
  float at_100 = 0;
};

// A width for a search, and the recall that was measured for it.
struct ChosenWidth {
  uint32_t width = 0;
  double recall = 0;
};

// The recall of a graph by the width of a walk, as measured; widths ascend.
class RecallCurve {
 public:
  RecallCurve() = default;
  explicit RecallCurve(std::vector<RecallPoint> points) : points_(std::move(points)) {}

  const std::vector<RecallPoint>& points() const { return points_; }

  // The smallest width whose recall reaches the one asked for, between measured widths by a
  // straight line: that of the 10 nearest for k up to 10, that of the 100 nearest for more; in
  // proportion wider for k over 100. Nothing where no measured width reaches it.
  std::optional<ChosenWidth> WidthFor(double recall, size_t k) const;

 private:
  std::vector<RecallPoint> points_;
};

}  // namespace vectable
