// An index whose segments are merged while it changes, against the model; and how it searches what
// was merged.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "index/sealed_segment.h"
#include "index/segment_builder.h"
#include "tests/common/test_seed.h"
#include "tests/index/index_model.h"
#include "tests/index/test_data.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace vectable {
namespace {

using testing::IsEmpty;

constexpr MergeWish kEverything = {.everything = true};

SegmentBuildOptions MergeOptions(size_t graph_rows, std::string path = "") {
  SegmentBuildOptions options;
  options.path = std::move(path);
  options.graph_rows = graph_rows;
  options.graph.degree = 16;
  options.graph.width = 40;
  return options;
}

std::shared_ptr<SealedSegment> BuildPlanned(const ModelledIndex& index, const MergePlan& plan,
                                            const SegmentBuildOptions& options) {
  std::vector<SegmentSource> sources;
  for (const IndexSnapshot::Part& part : plan.sources) {
    sources.push_back({part.segment, part.slots});
  }
  auto built = BuildSegment(index.metric(), index.codec(), sources, plan.version, options);
  EXPECT_THAT(built, IsOk());
  EXPECT_EQ((*built)->slots(), plan.live_rows);
  return *std::move(built);
}

// A snapshot and what it must hold.
struct KeptSnapshot {
  std::shared_ptr<const IndexSnapshot> snapshot;
  IndexModel model;
};

class MergeTest : public testing::TestWithParam<std::tuple<Metric, Precision>> {
 protected:
  static constexpr size_t kDimensions = 6;
  static constexpr uint64_t kWords = 900;

  Metric metric() const { return std::get<0>(GetParam()); }
  std::mt19937_64& random() { return data_.random(); }

  void Keep() {
    auto snapshot = index_.Publish();
    kept_.push_back({std::move(snapshot), index_.model()});
  }
  // Row ids by word, so that words are replaced, deleted and added again.
  void ChangeSome(size_t changes) {
    for (size_t i = 0; i < changes; ++i) {
      const std::string word = absl::StrCat("w", random()() % kWords);
      const auto known = ids_.find(word);
      if (known != ids_.end() && random()() % 3 == 0) {
        index_.Erase(known->second);
        ids_.erase(known);
      } else {
        const uint64_t row_id = known != ids_.end() ? known->second : next_row_id_++;
        ids_[word] = row_id;
        index_.Put(row_id, word, data_.Next());
      }
    }
  }
  void CheckKept() {
    for (const KeptSnapshot& kept : kept_) {
      ASSERT_NO_FATAL_FAILURE(CheckRows(*kept.snapshot, kept.model, index_.codec()));
      const std::vector<Vector> vectors = {data_.Next(), data_.Next()};
      std::vector<IndexQuery> queries = {{vectors[0], {}}, {vectors[1], {}}};
      for (const auto& [row_id, row] : kept.model) {
        if (random()() % 50 == 0) queries[1].excluded_row_ids.push_back(row_id);
      }
      IndexSearchOptions options;
      options.k = 1 + random()() % 30;
      if (random()() % 2 == 0) options.first_n = random()() % (next_row_id_ + 10);
      ASSERT_NO_FATAL_FAILURE(CheckSearch(*kept.snapshot, kept.model, metric(), queries, options));
    }
  }
  MergeWish AnyWish() {
    MergeWish wish;
    wish.everything = random()() % 3 == 0;
    wish.join = random()() % 3 == 0;
    wish.idle = random()() % 2 == 0;
    if (random()() % 2 == 0) wish.close_from = 1 + random()() % 600;
    return wish;
  }
  size_t Sealed() const {
    size_t sealed = 0;
    for (const SegmentDescription& one : index_.index().snapshot()->Segments()) {
      sealed += one.sealed ? 1 : 0;
    }
    return sealed;
  }
  void MergeAll(size_t graph_rows) {
    const std::optional<MergePlan> plan = index_.index().PlanMerge(kEverything);
    ASSERT_TRUE(plan);
    index_.index().InstallMerged(*plan, BuildPlanned(index_, *plan, MergeOptions(graph_rows)));
  }

