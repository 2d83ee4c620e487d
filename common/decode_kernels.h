#pragma once

#include <cstddef>
#include <cstdint>

#include "common/precision.h"

namespace vectable {

// out[i] = factor x (the i-th value of `codes`, without any scale), for `count` values. `codes` may
// have any alignment. Runs on the best instructions that the processor has; the results are the
// same on all of them. Not for fp32.
void DecodeTimes(Precision precision, const char* codes, size_t count, float factor, float* out);

}  // namespace vectable
