#include "index/kernels/code_dots.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "tests/common/test_seed.h"

namespace vectable {
namespace {

// Runs each test once per instruction set that the processor offers.
class CodeDotsTest : public testing::TestWithParam<int64_t> {
 protected:
  CodeDotsTest() { hwy::SetSupportedTargetsForTest(GetParam()); }
  ~CodeDotsTest() override { hwy::SetSupportedTargetsForTest(0); }

  enum class Codes { kRandom, kLargest, kOpposed };

  // Codes in memory of exactly their length, so that a sanitizer sees a step beyond.
  std::unique_ptr<int8_t[]> Make(size_t count, Codes codes, int sign) {
    auto made = std::make_unique<int8_t[]>(count);
    for (size_t i = 0; i < count; ++i) {
      made[i] = codes == Codes::kRandom
                    ? static_cast<int8_t>(static_cast<int>(random_() % 255) - 127)
                    : static_cast<int8_t>(codes == Codes::kLargest ? 127 : sign * 127);
    }
    return made;
  }

  void Check(size_t dimensions, Codes codes, size_t count, size_t query_count, size_t gap) {
    SCOPED_TRACE(testing::Message() << dimensions << " dimensions, " << count << " rows, "
                                    << query_count << " queries, gap " << gap);
    const size_t padded = PaddedCodes(dimensions);
    std::vector<int8_t> queries(query_count * padded, 0);
    for (size_t q = 0; q < query_count; ++q) {
      const auto query = Make(dimensions, codes, 1);
      std::copy_n(query.get(), dimensions, queries.begin() + q * padded);
    }
    const size_t stride = dimensions + gap;
    const auto memory = Make(stride * (count - 1) + dimensions, codes, -1);
    const CodeRows rows{memory.get(), stride, dimensions};
    std::vector<int32_t> expected(query_count * count);
    for (size_t q = 0; q < query_count; ++q) {
      for (size_t i = 0; i < count; ++i) {
        int64_t sum = 0;
        for (size_t d = 0; d < dimensions; ++d) sum += queries[q * padded + d] * rows.row(i)[d];
        expected[q * count + i] = static_cast<int32_t>(sum);
      }
    }
    std::vector<int32_t> found(query_count * count, -1);
    DotCodesTile(queries.data(), query_count, rows, count, found.data());
    ASSERT_EQ(found, expected);
    const std::vector<int32_t> first(expected.begin(), expected.begin() + count);
    found.assign(count, -1);
    DotCodes(queries.data(), rows, count, found.data());
    ASSERT_EQ(found, first);
    std::vector<uint32_t> slots(count);
    for (size_t i = 0; i < count; ++i) slots[i] = static_cast<uint32_t>(count - 1 - i);
    DotCodesAt({queries.data(), SumOfCodes(queries.data(), padded)}, rows, slots.data(), count,
               found.data());
    std::reverse(found.begin(), found.end());
    ASSERT_EQ(found, first);
    const auto a = std::make_unique<int8_t[]>(dimensions);
    std::copy_n(queries.begin(), dimensions, a.get());
    ASSERT_EQ(DotTwoCodes(a.get(), rows.row(count - 1), dimensions), first[count - 1]);
  }

  std::mt19937_64 random_{TestSeed()};
};

TEST_P(CodeDotsTest, EqualsAPlainSumAtEveryWidth) {
  for (size_t dimensions = 1; dimensions <= 300; ++dimensions) {
    ASSERT_NO_FATAL_FAILURE(Check(dimensions, Codes::kRandom, 5, 3, dimensions % 9));
  }
  for (const size_t dimensions : {511, 512, 513, 768, 1000, 4096}) {
    ASSERT_NO_FATAL_FAILURE(Check(dimensions, Codes::kRandom, 9, 5, 3));
  }
}

TEST_P(CodeDotsTest, ExtremeCodesDoNotOverflow) {
  for (const size_t dimensions : {1, 63, 64, 65, 300, 65'536}) {
    ASSERT_NO_FATAL_FAILURE(Check(dimensions, Codes::kLargest, 5, 4, 0));
    ASSERT_NO_FATAL_FAILURE(Check(dimensions, Codes::kOpposed, 5, 4, 4));
  }
}

TEST_P(CodeDotsTest, AnyNumberOfRowsAndQueriesWillDo) {
  for (const size_t count : {1, 2, 3, 4, 15, 16, 17, 63, 64, 65, 130}) {
    for (const size_t queries : {1, 2, 3, 4, 5, 7, 8}) {
      ASSERT_NO_FATAL_FAILURE(Check(37, Codes::kRandom, count, queries, 7));
    }
  }
}

TEST_P(CodeDotsTest, SelectsWhatMayReachTheThreshold) {
  std::uniform_real_distribution<float> uniform(0, 1);
  for (size_t count = 1; count <= 70; ++count) {
    std::vector<int32_t> dots(count);
    std::vector<float> scales(count);
    std::vector<float> errors(count);
    std::vector<float> norms(count);
    for (size_t i = 0; i < count; ++i) {
      dots[i] = static_cast<int32_t>(random_() % 2001) - 1000;
      scales[i] = uniform(random_);
      errors[i] = uniform(random_);
      norms[i] = uniform(random_) * 30;
    }
    const CodeBounds bounds{0.25F, 0.5F, 0.125F, 0.0625F, 0.75F};
    for (const int kind : {0, 1, 2, 3}) {
      CodeColumns columns;
      columns.scales = scales.data();
      if (kind > 0) columns.errors = errors.data();
      if (kind > 1) columns.norms = norms.data();
      columns.euclidean = kind == 3;
      std::vector<double> upper(count);
      for (size_t i = 0; i < count; ++i) {
        upper[i] = double{0.25} * scales[i] * dots[i] + 0.75;
        if (kind > 0) upper[i] += 0.5 * errors[i];
        if (kind > 1) upper[i] += 0.125 * norms[i];
        if (kind == 3) upper[i] -= 0.5 * norms[i] * norms[i] * (1 - 0.0625);
      }
      for (const double threshold : {-1e9, -40.0, 0.0, 40.0, 1e9}) {
        std::vector<uint32_t> places(count + 16);
        places.resize(SelectPossible(dots.data(), columns, bounds, count,
                                     static_cast<float>(threshold), places.data()));
        ASSERT_TRUE(std::is_sorted(places.begin(), places.end()));
        for (uint32_t i = 0; i < count; ++i) {
          if (std::abs(upper[i] - threshold) < 1e-3) continue;  // rounding decides
          ASSERT_EQ(std::binary_search(places.begin(), places.end(), i), upper[i] > threshold)
              << "row " << i << " of " << count << ", kind " << kind;
        }
      }
      std::vector<uint32_t> places(count + 16);
      EXPECT_EQ(SelectPossible(dots.data(), columns, bounds, count,
                               -std::numeric_limits<float>::infinity(), places.data()),
                count);
    }
  }
}

std::vector<int64_t> Targets() {
  std::vector<int64_t> targets;
  for (int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    targets.push_back(left & -left);
  }
  return targets;
}

INSTANTIATE_TEST_SUITE_P(Targets, CodeDotsTest, testing::ValuesIn(Targets()),
                         [](const auto& test) { return std::string(hwy::TargetName(test.param)); });

}  // namespace
}  // namespace vectable
