#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"

namespace vectable {

// Runs each test once per instruction set that the processor offers.
class KernelTest : public testing::TestWithParam<int64_t> {
 protected:
  KernelTest() { hwy::SetSupportedTargetsForTest(GetParam()); }
  ~KernelTest() override { hwy::SetSupportedTargetsForTest(0); }
};

inline std::vector<int64_t> KernelTargets() {
  std::vector<int64_t> targets;
  for (int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    targets.push_back(left & -left);
  }
  return targets;
}

inline std::string KernelTargetName(const testing::TestParamInfo<int64_t>& test) {
  return hwy::TargetName(test.param);
}

}  // namespace vectable
