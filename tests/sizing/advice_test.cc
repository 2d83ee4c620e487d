#include "sizing/advice.h"

#include <vector>

#include "gtest/gtest.h"

namespace vectable {
namespace {

const std::vector<PrecisionOption> kOptions = {
    {Precision::kFp32, 4000, 1.0, 0},  {Precision::kFp16, 2000, 0.999, 0},
    {Precision::kBf16, 2000, 0.99, 0}, {Precision::kInt8, 1040, 0.98, 0},
    {Precision::kInt4, 540, 0.8, 0},
};

std::optional<Precision> Taken(const std::vector<PrecisionOption>& options, PrecisionGoal goal) {
  const std::optional<PrecisionOption> taken = Advise(options, goal);
  return taken ? std::optional(taken->precision) : std::nullopt;
}

TEST(AdviseTest, ARecallTakesTheFewestBytesThatReachIt) {
  EXPECT_EQ(Taken(kOptions, {std::nullopt, 0.5}), Precision::kInt4);
  EXPECT_EQ(Taken(kOptions, {std::nullopt, 0.8}), Precision::kInt4);
  EXPECT_EQ(Taken(kOptions, {std::nullopt, 0.95}), Precision::kInt8);
  EXPECT_EQ(Taken(kOptions, {std::nullopt, 0.985}), Precision::kFp16);  // of equal bytes the better
  EXPECT_EQ(Taken(kOptions, {std::nullopt, 1.0}), Precision::kFp32);
}

TEST(AdviseTest, ABudgetTakesTheHighestRecallWithinIt) {
  EXPECT_EQ(Taken(kOptions, {10'000, std::nullopt}), Precision::kFp32);
  EXPECT_EQ(Taken(kOptions, {2'000, std::nullopt}), Precision::kFp16);
  EXPECT_EQ(Taken(kOptions, {1'999, std::nullopt}), Precision::kInt8);
  EXPECT_EQ(Taken(kOptions, {540, std::nullopt}), Precision::kInt4);
  EXPECT_EQ(Taken(kOptions, {539, std::nullopt}), std::nullopt);
}

TEST(AdviseTest, BothMustBeMet) {
  EXPECT_EQ(Taken(kOptions, {2'000, 0.9}), Precision::kInt8);
  EXPECT_EQ(Taken(kOptions, {1'000, 0.9}), std::nullopt);
}

TEST(AdviseTest, APrecisionThatLosesRowsIsNotTaken) {
  std::vector<PrecisionOption> options = kOptions;
  options[1].refused = 1;
  EXPECT_EQ(Taken(options, {2'000, std::nullopt}), Precision::kBf16);
  EXPECT_EQ(Taken({}, {2'000, std::nullopt}), std::nullopt);
}

}  // namespace
}  // namespace vectable
