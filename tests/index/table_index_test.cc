// An index against a simple model, with snapshots that must go on answering as of their time.
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/common/test_seed.h"
#include "tests/index/index_model.h"
#include "tests/index/test_data.h"

namespace vectable {
namespace {

// A snapshot and what it must hold.
using Kept = std::pair<std::shared_ptr<const IndexSnapshot>, IndexModel>;

class TableIndexTest : public testing::TestWithParam<std::tuple<Metric, Precision>> {
 protected:
  static constexpr size_t kDimensions = 3;

  Metric metric() const { return std::get<0>(GetParam()); }

  // Checks rows and some searches of a snapshot.
  void Check(const Kept& kept) {
    const auto& [snapshot, model] = kept;
    ASSERT_NO_FATAL_FAILURE(CheckRows(*snapshot, model, index_.codec()));
    const Vector vectors[] = {data_.Next(), data_.Next()};
    IndexSearchOptions options;
    options.k = 8;
    ASSERT_NO_FATAL_FAILURE(
        CheckSearch(*snapshot, model, metric(), {{vectors[0], {}}, {vectors[1], {}}}, options));
  }
  Kept Keep() { return {index_.Publish(), index_.model()}; }

  TestData data_{Data::kRandom, kDimensions, TestSeed()};
  const std::unique_ptr<BatchBackend> backend_ = MakeFaissBackend();
  ModelledIndex index_{metric(), VectorCodec(std::get<1>(GetParam()), kDimensions), *backend_};
};

TEST_P(TableIndexTest, IsEmptyAtFirst) {
  const auto snapshot = index_.index().snapshot();
  EXPECT_EQ(snapshot->sequence(), 0U);
  CheckRows(*snapshot, {}, index_.codec());
  EXPECT_FALSE(snapshot->FindWord("w"));
  EXPECT_FALSE(snapshot->FindRowId(0));
}

TEST_P(TableIndexTest, ChangesAreSeenAfterPublishAllTogether) {
  const auto before = index_.Publish();
  index_.Put(0, "cat", data_.Next());
  index_.Put(1, "dog", data_.Next());
  CheckRows(*index_.index().snapshot(), {}, index_.codec());
  const Kept kept = Keep();
  EXPECT_EQ(kept.first->sequence(), 2U);
  CheckRows(*before, {}, index_.codec());
  index_.Put(0, "cat", data_.Next());
  index_.Erase(1);
  index_.Erase(77);
  Check(kept);
  Check(Keep());
  Check(kept);
}

TEST_P(TableIndexTest, ARowMayComeAndGoWithinOnePublish) {
  index_.Put(0, "cat", data_.Next());
  index_.Put(0, "cat", data_.Next());
  index_.Put(1, "dog", data_.Next());
  index_.Erase(1);
  index_.Put(2, "dog", data_.Next());
  const Kept kept = Keep();
  EXPECT_EQ(kept.first->live_rows(), 2U);
  EXPECT_EQ(kept.first->FindWord("dog")->row_id, 2U);
  Check(kept);
}

TEST_P(TableIndexTest, ForEachRowStopsWhenTold) {
  index_.Fill(data_, 10);
  int visited = 0;
  index_.Publish()->ForEachRow([&](const IndexedRow&) { return ++visited < 4; });
  EXPECT_EQ(visited, 4);
}

// Few words, so that each is replaced, deleted and added again many times.
TEST_P(TableIndexTest, RandomChangesMatchTheModelInEverySnapshot) {
  std::mt19937_64& random = data_.random();
  std::vector<Kept> kept;
  uint64_t next_row_id = 0;
  for (int step = 0; step < 4000; ++step) {
    const std::string word = absl::StrCat("w", random() % 60);
    const auto found = std::find_if(index_.model().begin(), index_.model().end(),
                                    [&](const auto& row) { return row.second.word == word; });
    const bool known = found != index_.model().end();
    if (known && random() % 3 == 0) {
      index_.Erase(found->first);
    } else {
      index_.Put(known ? found->first : next_row_id++, word, data_.Next());
    }
    if (random() % 50 == 0) kept.push_back(Keep());
  }
  for (const Kept& one : kept) ASSERT_NO_FATAL_FAILURE(Check(one));
}

// A segment of this width holds 131,072 rows; those mostly dead are moved and given back.
TEST_P(TableIndexTest, CompactionChangesNoAnswer) {
  index_.Fill(data_, 140'000);
  std::vector<Kept> kept = {Keep()};
  for (int round = 0; round < 3; ++round) {
    index_.EraseSome(data_.random(), 40'000);
    kept.push_back(Keep());
    index_.Fill(data_, 20'000);
    kept.push_back(Keep());
  }
  // Replaced rows die too: all but those after the last full segment.
  for (int round = 0; round < 2; ++round) {
    const IndexModel model = index_.model();
    for (const auto& [row_id, row] : model) index_.Put(row_id, row.word, data_.Next());
    kept.push_back(Keep());
  }
  for (const Kept& one : kept) ASSERT_NO_FATAL_FAILURE(Check(one));
}

std::string TestName(const testing::TestParamInfo<TableIndexTest::ParamType>& test) {
  return absl::StrCat(std::string(MetricName(std::get<0>(test.param))), "_",
                      std::string(PrecisionName(std::get<1>(test.param))));
}

INSTANTIATE_TEST_SUITE_P(Metrics, TableIndexTest,
                         testing::Combine(testing::Values(Metric::kCosine, Metric::kDot,
                                                          Metric::kEuclidean),
                                          testing::Values(Precision::kFp32)),
                         TestName);
INSTANTIATE_TEST_SUITE_P(Precisions, TableIndexTest,
                         testing::Combine(testing::Values(Metric::kCosine),
                                          testing::Values(Precision::kFp16, Precision::kInt4)),
                         TestName);
INSTANTIATE_TEST_SUITE_P(EuclideanInt8, TableIndexTest,
                         testing::Combine(testing::Values(Metric::kEuclidean),
                                          testing::Values(Precision::kInt8)),
                         TestName);

TEST(TableIndexMemoryTest, SegmentsOfDeadRowsAreGivenBack) {
  const std::unique_ptr<BatchBackend> backend = MakeFaissBackend();
  TableIndex index(Metric::kDot, {Precision::kFp32, 1}, *backend);
  const Vector vector = {1};
  const std::string codes = Fp32Codes(vector);
  // Many times a segment's rows, all but a few of them replaced.
  for (int round = 0; round < 1000; ++round) {
    for (uint64_t row_id = 0; row_id < 1000; ++row_id) {
      index.Put(row_id, absl::StrCat("w", row_id), codes);
    }
    index.Publish(round + 1);
  }
  const auto snapshot = index.snapshot();
  EXPECT_EQ(snapshot->live_rows(), 1000U);
  size_t slots = 0;
  for (const RowBlock& block : snapshot->Blocks()) slots += block.rows();
  EXPECT_LE(slots, 2U * 131'072 + 8'192);
}

}  // namespace
}  // namespace vectable