  TestData data_{Data::kRandom, kDimensions, TestSeed()};
  const std::unique_ptr<BatchBackend> backend_ = MakeFaissBackend();
  mutable ModelledIndex index_{metric(), VectorCodec(std::get<1>(GetParam()), kDimensions),
                               *backend_};
  std::map<std::string, uint64_t> ids_;
  uint64_t next_row_id_ = 0;
  std::vector<KeptSnapshot> kept_;
};

TEST_P(MergeTest, EverySnapshotHoldsItsRowsWhateverIsMergedMeanwhile) {
  size_t installed = 0;
  for (int round = 0; round < 60; ++round) {
    ChangeSome(random()() % 150);
    Keep();
    const std::optional<MergePlan> plan = index_.index().PlanMerge(AnyWish());
    if (!plan) continue;
    EXPECT_FALSE(index_.index().PlanMerge(kEverything)) << "two merges at once";
    const size_t between = random()() % 3;
    for (size_t i = 0; i < between; ++i) {
      ChangeSome(random()() % 150);
      Keep();
    }
    std::shared_ptr<SealedSegment> merged;
    if (random()() % 4 != 0) merged = BuildPlanned(index_, *plan, MergeOptions(300));
    if (random()() % 2 == 0) {
      ChangeSome(random()() % 150);
      Keep();
    }
    installed += merged != nullptr ? 1 : 0;
    const uint64_t sequence = index_.index().snapshot()->sequence();
    index_.index().InstallMerged(*plan, std::move(merged));
    kept_.push_back({index_.index().snapshot(), index_.model()});
    EXPECT_EQ(kept_.back().snapshot->sequence(), sequence);
    ChangeSome(10);
    Keep();
  }
  EXPECT_GT(installed, 5U);
  CheckKept();
}

TEST_P(MergeTest, EverythingMergesIntoOneSegmentWithoutDeadRows) {
  ChangeSome(500);
  Keep();
  ASSERT_NO_FATAL_FAILURE(MergeAll(100));
  ChangeSome(300);
  Keep();
  ASSERT_NO_FATAL_FAILURE(MergeAll(100));
  const auto segments = index_.index().snapshot()->Segments();
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments[0].rows, index_.model().size());
  EXPECT_EQ(segments[0].dead_rows, 0U);
  EXPECT_TRUE(segments[0].sealed);
  EXPECT_TRUE(segments[0].graph);
  EXPECT_FALSE(segments[0].recall.empty());
  EXPECT_FALSE(index_.index().PlanMerge(kEverything));
  EXPECT_EQ(index_.index().snapshot()->Memory().growing_segment, 0U);
  kept_.push_back({index_.index().snapshot(), index_.model()});
  CheckKept();
}

TEST_P(MergeTest, AMergeOfRowsThatAllDiedMeanwhileKeepsNone) {
  ChangeSome(200);
  Keep();
  const std::optional<MergePlan> plan = index_.index().PlanMerge(kEverything);
  ASSERT_TRUE(plan);
  auto merged = BuildPlanned(index_, *plan, MergeOptions(100));
  for (const auto& [word, row_id] : ids_) index_.Erase(row_id);
  ids_.clear();
  Keep();
  index_.index().InstallMerged(*plan, std::move(merged));
  kept_.push_back({index_.index().snapshot(), index_.model()});
  EXPECT_EQ(kept_.back().snapshot->live_rows(), 0U);
  ASSERT_NO_FATAL_FAILURE(MergeAll(100));
  EXPECT_THAT(index_.index().snapshot()->Segments(), IsEmpty());
  ChangeSome(50);
  Keep();
  CheckKept();
}

