#include "index/kernels/code_dots.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "tests/common/test_seed.h"
#include "tests/index/kernel_targets.h"

namespace vectable {
namespace {

// Runs each test once per instruction set that the processor offers.
class CodeDotsTest : public KernelTest {
 protected:
  enum class Codes { kRandom, kLargest, kOpposed };

  // Codes in memory of just their length, so that a sanitizer sees a step beyond.
  std::unique_ptr<int8_t[]> Make(size_t count, Codes codes, int sign) {
    auto made = std::make_unique<int8_t[]>(count);
    for (size_t i = 0; i < count; ++i) {
      made[i] = codes == Codes::kRandom
                    ? static_cast<int8_t>(static_cast<int>(random_() % 255) - 127)
                    : static_cast<int8_t>(codes == Codes::kLargest ? 127 : sign * 127);
    }
    return made;
  }

  void Check(size_t dimensions, Codes codes, size_t count, size_t gap) {
    SCOPED_TRACE(testing::Message()
                 << dimensions << " dimensions, " << count << " rows, gap " << gap);
    const size_t padded = PaddedCodes(dimensions);
    const auto plain = Make(dimensions, codes, 1);
    std::vector<int8_t> query(padded, 0);
    std::copy_n(plain.get(), dimensions, query.begin());
    const size_t stride = dimensions + gap;
    const auto memory = Make(stride * (count - 1) + dimensions + kReadBeyond, codes, -1);
    const CodeRows rows{memory.get(), stride, dimensions};
    std::vector<uint32_t> slots(count);
    std::vector<int32_t> expected(count);
    for (size_t i = 0; i < count; ++i) {
      slots[i] = static_cast<uint32_t>(count - 1 - i);
      int64_t sum = 0;
      for (size_t d = 0; d < dimensions; ++d) sum += query[d] * rows.row(slots[i])[d];
      expected[i] = static_cast<int32_t>(sum);
    }
    std::vector<int32_t> found(count, -1);
    DotCodesAt({query.data(), SumOfCodes(query.data(), padded)}, rows, slots.data(), count,
               found.data());
    ASSERT_EQ(found, expected);
  }

  std::mt19937_64 random_{TestSeed()};
};

TEST_P(CodeDotsTest, EqualsAPlainSumAtEveryWidth) {
  for (size_t dimensions = 1; dimensions <= 300; ++dimensions) {
    ASSERT_NO_FATAL_FAILURE(Check(dimensions, Codes::kRandom, 5, dimensions % 9));
  }
  for (const size_t dimensions : {511, 512, 513, 768, 1000, 4096}) {
    ASSERT_NO_FATAL_FAILURE(Check(dimensions, Codes::kRandom, 9, 3));
  }
}

TEST_P(CodeDotsTest, ExtremeCodesDoNotOverflow) {
  for (const size_t dimensions : {1, 63, 64, 65, 300, 65'536}) {
    ASSERT_NO_FATAL_FAILURE(Check(dimensions, Codes::kLargest, 5, 0));
    ASSERT_NO_FATAL_FAILURE(Check(dimensions, Codes::kOpposed, 5, 4));
  }
}

TEST_P(CodeDotsTest, AnyNumberOfRowsWillDo) {
  for (size_t count = 1; count <= 40; ++count) {
    ASSERT_NO_FATAL_FAILURE(Check(37, Codes::kRandom, count, 7));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, CodeDotsTest, testing::ValuesIn(KernelTargets()),
                         KernelTargetName);

}  // namespace
}  // namespace vectable
