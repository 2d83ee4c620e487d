#include "index/recall_curve.h"

#include <algorithm>
#include <cmath>

namespace vectable {

std::optional<ChosenWidth> RecallCurve::WidthFor(double recall, size_t k) const {
  const auto reached = [k](const RecallPoint& point) {
    return double{k <= 10 ? point.at_10 : point.at_100};
  };
  const auto enough = std::find_if(points_.begin(), points_.end(), [&](const RecallPoint& point) {
    return reached(point) >= recall;
  });
  if (enough == points_.end()) return std::nullopt;
  ChosenWidth chosen{enough->width, reached(*enough)};
  if (enough != points_.begin()) {
    // The curve is concave: it lies above the line between two of its points.
    const RecallPoint& less = *(enough - 1);
    const double share = (recall - reached(less)) / (reached(*enough) - reached(less));
    const double width = less.width + share * (enough->width - less.width);
    chosen = {static_cast<uint32_t>(std::ceil(width)), recall};
  }
  const size_t width = k <= 100 ? chosen.width : size_t{chosen.width} * k / 100;
  chosen.width = static_cast<uint32_t>(std::max(width, k));
  return chosen;
}

}  // namespace vectable
