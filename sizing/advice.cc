#include "sizing/advice.h"

#include <utility>

namespace vectable {
namespace {

bool Meets(const PrecisionOption& option, const PrecisionGoal& goal) {
  if (option.refused > 0) return false;
  if (goal.budget && option.bytes > *goal.budget) return false;
  return !goal.recall || option.recall >= *goal.recall;
}

// Whether `a` is to be taken rather than `b`.
bool Preferred(const PrecisionOption& a, const PrecisionOption& b, const PrecisionGoal& goal) {
  if (goal.recall) return std::pair(b.bytes, a.recall) > std::pair(a.bytes, b.recall);
  return std::pair(a.recall, b.bytes) > std::pair(b.recall, a.bytes);
}

}  // namespace

std::optional<PrecisionOption> Advise(std::span<const PrecisionOption> options,
                                      const PrecisionGoal& goal) {
  std::optional<PrecisionOption> best;
  for (const PrecisionOption& option : options) {
    if (Meets(option, goal) && (!best || Preferred(option, *best, goal))) best = option;
  }
  return best;
}

}  // namespace vectable
