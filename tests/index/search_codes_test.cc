// Bounds by 8-bit codes against scores in double.
#include "index/search_codes.h"

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "index/growing_segment.h"
#include "tests/common/test_seed.h"
#include "tests/index/index_model.h"
#include "tests/index/test_data.h"

namespace vectable {
namespace {

class SearchCodesTest : public testing::TestWithParam<std::tuple<Metric, Data, Precision>> {};

// The score that codes bound: cosine; the inner product with the query's direction; or the inner
// product less half the row's squared norm.
double BoundedScore(Metric metric, const Vector& query, const Vector& row) {
  const double query_norm = std::sqrt(SquaredNormInDouble(query));
  switch (metric) {
    case Metric::kCosine:
      return DotInDouble(query, row) / query_norm / std::sqrt(SquaredNormInDouble(row));
    case Metric::kDot:
      return DotInDouble(query, row) / query_norm;
    case Metric::kEuclidean:
      return DotInDouble(query, row) - SquaredNormInDouble(row) / 2;
  }
  return 0;
}

TEST_P(SearchCodesTest, BoundsHold) {
  const auto [metric, data, precision] = GetParam();
  for (const size_t dimensions : {1, 2, 3, 16, 100, 301}) {
    TestData source(data, dimensions, TestSeed() + dimensions);
    const VectorCodec codec(precision, dimensions);
    GrowingSegment segment(metric, codec);
    constexpr size_t kRows = 60;
    for (size_t i = 0; i < kRows; ++i) {
      std::string codes;
      Vector vector = source.Next();
      if (!codec.Encode(vector, codes).ok() ||
          SquaredNormInDouble(VectorOf(codec, codes.data())) == 0) {
        codes = CodesOf(codec, Vector(dimensions, 1.0F));
      }
      segment.Append(i, std::to_string(i), codes);
    }
    for (int round = 0; round < 20; ++round) {
      const Vector query = source.Next();
      const CodedQuery coded(metric, query);
      const CodeBounds& bounds = coded.bounds;
      for (size_t i = 0; i < kRows; ++i) {
        const RowColumns row = segment.Columns(i);
        const double truth = BoundedScore(metric, query, VectorOf(codec, row.codes));
        const double norm = row.norm(0);
        const double query_norm = std::sqrt(SquaredNormInDouble(query));
        // A bound that says nothing would hold, too.
        const double scale =
            std::sqrt(dimensions) *
            (metric == Metric::kEuclidean
                 ? query_norm * norm + (query_norm * query_norm + norm * norm) * 1e-4
                 : norm);
        const bool euclidean = metric == Metric::kEuclidean;
        const uint32_t slot = 0;
        int32_t dot = 0;
        DotHalvesAt(coded.query(), row.coarse, row.fine, &slot, 1, &dot);
        const auto [whole, bound] = row.ScoreOf(bounds, euclidean, 0, dot);
        ASSERT_LE(std::abs(whole - truth), bound) << "row " << i << ", " << dimensions;
        ASSERT_LE(bound, 0.13 * scale + 1e-20) << "row " << i << ", " << dimensions;
        // The upper halves alone.
        float rough = 0;
        ScoreCoarseAt({coded.query(), bounds.factor, row.coarse, {row.norms, euclidean}}, &slot, 1,
                      &rough);
        const float rough_bound =
            bound + bounds.e_weight * (row.coarse.error(0) - row.fine.error(0));
        ASSERT_LE(std::abs(rough - truth), rough_bound) << "row " << i << ", " << dimensions;
        ASSERT_LE(rough_bound, 0.3 * scale + 1e-20) << "row " << i << ", " << dimensions;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Data, SearchCodesTest,
    testing::Combine(testing::Values(Metric::kCosine, Metric::kDot, Metric::kEuclidean),
                     testing::Values(Data::kRandom, Data::kNearTies, Data::kHugeValue,
                                     Data::kSmallNorms, Data::kFewDirections),
                     testing::Values(Precision::kFp32, Precision::kFp16, Precision::kInt8,
                                     Precision::kInt4)),
    [](const auto& test) {
      return std::string(MetricName(std::get<0>(test.param))) + "_" +
             DataName(std::get<1>(test.param)) + "_" +
             std::string(PrecisionName(std::get<2>(test.param)));
    });

}  // namespace
}  // namespace vectable
