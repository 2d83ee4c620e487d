#include "index/recall_curve.h"

#include "gtest/gtest.h"

namespace vectable {
namespace {

class RecallCurveTest : public testing::Test {
 protected:
  // The 100 nearest are reached later than the 10 nearest.
  const RecallCurve curve_{{{10, 0.5F, 0.25F}, {20, 0.75F, 0.5F}, {200, 0.875F, 0.75F}}};
};

TEST_F(RecallCurveTest, TheSmallestWidthThatReachesTheRecallIsChosen) {
  EXPECT_EQ(curve_.WidthFor(0.1, 1)->width, 10U);
  EXPECT_EQ(curve_.WidthFor(0.5, 1)->width, 10U);
  EXPECT_EQ(curve_.WidthFor(0.75, 1)->width, 20U);
  EXPECT_EQ(curve_.WidthFor(0.875, 10)->width, 200U);
}

TEST_F(RecallCurveTest, BetweenMeasuredWidthsTheCurveIsTakenAsStraight) {
  EXPECT_EQ(curve_.WidthFor(0.625, 10)->width, 15U);
  EXPECT_EQ(curve_.WidthFor(0.626, 10)->width, 16U);  // rounded up
  EXPECT_EQ(curve_.WidthFor(0.626, 10)->recall, 0.626);
  EXPECT_EQ(curve_.WidthFor(0.8125, 10)->width, 110U);
}

TEST_F(RecallCurveTest, BelowTheFirstWidthTheRecallIsTheMeasuredOne) {
  EXPECT_EQ(curve_.WidthFor(0.3, 10)->recall, 0.5);
  EXPECT_EQ(curve_.WidthFor(0.1, 11)->recall, 0.25);
}

// Noise of the measurement may make a wider walk look worse.
TEST(NoisyRecallCurveTest, TheFirstWidthThatReachesItCounts) {
  const RecallCurve curve({{10, 0.5F, 0.5F}, {20, 0.75F, 0.5F}, {30, 0.625F, 0.5F}});
  EXPECT_EQ(curve.WidthFor(0.625, 10)->width, 15U);
  EXPECT_EQ(curve.WidthFor(0.75, 10)->width, 20U);
}

TEST_F(RecallCurveTest, MoreThanTenHitsGoByTheRecallOfAHundred) {
  EXPECT_EQ(curve_.WidthFor(0.75, 10)->width, 20U);
  EXPECT_EQ(curve_.WidthFor(0.75, 11)->width, 200U);
  EXPECT_EQ(curve_.WidthFor(0.75, 100)->width, 200U);
}

TEST_F(RecallCurveTest, MoreThanAHundredHitsNeedAWalkWiderInProportion) {
  EXPECT_EQ(curve_.WidthFor(0.75, 150)->width, 300U);
  EXPECT_EQ(curve_.WidthFor(0.75, 1000)->width, 2000U);
}

TEST_F(RecallCurveTest, TheWidthIsAtLeastK) {
  EXPECT_EQ(curve_.WidthFor(0.25, 60)->width, 60U);
  EXPECT_EQ(curve_.WidthFor(0.25, 1000)->width, 1000U);
}

TEST_F(RecallCurveTest, NoWidthReachesMoreThanWasMeasured) {
  EXPECT_FALSE(curve_.WidthFor(0.876, 10));
  EXPECT_FALSE(curve_.WidthFor(0.751, 11));
  EXPECT_FALSE(curve_.WidthFor(1, 1));
}

TEST(EmptyRecallCurveTest, ReachesNothing) {
  EXPECT_FALSE(RecallCurve().WidthFor(0.0, 1));
  EXPECT_TRUE(RecallCurve().points().empty());
}

}  // namespace
}  // namespace vectable
