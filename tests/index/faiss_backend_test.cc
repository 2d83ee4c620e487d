#include "index/faiss_backend.h"

#include <set>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/common/test_seed.h"
#include "tests/index/test_data.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

class FaissBackendTest : public testing::TestWithParam<std::tuple<Metric, size_t, size_t>> {
 protected:
  static constexpr size_t kDimensions = 5;
  static constexpr size_t kRows = 700;
};

TEST_P(FaissBackendTest, ProposesTheBestAllowedRowsInOrder) {
  const auto [metric, query_count, k] = GetParam();
  TestData data(Data::kRandom, kDimensions, TestSeed());
  std::vector<float> rows, queries;
  for (size_t i = 0; i < kRows; ++i) {
    const Vector row = data.Next();
    rows.insert(rows.end(), row.begin(), row.end());
  }
  for (size_t i = 0; i < query_count; ++i) {
    const Vector query = data.Next();
    queries.insert(queries.end(), query.begin(), query.end());
  }
  std::vector<uint64_t> allowed((kRows + 63) / 64, 0);
  for (const bool filtered : {false, true}) {
    std::fill(allowed.begin(), allowed.end(), 0);
    std::set<int64_t> may_come;
    for (size_t i = 0; i < kRows; ++i) {
      if (filtered && i % 3 != 0) continue;
      may_come.insert(static_cast<int64_t>(i));
      allowed[i / 64] |= uint64_t{1} << (i % 64);
    }
    Proposals out;
    ASSERT_THAT(MakeFaissBackend()->Propose(metric, queries.data(), query_count, kDimensions,
                                            {rows.data(), kRows},
                                            filtered ? allowed : std::vector<uint64_t>(), k, out),
                IsOk());
    EXPECT_EQ(out.k, k);
    ASSERT_EQ(out.counts.size(), query_count);
    for (size_t q = 0; q < query_count; ++q) {
      ASSERT_EQ(out.counts[q], std::min(k, may_come.size()));
      std::set<int64_t> seen;
      for (size_t i = 0; i < out.counts[q]; ++i) {
        const int64_t offset = out.offsets[q * k + i];
        ASSERT_TRUE(may_come.contains(offset));
        ASSERT_TRUE(seen.insert(offset).second);
        const std::span<const float> query(queries.data() + q * kDimensions, kDimensions);
        const std::span<const float> row(rows.data() + offset * kDimensions, kDimensions);
        const double score = metric == Metric::kEuclidean ? -SquaredDistanceInDouble(query, row)
                                                          : DotInDouble(query, row);
        ASSERT_NEAR(out.scores[q * k + i], score, 1e-4);
        if (i > 0) {
          ASSERT_GE(out.scores[q * k + i - 1], out.scores[q * k + i]);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FaissBackendTest,
                         testing::Combine(testing::Values(Metric::kDot, Metric::kEuclidean),
                                          testing::Values(1, 19, 20, 64),
                                          testing::Values(1, 10, 99, 100, 1000)));

TEST(FaissBackendEmptyTest, NothingAskedIsNothingProposed) {
  const auto backend = MakeFaissBackend();
  EXPECT_EQ(backend->device(), "cpu");
  const std::vector<float> one = {1};
  Proposals out;
  EXPECT_THAT(backend->Propose(Metric::kDot, one.data(), 0, 1, {one.data(), 1}, {}, 3, out),
              IsOk());
  EXPECT_TRUE(out.counts.empty());
  EXPECT_THAT(backend->Propose(Metric::kDot, one.data(), 1, 1, {one.data(), 0}, {}, 3, out),
              IsOk());
  EXPECT_EQ(out.counts, std::vector<size_t>{0});
}

}  // namespace
}  // namespace vectable
