#include <limits>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "tests/common/test_seed.h"
#include "tests/index/index_model.h"
#include "tests/index/test_data.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

class SearchOptionsTest : public testing::Test {
 protected:
  static constexpr size_t kDimensions = 4;

  void Fill(const BatchBackend& backend, size_t rows) {
    index_ = std::make_unique<ModelledIndex>(Metric::kCosine, kDimensions, backend);
    index_->Fill(source_, rows);
    snapshot_ = index_->Publish();
  }
  absl::StatusOr<std::vector<IndexResult>> Search(const IndexSearchOptions& options) {
    return snapshot_->Search(std::vector<IndexQuery>{{query_, {}}}, options);
  }
  static IndexSearchOptions TopTen() {
    IndexSearchOptions options;
    options.k = 10;
    return options;
  }

  TestData source_{Data::kRandom, kDimensions, TestSeed()};
  const Vector query_ = source_.Next();
  const std::unique_ptr<BatchBackend> faiss_ = MakeFaissBackend();
  const BatchBackend& backend_ = *faiss_;
  std::unique_ptr<ModelledIndex> index_;
  std::shared_ptr<const IndexSnapshot> snapshot_;
};

TEST_F(SearchOptionsTest, KeepGoingEndsASearchAtAnyBlock) {
  Fill(backend_, 40'000);  // five blocks
  int asked = 0;
  IndexSearchOptions options = TopTen();
  options.keep_going = [&asked] {
    ++asked;
    return absl::OkStatus();
  };
  EXPECT_THAT(Search(options), IsOk());
  ASSERT_GE(asked, 5);
  const int all = asked;
  for (int end = 1; end <= all; ++end) {
    int left = end;
    options.keep_going = [&left] {
      return --left == 0 ? absl::DeadlineExceededError("late") : absl::OkStatus();
    };
    EXPECT_THAT(Search(options), StatusIs(absl::StatusCode::kDeadlineExceeded, "late")) << end;
    EXPECT_EQ(left, 0);
  }
}

TEST_F(SearchOptionsTest, AnEmptyIndexAnswersWithNothing) {
  Fill(backend_, 0);
  const auto results = Search(TopTen());
  ASSERT_THAT(results, IsOk());
  EXPECT_TRUE(results->front().hits.empty());
  EXPECT_EQ(results->front().rows_searched, 0U);
  EXPECT_TRUE(snapshot_->Search({}, TopTen())->empty());
}

TEST_F(SearchOptionsTest, AZeroQueryIsAnsweredWhereItHasAMeaning) {
  for (const Metric metric : {Metric::kDot, Metric::kEuclidean}) {
    ModelledIndex index(metric, kDimensions, backend_);
    index.Fill(source_, 9'000);
    index.Put(9'000, "zero", Vector(kDimensions, 0.0F));
    const Vector zero(kDimensions, 0.0F);
    CheckSearch(*index.Publish(), index.model(), metric, {{zero, {}}}, TopTen());
  }
}

TEST_F(SearchOptionsTest, TheSmallestAndTheLargestQueryAreAnswered) {
  for (const Metric metric : {Metric::kCosine, Metric::kDot, Metric::kEuclidean}) {
    ModelledIndex index(metric, kDimensions, backend_);
    index.Fill(source_, 9'000);
    const auto snapshot = index.Publish();
    for (const float value : {std::numeric_limits<float>::denorm_min(), 1e-38F, 1e30F,
                              std::numeric_limits<float>::max()}) {
      const Vector query = {value, -value, value, 0};
      CheckSearch(*snapshot, index.model(), metric, {{query, {}}}, TopTen());
    }
  }
}

}  // namespace
}  // namespace vectable
