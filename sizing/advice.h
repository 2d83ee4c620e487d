#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/precision.h"

namespace vectable {

// A precision that a table could have, with what was measured of it.
struct PrecisionOption {
  Precision precision = Precision::kFp32;
  uint64_t bytes = 0;    // codes and scales of all rows
  double recall = 0;     // recall@10 against the table as it is
  uint64_t refused = 0;  // rows that it can't hold
};

// What is asked of a precision.
struct PrecisionGoal {
  std::optional<uint64_t> budget;  // bytes at most
  std::optional<double> recall;    // recall@10 at least
};

// The precision to take; nothing when none meets the goal. With a recall asked for, the one of the
// fewest bytes that reaches it (and keeps to the budget, if there is one). With a budget alone, the
// one of the highest recall that keeps to it. Equal ones: fewer bytes, then higher recall, then the
// earlier in `options`. One that can't hold every row is never taken.
std::optional<PrecisionOption> Advise(std::span<const PrecisionOption> options,
                                      const PrecisionGoal& goal);

}  // namespace vectable
