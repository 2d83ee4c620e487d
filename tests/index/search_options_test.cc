#include <limits>
#include <stdexcept>
#include <vector>

#include "gtest/gtest.h"
#include "tests/common/test_seed.h"
#include "tests/index/index_model.h"
#include "tests/index/test_data.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

// Does as it is told; FAISS isn't asked.
class FailingBackend final : public BatchBackend {
 public:
  enum class How { kError, kThrow, kNothing };
  explicit FailingBackend(How how) : how_(how) {}

  std::string_view device() const override { return "cpu"; }
  absl::Status Propose(Metric /*metric*/, const float* /*queries*/, size_t query_count,
                       size_t /*dimensions*/, RowBlock /*block*/,
                       std::span<const uint64_t> /*allowed*/, size_t k,
                       Proposals& out) const override {
    if (how_ == How::kThrow) throw std::runtime_error("the card is gone");
    if (how_ == How::kError) return absl::InternalError("the card is gone");
    out.k = k;
    out.offsets.assign(query_count * k, -1);
    out.scores.assign(query_count * k, 0);
    out.counts.assign(query_count, 0);
    return absl::OkStatus();
  }

 private:
  const How how_;
};

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
  CountingBackend backend_;
  std::unique_ptr<ModelledIndex> index_;
  std::shared_ptr<const IndexSnapshot> snapshot_;
};

TEST_F(SearchOptionsTest, ABackendsErrorComesThrough) {
  const FailingBackend backend(FailingBackend::How::kError);
  Fill(backend, 1000);
  EXPECT_THAT(Search(TopTen()), StatusIs(absl::StatusCode::kInternal, "the card is gone"));
}

TEST_F(SearchOptionsTest, ABackendsExceptionComesThrough) {
  const FailingBackend backend(FailingBackend::How::kThrow);
  Fill(backend, 1000);
  EXPECT_THROW(Search(TopTen()).IgnoreError(), std::runtime_error);
}

TEST_F(SearchOptionsTest, ABackendThatProposesNothingChangesNoAnswer) {
  const FailingBackend backend(FailingBackend::How::kNothing);
  Fill(backend, 1000);
  CheckSearch(*snapshot_, index_->model(), Metric::kCosine, {{query_, {}}}, TopTen());
}

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

TEST_F(SearchOptionsTest, KeepGoingIsAskedWhileOpenBlocksAreSettled) {
  // No backend ever rules a block out here, so each is scored again at the end.
  const FailingBackend backend(FailingBackend::How::kNothing);
  Fill(backend, 20'000);  // three blocks
  int left = 5;
  IndexSearchOptions options = TopTen();
  options.keep_going = [&left] {
    return --left == 0 ? absl::CancelledError("gone") : absl::OkStatus();
  };
  EXPECT_THAT(Search(options), StatusIs(absl::StatusCode::kCancelled, "gone"));
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