TEST_P(MergeTest, AMergeGivenUpMayBePlannedAgain) {
  ChangeSome(200);
  Keep();
  const std::optional<MergePlan> plan = index_.index().PlanMerge(kEverything);
  ASSERT_TRUE(plan);
  EXPECT_FALSE(index_.index().PlanMerge(kEverything));
  index_.index().InstallMerged(*plan, nullptr);
  EXPECT_EQ(Sealed(), 0U);
  ASSERT_NO_FATAL_FAILURE(MergeAll(100));
  EXPECT_EQ(Sealed(), 1U);
}

TEST_P(MergeTest, AGrowingSegmentIsClosedFromTheWishedNumberOfRowsOn) {
  for (int i = 0; i < 20; ++i) index_.Put(next_row_id_++, absl::StrCat("w", i), data_.Next());
  Keep();
  EXPECT_FALSE(index_.index().PlanMerge({.idle = true}));
  EXPECT_FALSE(index_.index().PlanMerge({.close_from = 21}));
  EXPECT_FALSE(index_.index().snapshot()->MayMerge(21));
  EXPECT_TRUE(index_.index().snapshot()->MayMerge(20));
  const std::optional<MergePlan> plan = index_.index().PlanMerge({.close_from = 20});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->live_rows, 20U);
}

TEST_P(MergeTest, AMergeThatClosesTakesTheGrowingSegmentAndTheManifestCoversIt) {
  for (int i = 0; i < 20; ++i) index_.Put(next_row_id_++, absl::StrCat("w", i), data_.Next());
  Keep();
  EXPECT_FALSE(index_.index().PlanMerge({.close = true})) << "nothing else to merge";
  ASSERT_NO_FATAL_FAILURE(MergeAll(100));
  for (uint64_t i = 0; i < 15; ++i) index_.Erase(i);
  for (int i = 0; i < 5; ++i) index_.Put(next_row_id_++, absl::StrCat("new", i), data_.Next());
  Keep();
  const std::optional<MergePlan> without = index_.index().PlanMerge({});
  ASSERT_TRUE(without);
  EXPECT_EQ(without->live_rows, 5U);
  index_.index().InstallMerged(*without, nullptr);
  const uint64_t sequence = index_.index().snapshot()->sequence();
  const std::optional<MergePlan> plan = index_.index().PlanMerge({.close = true});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->live_rows, 10U);
  index_.Put(next_row_id_++, "meanwhile", data_.Next());
  Keep();
  auto merged = BuildPlanned(index_, *plan, MergeOptions(100));
  merged->set_file(1);
  index_.index().InstallMerged(*plan, std::move(merged));
  const std::optional<IndexManifest> manifest = index_.index().Manifest();
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->covered, sequence);
  EXPECT_EQ(manifest->written, sequence + 1);
}

INSTANTIATE_TEST_SUITE_P(
    Some, MergeTest,
    testing::Combine(testing::Values(Metric::kCosine, Metric::kDot, Metric::kEuclidean),
                     testing::Values(Precision::kFp32, Precision::kInt8, Precision::kInt4)),
    [](const testing::TestParamInfo<MergeTest::ParamType>& test) {
      return absl::StrCat(std::string(MetricName(std::get<0>(test.param))), "_",
                          std::string(PrecisionName(std::get<1>(test.param))));
    });

// Searches that ask for a recall, over a sealed segment with a graph, dead rows in it, and newer
// rows beside it.
class RecallSearchTest : public testing::TestWithParam<Metric> {
 protected:
  static constexpr size_t kDimensions = 5;
  static constexpr size_t kRows = 5000;

  void SetUp() override {
    index_.Fill(data_, kRows);
    index_.Publish();
    const std::optional<MergePlan> plan = index_.index().PlanMerge(kEverything);
    ASSERT_TRUE(plan);
    index_.index().InstallMerged(*plan, BuildPlanned(index_, *plan, MergeOptions(1000)));
    index_.EraseSome(data_.random(), kRows / 10);
    for (uint64_t row_id = 0; row_id < kRows; row_id += 25) {
      index_.Put(row_id, absl::StrCat("w", row_id), data_.Next());
    }
    index_.Fill(data_, 50);
    snapshot_ = index_.Publish();
  }

