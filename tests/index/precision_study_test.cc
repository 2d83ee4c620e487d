// What a precision costs, against a plain computation of the same figures.
#include "index/precision_study.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/limits.h"
#include "gtest/gtest.h"
#include "tests/common/test_seed.h"
#include "tests/index/index_model.h"
#include "tests/index/test_data.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

std::vector<PrecisionFigures> FiguresOf(PrecisionStudy& study) {
  size_t steps = 0;
  while (!study.done()) {
    EXPECT_EQ(study.steps_done(), steps++);
    const absl::Status status = study.Step();
    EXPECT_THAT(status, IsOk());
    if (!status.ok()) break;
  }
  EXPECT_EQ(study.steps_done(), study.steps());
  return study.Figures();
}

// The rows at a precision, by row id; those that it can't hold are left out.
IndexModel Recoded(const IndexModel& model, Metric metric, const VectorCodec& codec) {
  IndexModel recoded;
  for (const auto& [row_id, row] : model) {
    std::string codes;
    if (!codec.Encode(row.vector, codes).ok()) continue;
    const Vector vector = VectorOf(codec, codes.data());
    const double squared_norm = SquaredNormInDouble(vector);
    if (metric == Metric::kCosine && squared_norm == 0) continue;
    recoded[row_id] = {row.word, vector, squared_norm};
  }
  return recoded;
}

// The nearest rows of a row, without itself; empty when the row isn't there.
std::vector<uint64_t> Nearest(const IndexModel& model, Metric metric, uint64_t row_id, size_t k) {
  const auto row = model.find(row_id);
  if (row == model.end()) return {};
  IndexQuery query{row->second.vector, {row_id}};
  IndexSearchOptions options;
  options.k = k;
  std::vector<uint64_t> nearest;
  for (const ModelHit& hit : BruteForce(model, metric, query, options)) {
    nearest.push_back(hit.row_id);
  }
  return nearest;
}

double Recall(const IndexModel& truth, const IndexModel& found, Metric metric, size_t depth) {
  double sum = 0;
  for (const auto& [row_id, row] : truth) {
    const std::vector<uint64_t> right = Nearest(truth, metric, row_id, depth);
    const std::vector<uint64_t> got = Nearest(found, metric, row_id, right.size());
    const std::set<uint64_t> known(right.begin(), right.end());
    sum += static_cast<double>(std::count_if(got.begin(), got.end(),
                                             [&](uint64_t id) { return known.contains(id); })) /
           static_cast<double>(right.size());
  }
  return sum / static_cast<double>(truth.size());
}

struct Errors {
  double mean = 0;
  double worst = 0;
};

Errors CosineErrors(const IndexModel& truth, const IndexModel& found) {
  Errors errors;
  for (const auto& [row_id, row] : found) {
    const ModelRow& right = truth.at(row_id);
    const double error = 1 - CosineFromSums(DotInDouble(right.vector, row.vector),
                                            right.squared_norm, row.squared_norm);
    errors.mean += error / static_cast<double>(found.size());
    errors.worst = std::max(errors.worst, error);
  }
  return errors;
}

class PrecisionStudyTest : public testing::TestWithParam<std::tuple<Metric, Precision>> {
 protected:
  static constexpr size_t kDimensions = 12;

  Metric metric() const { return std::get<0>(GetParam()); }

  TestData source_{Data::kRandom, kDimensions, TestSeed()};
  const std::unique_ptr<BatchBackend> faiss_ = MakeFaissBackend();
  const BatchBackend& backend_ = *faiss_;
  ModelledIndex index_{metric(), VectorCodec(std::get<1>(GetParam()), kDimensions), backend_};
};

