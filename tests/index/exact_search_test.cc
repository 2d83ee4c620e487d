// Search against a scan in double, hit for hit and bit for bit.
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/common/test_seed.h"
#include "tests/index/index_model.h"
#include "tests/index/test_data.h"

namespace vectable {
namespace {

// Rows that make several blocks, each much larger than what a backend is asked for.
size_t RowsFor(size_t dimensions) { return dimensions <= 64 ? 17'000 : 1'200'000 / dimensions; }

class ExactSearchTest : public testing::TestWithParam<std::tuple<Metric, Data, size_t, Precision>> {
 protected:
  Metric metric() const { return std::get<0>(GetParam()); }
  Data data() const { return std::get<1>(GetParam()); }
  size_t dimensions() const { return std::get<2>(GetParam()); }
  Precision precision() const { return std::get<3>(GetParam()); }

  // Queries like the rows, the first of them rows themselves, each with up to `most_excluded` live
  // rows left out.
  std::vector<IndexQuery> Queries(size_t count, size_t most_excluded) {
    std::vector<IndexQuery> queries;
    vectors_.clear();
    for (size_t i = 0; i < count; ++i) {
      vectors_.push_back(i < count / 2 ? AnyRow()->second.vector : source_.Next());
    }
    for (const Vector& vector : vectors_) {
      IndexQuery& query = queries.emplace_back();
      query.vector = vector;
      for (size_t left = most_excluded == 0 ? 0 : random()() % most_excluded; left > 0; --left) {
        query.excluded_row_ids.push_back(AnyRow()->first);
      }
      std::sort(query.excluded_row_ids.begin(), query.excluded_row_ids.end());
      query.excluded_row_ids.erase(
          std::unique(query.excluded_row_ids.begin(), query.excluded_row_ids.end()),
          query.excluded_row_ids.end());
    }
    return queries;
  }

  void Check(size_t query_count, size_t k, std::optional<uint64_t> first_n = std::nullopt,
             size_t most_excluded = 0) {
    IndexSearchOptions options;
    options.k = k;
    options.first_n = first_n;
    ASSERT_NO_FATAL_FAILURE(CheckSearch(*index_.Publish(), index_.model(), metric(),
                                        Queries(query_count, most_excluded), options));
  }

  std::mt19937_64& random() { return source_.random(); }
  IndexModel::const_iterator AnyRow() {
    const auto at = index_.model().lower_bound(random()() % (index_.model().rbegin()->first + 1));
    return at;
  }

  TestData source_{data(), dimensions(), TestSeed()};
  const std::unique_ptr<BatchBackend> backend_ = MakeFaissBackend();
  ModelledIndex index_{metric(), VectorCodec(precision(), dimensions()), *backend_};
  std::vector<Vector> vectors_;
};

TEST_P(ExactSearchTest, EqualsAScanInDouble) {
  index_.Fill(source_, RowsFor(dimensions()));
  const size_t rows = index_.model().size();
  // Queries are taken four at a time, from three on.
  for (const size_t query_count : {1, 2, 3, 4, 19}) Check(query_count, 10);
  if (dimensions() < 100) Check(64, 10);
  Check(2, 1);
  Check(3, 120);
  Check(1, rows + 5);
  Check(3, 10, std::nullopt, 50);
  Check(21, 10, rows / 2, 50);
  Check(2, 10, 5);
  Check(2, 10, 0);
  Check(2, 10, rows + 1);

  index_.EraseSome(random(), 25);
  Check(3, 10);
  Check(20, 10, rows - 7, 10);
  index_.EraseSome(random(), rows / 3);
  Check(3, 10);
  Check(22, 10, rows * 3 / 4, 30);
  Check(2, 150);
}

std::string TestName(const testing::TestParamInfo<ExactSearchTest::ParamType>& test) {
  return absl::StrCat(std::string(MetricName(std::get<0>(test.param))), "_",
                      DataName(std::get<1>(test.param)), "_", std::get<2>(test.param), "_",
                      std::string(PrecisionName(std::get<3>(test.param))));
}

constexpr auto kMetrics = {Metric::kCosine, Metric::kDot, Metric::kEuclidean};

INSTANTIATE_TEST_SUITE_P(Dimensions, ExactSearchTest,
                         testing::Combine(testing::ValuesIn(kMetrics),
                                          testing::Values(Data::kRandom),
                                          testing::Values(1, 2, 3, 7, 100, 300, 1000),
                                          testing::Values(Precision::kFp32)),
                         TestName);

INSTANTIATE_TEST_SUITE_P(Data, ExactSearchTest,
                         testing::Combine(testing::ValuesIn(kMetrics),
                                          testing::Values(Data::kAllEqual, Data::kNearTies,
                                                          Data::kHugeValue, Data::kMixedNorms,
                                                          Data::kSmallNorms, Data::kOverflowing,
                                                          Data::kFewDirections),
                                          testing::Values(3, 16),
                                          testing::Values(Precision::kFp32)),
                         TestName);

INSTANTIATE_TEST_SUITE_P(WideData, ExactSearchTest,
                         testing::Combine(testing::ValuesIn(kMetrics),
                                          testing::Values(Data::kNearTies, Data::kSmallNorms),
                                          testing::Values(200), testing::Values(Precision::kFp32)),
                         TestName);

INSTANTIATE_TEST_SUITE_P(Precisions, ExactSearchTest,
                         testing::Combine(testing::ValuesIn(kMetrics),
                                          testing::Values(Data::kNearTies, Data::kMixedNorms),
                                          testing::Values(5),
                                          testing::Values(Precision::kFp16, Precision::kBf16,
                                                          Precision::kInt8, Precision::kInt4)),
                         TestName);

}  // namespace
}  // namespace vectable