  IndexResult Search(const IndexQuery& query, const IndexSearchOptions& options) {
    const auto results = snapshot_->Search(std::vector<IndexQuery>{query}, options);
    EXPECT_THAT(results, IsOk());
    return results->front();
  }
  // Checks what holds for every answer; gives the share of the true hits that it has.
  double CheckAnswer(const IndexQuery& query, const IndexSearchOptions& options,
                     const IndexResult& result) {
    const std::vector<ModelHit> truth = BruteForce(index_.model(), GetParam(), query, options);
    const std::vector<ModelHit> hits = HitsOf(result);
    EXPECT_EQ(hits.size(), truth.size());
    EXPECT_TRUE(!result.exact || hits == truth);
    EXPECT_EQ(result.exact, result.width == 0);
    EXPECT_TRUE(result.exact || (result.width >= options.k && result.recall >= *options.recall));
    std::set<uint64_t> seen;
    size_t found = 0;
    for (size_t i = 0; i < hits.size(); ++i) {
      const uint64_t row_id = hits[i].row_id;
      EXPECT_TRUE(seen.insert(row_id).second) << row_id;
      EXPECT_LT(row_id, options.first_n.value_or(std::numeric_limits<uint64_t>::max()));
      EXPECT_THAT(query.excluded_row_ids, testing::Not(testing::Contains(row_id)));
      const auto row = index_.model().find(row_id);
      EXPECT_NE(row, index_.model().end()) << row_id;
      if (row == index_.model().end()) continue;
      EXPECT_EQ(hits[i].word, row->second.word);
      EXPECT_EQ(hits[i].score, Score(GetParam(), query.vector, SquaredNormInDouble(query.vector),
                                     row->second.vector, row->second.squared_norm));
      EXPECT_TRUE(i == 0 || hits[i - 1].score > hits[i].score ||
                  (hits[i - 1].score == hits[i].score && hits[i - 1].row_id < row_id));
      found += std::count(truth.begin(), truth.end(), hits[i]);
    }
    return truth.empty() ? 1 : static_cast<double>(found) / static_cast<double>(truth.size());
  }

  TestData data_{Data::kRandom, kDimensions, TestSeed()};
  const std::unique_ptr<BatchBackend> backend_ = MakeFaissBackend();
  ModelledIndex index_{GetParam(), kDimensions, *backend_};
  std::shared_ptr<const IndexSnapshot> snapshot_;
};