TEST_P(PrecisionStudyTest, EqualsAPlainComputation) {
  index_.Fill(source_, 400);
  index_.EraseSome(source_.random(), 60);
  const auto snapshot = index_.Publish();
  // What comes later isn't seen.
  index_.Fill(source_, 50);
  index_.EraseSome(source_.random(), 50);
  const IndexModel model = [&] {
    IndexModel rows;
    snapshot->ForEachRow([&](const IndexedRow& row) {
      const Vector vector = VectorOf(index_.codec(), row.codes);
      rows[row.row_id] = {std::string(row.word), vector, SquaredNormInDouble(vector)};
      return true;
    });
    return rows;
  }();

  PrecisionStudy study(snapshot, 1000);
  const std::vector<PrecisionFigures> all = FiguresOf(study);
  EXPECT_EQ(study.queries(), model.size());
  EXPECT_EQ(study.baseline(), index_.codec().precision());
  ASSERT_EQ(all.size(), kAllPrecisions.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const PrecisionFigures& figures = all[i];
    SCOPED_TRACE(std::string(PrecisionName(figures.precision)));
    EXPECT_EQ(figures.precision, kAllPrecisions[i]);
    EXPECT_EQ(figures.rows_refused, 0U);
    const IndexModel recoded = Recoded(model, metric(), {figures.precision, kDimensions});
    EXPECT_NEAR(figures.recall_at_1, Recall(model, recoded, metric(), 1), 1e-12);
    EXPECT_NEAR(figures.recall_at_10, Recall(model, recoded, metric(), 10), 1e-12);
    EXPECT_NEAR(figures.recall_at_100, Recall(model, recoded, metric(), 100), 1e-12);
    const Errors errors = CosineErrors(model, recoded);
    EXPECT_NEAR(figures.mean_cosine_error, errors.mean, 1e-12);
    EXPECT_NEAR(figures.worst_cosine_error, errors.worst, 1e-12);
    if (figures.precision == study.baseline()) {
      EXPECT_EQ(figures.recall_at_100, 1);
      EXPECT_TRUE(figures.most_changed.empty());
    }
    for (size_t j = 0; j < figures.most_changed.size(); ++j) {
      EXPECT_LT(figures.most_changed[j].kept, 10U);
      if (j == 0) continue;
      EXPECT_GE(figures.most_changed[j].kept, figures.most_changed[j - 1].kept);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, PrecisionStudyTest,
                         testing::Combine(testing::Values(Metric::kCosine, Metric::kDot,
                                                          Metric::kEuclidean),
                                          testing::Values(Precision::kFp32, Precision::kInt8)),
                         [](const auto& test) {
                           return absl::StrCat(std::string(MetricName(std::get<0>(test.param))),
                                               "_",
                                               std::string(PrecisionName(std::get<1>(test.param))));
                         });

class PrecisionSampleTest : public testing::Test {
 protected:
  static constexpr size_t kDimensions = 4;
  const std::unique_ptr<BatchBackend> faiss_ = MakeFaissBackend();
  const BatchBackend& backend_ = *faiss_;
};

TEST_F(PrecisionSampleTest, TheSameRowsGiveTheSameFiguresInAnyOrder) {
  TestData source(Data::kRandom, kDimensions, TestSeed());
  ModelledIndex first(Metric::kCosine, kDimensions, backend_);
  first.Fill(source, 900);
  ModelledIndex second(Metric::kCosine, kDimensions, backend_);
  for (auto row = first.model().rbegin(); row != first.model().rend(); ++row) {
    second.Put(row->first, row->second.word, row->second.vector);
  }
  PrecisionStudy one(first.Publish(), 100);
  PrecisionStudy two(second.Publish(), 100);
  EXPECT_EQ(one.queries(), 100U);
  const std::vector<PrecisionFigures> a = FiguresOf(one);
  const std::vector<PrecisionFigures> b = FiguresOf(two);
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].recall_at_10, b[i].recall_at_10);
    EXPECT_EQ(a[i].recall_at_100, b[i].recall_at_100);
    ASSERT_EQ(a[i].most_changed.size(), b[i].most_changed.size());
    for (size_t j = 0; j < a[i].most_changed.size(); ++j) {
      EXPECT_EQ(a[i].most_changed[j].word, b[i].most_changed[j].word);
    }
  }
}

