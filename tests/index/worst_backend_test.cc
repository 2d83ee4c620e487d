// Exact search over the worst backend that float arithmetic allows.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/common/test_seed.h"
#include "tests/index/index_model.h"
#include "tests/index/test_data.h"

namespace vectable {
namespace {

// Proposes by scores that are off as far as those of float sums can be, so that the best row comes
// after as many others as possible and the last proposal looks as bad as possible.
class WorstBackend final : public BatchBackend {
 public:
  explicit WorstBackend(double exaggeration) : exaggeration_(exaggeration) {}

  std::string_view device() const override { return "cpu"; }
  absl::Status Propose(Metric metric, const float* queries, size_t query_count, size_t dimensions,
                       RowBlock block, std::span<const uint64_t> allowed, size_t k,
                       Proposals& out) const override {
    out.k = k;
    out.offsets.assign(query_count * k, -1);
    out.scores.assign(query_count * k, 0);
    out.counts.assign(query_count, 0);
    for (size_t q = 0; q < query_count; ++q) {
      const std::span<const float> query(queries + q * dimensions, dimensions);
      std::vector<Scored> rows;
      for (size_t i = 0; i < block.count; ++i) {
        if (!allowed.empty() && (allowed[i / 64] >> (i % 64) & 1) == 0) continue;
        rows.push_back(ScoreRow(metric, query, {block.rows + i * dimensions, dimensions}, i));
      }
      HideTheBest(rows);
      out.counts[q] = std::min(k, rows.size());
      for (size_t i = 0; i < out.counts[q]; ++i) {
        out.offsets[q * k + i] = static_cast<int64_t>(rows[i].offset);
        out.scores[q * k + i] = static_cast<float>(rows[i].score);
      }
    }
    return absl::OkStatus();
  }

 private:
  struct Scored {
    double score;
    double error;  // the most that a float sum of it can be off
    size_t offset;

    bool operator>(const Scored& other) const { return score > other.score; }
  };

  void HideTheBest(std::vector<Scored>& rows) const {
    if (rows.empty()) return;
    std::stable_sort(rows.begin(), rows.end(), std::greater<>());
    const double lowest = rows[0].score - exaggeration_ * rows[0].error;
    for (Scored& row : rows) {
      const double error = exaggeration_ * row.error;
      row.score = std::clamp(lowest, row.score - error, row.score + error);
    }
    std::rotate(rows.begin(), rows.begin() + 1, rows.end());
    std::stable_sort(rows.begin(), rows.end(), std::greater<>());
  }

  static Scored ScoreRow(Metric metric, std::span<const float> query, std::span<const float> row,
                         size_t offset) {
    const double d = static_cast<double>(query.size());
    const double query_norm = std::sqrt(SquaredNormInDouble(query));
    const double row_norm = std::sqrt(SquaredNormInDouble(row));
    if (metric == Metric::kEuclidean) {
      // |q|^2 - 2qx + |x|^2 in float.
      const double span = query_norm + row_norm;
      return {-SquaredDistanceInDouble(query, row), (d + 2) * 0x1p-24 * span * span, offset};
    }
    return {DotInDouble(query, row), d * 0x1p-24 * query_norm * row_norm, offset};
  }

  const double exaggeration_;
};

class WorstBackendTest : public testing::TestWithParam<std::tuple<Metric, Data, size_t>> {
 protected:
  // How many of some queries, over a backend that exaggerates, are answered wrongly.
  size_t WrongAnswers(double exaggeration, uint64_t seed) {
    const auto [metric, data, dimensions] = GetParam();
    const WorstBackend backend(exaggeration);
    TestData source(data, dimensions, seed);
    ModelledIndex index(metric, dimensions, backend);
    index.Fill(source, 1500);
    const auto snapshot = index.Publish();
    IndexSearchOptions options;
    options.k = 5;
    size_t wrong = 0;
    for (int i = 0; i < 10; ++i) {
      const Vector vector = source.Next();
      const IndexQuery query{vector, {}};
      const auto results = snapshot->Search({&query, 1}, options);
      if (HitsOf(results->front()) != BruteForce(index.model(), metric, query, options)) ++wrong;
    }
    return wrong;
  }
};

TEST_P(WorstBackendTest, NoAnswerIsWrong) { EXPECT_EQ(WrongAnswers(1.0, TestSeed()), 0U); }

// Beyond what float arithmetic allows there is no promise; that it shows proves that the test sees.
TEST_P(WorstBackendTest, ABackendBeyondTheBoundIsSeen) {
  if (std::get<1>(GetParam()) != Data::kNearTies) return;
  EXPECT_GT(WrongAnswers(1e5, TestSeed()), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Data, WorstBackendTest,
    testing::Combine(testing::Values(Metric::kCosine, Metric::kDot, Metric::kEuclidean),
                     testing::Values(Data::kRandom, Data::kNearTies, Data::kHugeValue,
                                     Data::kSmallNorms, Data::kFewDirections),
                     testing::Values(1, 3, 100)),
    [](const auto& test) {
      return std::string(MetricName(std::get<0>(test.param))) + "_" +
             DataName(std::get<1>(test.param)) + "_" + std::to_string(std::get<2>(test.param));
    });

}  // namespace
}  // namespace vectable