TEST_P(RecallSearchTest, AnswersHaveTheAskedRecallAndNoRowThatDoesNotBelong) {
  constexpr int kQueries = 100;
  double recall = 0;
  int walked = 0;
  for (int i = 0; i < kQueries; ++i) {
    const Vector vector = data_.Next();
    IndexQuery query{vector, {}};
    IndexSearchOptions options;
    options.k = 10;
    // What would be found first is excluded.
    for (const ModelHit& hit : BruteForce(index_.model(), GetParam(), query, options)) {
      if (i % 2 == 0) query.excluded_row_ids.push_back(hit.row_id);
    }
    options.recall = 0.9;
    const IndexResult result = Search(query, options);
    recall += CheckAnswer(query, options, result);
    walked += result.exact ? 0 : 1;
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GE(recall / kQueries, 0.85);
  EXPECT_GT(walked, kQueries / 2);
}

TEST_P(RecallSearchTest, AnAnswerIsNeverShort) {
  for (const size_t k : {1, 11, 50, 120, 1000, 6000}) {
    for (const uint64_t first_n :
         {uint64_t{0}, uint64_t{3}, uint64_t{500}, kRows - 10, ~uint64_t{0}}) {
      const Vector vector = data_.Next();
      IndexSearchOptions options;
      options.k = k;
      options.first_n = first_n;
      options.recall = 0.5;
      const IndexQuery query{vector, {1, 2, 30}};
      CheckAnswer(query, options, Search(query, options));
      ASSERT_FALSE(HasFailure()) << "k " << k << ", first_n " << first_n;
    }
  }
}

TEST_P(RecallSearchTest, ManyRowsBelowAnEndAreWalkedAndFewAreScanned) {
  int walked = 0;
  for (int i = 0; i < 20; ++i) {
    const Vector vector = data_.Next();
    const IndexQuery query{vector, {}};
    IndexSearchOptions options;
    options.k = 5;
    options.recall = 0.5;
    options.first_n = kRows - 100;
    const IndexResult most = Search(query, options);
    CheckAnswer(query, options, most);
    walked += most.exact ? 0 : 1;
    options.first_n = kRows / 10;
    const IndexResult few = Search(query, options);
    CheckAnswer(query, options, few);
    EXPECT_TRUE(few.exact);
  }
  EXPECT_GT(walked, 10);
}

TEST_P(RecallSearchTest, NoAnswerIsShortWhileEnoughRowsReachTheLeastScore) {
  int short_of_k = 0;
  for (int i = 0; i < 60; ++i) {
    const Vector vector = data_.Next();
    const IndexQuery query{vector, {}};
    IndexSearchOptions options;
    options.k = 10;
    const std::vector<ModelHit> truth = BruteForce(index_.model(), GetParam(), query, options);
    options.recall = 0.5;
    // As many rows reach it as are asked for, or one less.
    options.min_score = i % 2 == 0 ? truth[9].score : std::nextafter(truth[9].score, 1e9);
    const IndexResult result = Search(query, options);
    CheckAnswer(query, options, result);
    const auto good =
        std::count_if(result.hits.begin(), result.hits.end(),
                      [&](const IndexHit& hit) { return hit.score >= *options.min_score; });
    EXPECT_EQ(good, i % 2 == 0 ? 10 : 9);
    if (i % 2 != 0) {
      EXPECT_TRUE(result.exact);
      ++short_of_k;
    }
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_EQ(short_of_k, 30);
}

TEST_P(RecallSearchTest, ARecallThatNoWalkReachesIsAnsweredExactly) {
  const Vector vector = data_.Next();
  const IndexQuery query{vector, {}};
  IndexSearchOptions options;
  options.k = 10;
  options.recall = 1.01;
  const IndexResult result = Search(query, options);
  EXPECT_TRUE(result.exact);
  EXPECT_EQ(result.recall, 1);
  CheckAnswer(query, options, result);
}

TEST_P(RecallSearchTest, ManyQueriesAtOnceGetTheirOwnAnswers) {
  std::vector<Vector> vectors;
  std::vector<IndexQuery> queries;
  for (int i = 0; i < 3; ++i) vectors.push_back(data_.Next());
  for (const Vector& vector : vectors) queries.push_back({vector, {queries.size()}});
  IndexSearchOptions options;
  options.k = 10;
  options.recall = 0.9;
  const auto results = snapshot_->Search(queries, options);
  ASSERT_THAT(results, IsOk());
  ASSERT_EQ(results->size(), queries.size());
  for (size_t q = 0; q < queries.size(); ++q) {
    EXPECT_GE(CheckAnswer(queries[q], options, (*results)[q]), 0.5);
  }
}

TEST_P(RecallSearchTest, AnErrorFromKeepGoingEndsIt) {
  const Vector vector = data_.Next();
  IndexSearchOptions options;
  options.k = 10;
  options.recall = 0.5;
  options.keep_going = [] { return absl::DeadlineExceededError("late"); };
  EXPECT_THAT(snapshot_->Search(std::vector<IndexQuery>{{vector, {}}}, options),
              StatusIs(absl::StatusCode::kDeadlineExceeded, "late"));
}

INSTANTIATE_TEST_SUITE_P(Metrics, RecallSearchTest,
                         testing::Values(Metric::kCosine, Metric::kDot, Metric::kEuclidean),
                         [](const auto& test) { return std::string(MetricName(test.param)); });

// Rows whose scores by codes are infinite or no numbers.
TEST(MergeRangeTest, RowsBeyondTheRangeOfFloatSumsAreMergedAndFound) {
  const std::unique_ptr<BatchBackend> backend = MakeFaissBackend();
  for (const Metric metric : {Metric::kCosine, Metric::kDot, Metric::kEuclidean}) {
    for (const Data kind : {Data::kOverflowing, Data::kMixedNorms}) {
      TestData data(kind, 6, TestSeed());
      ModelledIndex index(metric, 6, *backend);
      index.Fill(data, 400);
      index.Publish();
      const std::optional<MergePlan> plan = index.index().PlanMerge(kEverything);
      ASSERT_TRUE(plan);
      index.index().InstallMerged(*plan, BuildPlanned(index, *plan, MergeOptions(200)));
      const auto snapshot = index.index().snapshot();
      ASSERT_NO_FATAL_FAILURE(CheckRows(*snapshot, index.model(), index.codec()));
      const Vector vector = data.Next();
      IndexSearchOptions options;
      options.k = 10;
      ASSERT_NO_FATAL_FAILURE(
          CheckSearch(*snapshot, index.model(), metric, {{vector, {}}}, options));
      options.recall = 0.9;
      const auto results = snapshot->Search(std::vector<IndexQuery>{{vector, {}}}, options);
      ASSERT_THAT(results, IsOk());
      EXPECT_EQ(results->front().hits.size(), 10U);
    }
  }
}

// What outlives a restart.
class RestoreTest : public testing::Test {
 protected:
  static constexpr size_t kDimensions = 3;

  // Merges what the wish names into a file of this number.
  void Merge(const MergeWish& wish, uint64_t file) {
    const std::optional<MergePlan> plan = index_.index().PlanMerge(wish);
    ASSERT_TRUE(plan);
    Install(*plan, file);
  }
  void Install(const MergePlan& plan, uint64_t file) {
    auto merged = BuildPlanned(index_, plan, MergeOptions(graph_rows_, PathOf(file)));
    merged->set_file(file);
    index_.index().InstallMerged(plan, std::move(merged));
  }
  std::string PathOf(uint64_t file) const { return absl::StrCat(folder_.path(), "/", file); }
  std::vector<std::shared_ptr<SealedSegment>> OpenAll(const IndexManifest& manifest) const {
    std::vector<std::shared_ptr<SealedSegment>> segments;
    for (const IndexManifest::Segment& segment : manifest.segments) {
      auto reader = SegmentReader::Open(PathOf(segment.file));
      EXPECT_THAT(reader, IsOk());
      auto opened = SealedSegment::Open(*std::move(reader), index_.metric(), index_.codec());
      EXPECT_THAT(opened, IsOk());
      segments.push_back(*std::move(opened));
    }
    return segments;
  }
  // An index as it is after a restart.
  std::unique_ptr<TableIndex> Restored(const IndexManifest& manifest) const {
    auto restored = std::make_unique<TableIndex>(index_.metric(), index_.codec(), *backend_);
    EXPECT_THAT(restored->Restore(manifest, OpenAll(manifest)), IsOk());
    return restored;
  }

  const TempDir folder_;
  size_t graph_rows_ = 100;
  TestData data_{Data::kRandom, kDimensions, TestSeed()};
  const std::unique_ptr<BatchBackend> backend_ = MakeFaissBackend();
  mutable ModelledIndex index_{Metric::kCosine, kDimensions, *backend_};
};

TEST_F(RestoreTest, AnEmptyIndexHasAManifestOfNothing) {
  const std::optional<IndexManifest> manifest = index_.index().Manifest();
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->covered, 0U);
  EXPECT_THAT(manifest->segments, IsEmpty());
  EXPECT_EQ(Restored(*manifest)->snapshot()->live_rows(), 0U);
}

TEST_F(RestoreTest, ASegmentWithoutAFileHasNoManifest) {
  index_.Fill(data_, 10);
  index_.Publish();
  const std::optional<MergePlan> plan = index_.index().PlanMerge(kEverything);
  ASSERT_TRUE(plan);
  index_.index().InstallMerged(*plan, BuildPlanned(index_, *plan, MergeOptions(100)));
  EXPECT_FALSE(index_.index().Manifest());
}

TEST_F(RestoreTest, AllThatWasMergedIsThereAgain) {
  index_.Fill(data_, 300);
  index_.Publish();
  ASSERT_NO_FATAL_FAILURE(Merge(kEverything, 4));
  index_.EraseSome(data_.random(), 60);
  index_.Publish();
  const std::optional<IndexManifest> manifest = index_.index().Manifest();
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->covered, 2U);
  EXPECT_EQ(manifest->written, 2U);
  ASSERT_EQ(manifest->segments.size(), 1U);
  EXPECT_EQ(manifest->segments[0].file, 4U);
  EXPECT_EQ(manifest->segments[0].dead.size(), 300 - index_.model().size());
  EXPECT_TRUE(std::is_sorted(manifest->segments[0].dead.begin(), manifest->segments[0].dead.end()));
  const auto restored = Restored(*manifest);
  EXPECT_EQ(restored->snapshot()->sequence(), 2U);
  ASSERT_NO_FATAL_FAILURE(CheckRows(*restored->snapshot(), index_.model(), index_.codec()));
  const std::optional<IndexManifest> again = restored->Manifest();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->covered, 2U);
  EXPECT_EQ(again->segments[0].file, 4U);
  EXPECT_EQ(again->segments[0].dead, manifest->segments[0].dead);
}