TEST_F(PrecisionSampleTest, RowsBeyondAPrecisionAreCountedAndNotFound) {
  ModelledIndex index(Metric::kCosine, 2, backend_);
  index.Put(0, "a", {1, 0});
  index.Put(1, "b", {1, 0.1F});
  index.Put(2, "huge", {70'000, 1'000});    // beyond fp16
  index.Put(3, "tiny", {1e-9F, 1.2e-10F});  // all zero at fp16
  PrecisionStudy study(index.Publish(), 10);
  const std::vector<PrecisionFigures> all = FiguresOf(study);
  EXPECT_EQ(all[0].rows_refused, 0U);
  EXPECT_EQ(all[1].rows_refused, 2U);  // fp16
  EXPECT_LT(all[1].recall_at_10, 1);
  EXPECT_EQ(all[2].rows_refused, 0U);  // bf16
  EXPECT_EQ(all[2].recall_at_10, 1);
}

TEST_F(PrecisionSampleTest, NormsBeyondFloatSumsAreRankedAllTheSame) {
  for (const Metric metric : {Metric::kDot, Metric::kEuclidean}) {
    for (const float size : {1e30F, 1e-30F}) {
      TestData source(Data::kRandom, kDimensions, TestSeed());
      ModelledIndex index(metric, kDimensions, backend_);
      for (uint64_t row_id = 0; row_id < 300; ++row_id) {
        Vector vector = source.Next();
        for (float& value : vector) value *= size;
        index.Put(row_id, absl::StrCat("w", row_id), vector);
      }
      PrecisionStudy study(index.Publish(), 300);
      const std::vector<PrecisionFigures> all = FiguresOf(study);
      EXPECT_EQ(all[0].recall_at_100, 1);
      EXPECT_GT(all[3].recall_at_10, 0.9) << size;  // int8
    }
  }
}

TEST_F(PrecisionSampleTest, ManyQueriesAreTakenInSlices) {
  TestData source(Data::kRandom, kDimensions, TestSeed());
  ModelledIndex index(Metric::kEuclidean, kDimensions, backend_);
  index.Fill(source, 700);
  PrecisionStudy whole(index.Publish(), 700);
  EXPECT_EQ(whole.steps(), 5U * (1 + 1) * 3);
  const std::vector<PrecisionFigures> all = FiguresOf(whole);
  const IndexModel recoded =
      Recoded(index.model(), Metric::kEuclidean, {Precision::kInt4, kDimensions});
  EXPECT_NEAR(all[4].recall_at_10, Recall(index.model(), recoded, Metric::kEuclidean, 10), 1e-12);
}

TEST_F(PrecisionSampleTest, WideTablesGetFewerQueries) {
  ModelledIndex index(Metric::kCosine, kMaxDimensions, backend_);
  for (uint64_t row_id = 0; row_id < 70; ++row_id) {
    index.Put(row_id, absl::StrCat("w", row_id),
              Vector(kMaxDimensions, 1.0F + static_cast<float>(row_id)));
  }
  PrecisionStudy study(index.Publish(), 10'000);
  const size_t queries = kMaxStudyValues / kMaxDimensions;
  EXPECT_EQ(study.queries(), queries);
  const size_t blocks = (70 + 15) / 16;              // of 16 rows
  EXPECT_EQ(study.steps(), 5 * (blocks + queries));  // one query is ranked at a time
}

TEST_F(PrecisionSampleTest, OneRowAndNoneHaveNothingToCompare) {
  ModelledIndex index(Metric::kCosine, 2, backend_);
  PrecisionStudy none(index.Publish(), 10);
  for (const PrecisionFigures& figures : FiguresOf(none)) EXPECT_TRUE(figures.most_changed.empty());
  index.Put(0, "a", {1, 0});
  PrecisionStudy one(index.Publish(), 10);
  for (const PrecisionFigures& figures : FiguresOf(one)) EXPECT_EQ(figures.rows_refused, 0U);
}

}  // namespace
}  // namespace vectable
