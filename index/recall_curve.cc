#include "index/recall_curve.h"

#include <algorithm>

namespace vectable {

std::optional<ChosenWidth> RecallCurve::WidthFor(double recall, size_t k) const {
  for (const RecallPoint& point : points_) {
    const double reached = k <= 10 ? point.at_10 : point.at_100;
    if (reached < recall) continue;
    const size_t width = k <= 100 ? point.width : point.width * k / 100;
    return ChosenWidth{static_cast<uint32_t>(std::max(width, k)), reached};
  }
  return std::nullopt;
}

}  // namespace vectable
