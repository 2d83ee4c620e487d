#include "sizing/checked.h"

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

constexpr uint64_t kHalf = uint64_t{1} << 63;

TEST(CheckedTest, RemembersAnOverflow) {
  EXPECT_EQ(*(Checked(3) * 5 + 2).Value("x"), 17U);
  EXPECT_EQ(*(Checked(kHalf) + (kHalf - 1)).Value("x"), ~uint64_t{0});
  EXPECT_THAT((Checked(kHalf) + kHalf).Value("the bytes"),
              StatusIs(absl::StatusCode::kOutOfRange, "the bytes don't fit 64 bits"));
  const Checked wrapped_to_zero = Checked(kHalf) * 2;
  EXPECT_TRUE(wrapped_to_zero.overflowed());
  EXPECT_TRUE((wrapped_to_zero * wrapped_to_zero).overflowed());
  EXPECT_TRUE((wrapped_to_zero * 3).overflowed());
  EXPECT_TRUE((wrapped_to_zero + 3).overflowed());
  EXPECT_TRUE((Checked(3) * wrapped_to_zero).overflowed());
  EXPECT_EQ(*(wrapped_to_zero * 0).Value("x"), 0U);  // none of so many
  EXPECT_EQ(*(Checked(0) * wrapped_to_zero).Value("x"), 0U);
}

}  // namespace
}  // namespace vectable