TEST_F(RestoreTest, RowsThatAreNotMergedAreNotCovered) {
  index_.Fill(data_, 300);
  index_.Publish();
  ASSERT_NO_FATAL_FAILURE(Merge(kEverything, 1));
  index_.Publish();
  const IndexModel covered = index_.model();
  index_.Fill(data_, 1);
  index_.Publish();
  index_.Put(0, "w0", data_.Next());
  index_.Erase(1);
  index_.Publish();
  const std::optional<IndexManifest> manifest = index_.index().Manifest();
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->covered, 2U);
  EXPECT_EQ(manifest->written, 4U);
  // The rows replaced and erased since are marked; what replaced them comes with the log.
  EXPECT_EQ(manifest->segments[0].dead.size(), 2U);
  IndexModel expected = covered;
  expected.erase(0);
  expected.erase(1);
  CheckRows(*Restored(*manifest)->snapshot(), expected, index_.codec());
}

TEST_F(RestoreTest, RowsWrittenDuringAMergeAreNotCovered) {
  index_.Fill(data_, 300);
  index_.Publish();
  const std::optional<MergePlan> plan = index_.index().PlanMerge(kEverything);
  ASSERT_TRUE(plan);
  EXPECT_EQ(index_.index().Manifest()->covered, 0U);
  index_.Publish();
  index_.Fill(data_, 5);
  index_.Publish();
  EXPECT_EQ(index_.index().Manifest()->covered, 0U);
  ASSERT_NO_FATAL_FAILURE(Install(*plan, 1));
  const std::optional<IndexManifest> manifest = index_.index().Manifest();
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->covered, 2U);
  EXPECT_EQ(Restored(*manifest)->snapshot()->live_rows(), 300U);
}

TEST_F(RestoreTest, SeveralSegmentsAreRestoredAndGoOnAsOne) {
  index_.Fill(data_, 300);
  index_.Publish();
  ASSERT_NO_FATAL_FAILURE(Merge(kEverything, 1));
  index_.Fill(data_, 20);
  index_.Put(7, "w7", data_.Next());
  index_.Publish();
  ASSERT_NO_FATAL_FAILURE(Merge({.close_from = 1}, 2));
  const std::optional<IndexManifest> manifest = index_.index().Manifest();
  ASSERT_TRUE(manifest);
  ASSERT_EQ(manifest->segments.size(), 2U);
  EXPECT_EQ(manifest->covered, 2U);
  const auto restored = Restored(*manifest);
  ASSERT_NO_FATAL_FAILURE(CheckRows(*restored->snapshot(), index_.model(), index_.codec()));
  // The marks of dead rows are seen by merges to come.
  const std::optional<MergePlan> plan = restored->PlanMerge(kEverything);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->live_rows, 320U);
  restored->InstallMerged(*plan, BuildPlanned(index_, *plan, MergeOptions(100)));
  CheckRows(*restored->snapshot(), index_.model(), index_.codec());
}

TEST_F(RestoreTest, AManifestThatNamesASlotThatIsNotThereIsDamaged) {
  index_.Fill(data_, 10);
  index_.Publish();
  ASSERT_NO_FATAL_FAILURE(Merge(kEverything, 1));
  IndexManifest manifest = *index_.index().Manifest();
  manifest.segments[0].dead = {9, 10};
  TableIndex restored(index_.metric(), index_.codec(), *backend_);
  EXPECT_THAT(restored.Restore(manifest, OpenAll(manifest)),
              StatusIs(absl::StatusCode::kDataLoss, "slot 10 of segment 1"));
}

TEST_F(RestoreTest, AManifestOfMoreSegmentsThanThereAreIsDamaged) {
  IndexManifest manifest;
  manifest.segments.push_back({1, {}});
  TableIndex restored(index_.metric(), index_.codec(), *backend_);
  EXPECT_EQ(restored.Restore(manifest, {}).code(), absl::StatusCode::kDataLoss);
}

// Full growing segments hold so many rows.
class FullSegmentTest : public RestoreTest {
 protected:
  static constexpr size_t kFull = 65'536;

  FullSegmentTest() { graph_rows_ = std::numeric_limits<size_t>::max(); }

  void PutMany(uint64_t begin, uint64_t end) {
    for (uint64_t row_id = begin; row_id < end; ++row_id) {
      index_.index().Put(row_id, absl::StrCat("w", row_id), codes_);
    }
  }
  void EraseMany(uint64_t begin, uint64_t end) {
    for (uint64_t row_id = begin; row_id < end; ++row_id) index_.index().Erase(row_id);
  }

  const std::string codes_ = Fp32Codes({1, 2, 3});
};

TEST_F(FullSegmentTest, AFullSegmentWhoseRowsAllDieIsGivenBack) {
  PutMany(0, kFull);
  index_.Publish();
  EXPECT_FALSE(index_.index().PlanMerge({}));
  EraseMany(0, kFull);
  const auto snapshot = index_.Publish();
  EXPECT_EQ(snapshot->live_rows(), 0U);
  EXPECT_THAT(snapshot->Segments(), IsEmpty());
}

// Rows of the first segment are moved twice: to the end of the second, then on to the fourth.
TEST_F(FullSegmentTest, RowsThatWereMovedAreNotCoveredBeforeTheyAreMerged) {
  PutMany(0, kFull);
  index_.Publish();
  PutMany(kFull, 2 * kFull - 6);
  index_.Publish();
  EraseMany(100, kFull);
  index_.Publish();  // 6 of the 100 left fill the second segment; the third begins with the others
  PutMany(2 * kFull, 3 * kFull - 94);
  index_.Publish();
  EraseMany(kFull, 2 * kFull - 6);
  index_.Publish();
  const uint64_t live = index_.index().snapshot()->live_rows();
  ASSERT_NO_FATAL_FAILURE(Merge({.idle = true}, 1));
  const std::optional<IndexManifest> manifest = index_.index().Manifest();
  ASSERT_TRUE(manifest);
  const uint64_t restored = Restored(*manifest)->snapshot()->live_rows();
  EXPECT_EQ(restored, live - 6);
  // The first publication brought the rows that are missing.
  EXPECT_EQ(manifest->covered, 0U);
}

}  // namespace
}  // namespace vectable
