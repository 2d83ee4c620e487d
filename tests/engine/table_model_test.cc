// Random operations on a table against a simple model, and again after each reopen.

#include "tests/engine/table_model.h"

#include <random>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "common/vector_codec.h"
#include "gtest/gtest.h"
#include "tests/support/database_fixture.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

constexpr size_t kDimensions = 5;

class TableModelTest : public testing::TestWithParam<std::tuple<Metric, Precision>> {
 protected:
  Metric metric() const { return std::get<0>(GetParam()); }
  Precision precision() const { return std::get<1>(GetParam()); }

  // The vector as the table keeps it.
  std::vector<float> Stored(const std::vector<float>& vector) const {
    const VectorCodec codec(precision(), kDimensions);
    std::string codes;
    EXPECT_THAT(codec.Encode(vector, codes), IsOk());
    std::vector<float> stored(kDimensions);
    codec.Decode(codes.data(), 1, stored.data());
    return stored;
  }
  std::vector<float> RandomVector() {
    std::vector<float> vector(kDimensions);
    // Few different values, so that ties and duplicates are common; never all zero.
    for (float& value : vector) value = static_cast<float>(static_cast<int>(random_() % 5) - 2) / 2;
    if (std::all_of(vector.begin(), vector.end(), [](float v) { return v == 0; })) vector[0] = 1;
    return vector;
  }
  std::string RandomWord() { return absl::StrCat("word", random_() % 400); }

  void UpsertSome() {
    std::map<std::string, std::vector<float>> chosen;
    for (size_t i = 0; i <= random_() % 30; ++i) chosen[RandomWord()] = RandomVector();
    std::vector<RowInput> rows;
    for (const auto& [word, vector] : chosen) rows.push_back({word, vector, std::nullopt});
    uint64_t known = 0;
    for (const auto& [word, vector] : chosen) known += model_.rows().contains(word) ? 1 : 0;
    const auto outcome = table_->Upsert(rows, UpsertMode::kUpsert);
    ASSERT_THAT(outcome, IsOk());
    EXPECT_EQ(outcome->replaced, known);
    EXPECT_EQ(outcome->inserted, chosen.size() - known);
    for (const auto& [word, vector] : chosen) model_.Upsert(word, Stored(vector));
  }

  void DeleteSome() {
    std::vector<std::string> words;
    for (size_t i = 0; i <= random_() % 8; ++i) words.push_back(RandomWord());
    RowKeys keys;
    uint64_t expected = 0;
    if (random_() % 2 == 0) {
      keys = std::vector<std::string_view>(words.begin(), words.end());
    } else {
      std::vector<uint64_t> ids;
      for (const std::string& word : words) {
        const auto found = model_.rows().find(word);
        ids.push_back(found == model_.rows().end() ? 1'000'000 : found->second.row_id);
      }
      keys = std::move(ids);
    }
    for (const std::string& word : words) expected += model_.Delete(word) ? 1 : 0;
    const auto outcome = table_->Delete(keys);
    ASSERT_THAT(outcome, IsOk());
    EXPECT_EQ(outcome->deleted, expected);
  }

  void CheckSearch() {
    SearchOptions options;
    options.k = 1 + random_() % 20;
    if (random_() % 3 == 0) options.first_n = random_() % (model_.next_row_id() + 1);
    std::vector<float> vector = RandomVector();
    std::optional<std::string> skip;
    QueryTarget target = std::span<const float>(vector);
    const std::string word = RandomWord();
    if (const auto found = model_.rows().find(word);
        random_() % 2 == 0 && found != model_.rows().end()) {
      skip = word;
      vector = found->second.vector;
      target = random_() % 2 == 0 ? QueryTarget(std::string_view(word))
                                  : QueryTarget(found->second.row_id);
    }
    const auto found = table_->Nearest({&target, 1}, options);
    ASSERT_THAT(found, IsOk());
    ASSERT_THAT(found->queries[0].status, IsOk());
    const auto expected = model_.Nearest(vector, options.k, skip, options.first_n);
    const std::vector<SearchHit>& hits = found->queries[0].hits;
    ASSERT_EQ(hits.size(), expected.size());
    for (size_t i = 0; i < hits.size(); ++i) {
      EXPECT_EQ(hits[i].word, expected[i].first) << "place " << i;
      EXPECT_EQ(hits[i].score, expected[i].second);
      EXPECT_EQ(hits[i].row_id, model_.rows().at(hits[i].word).row_id);
    }
  }

  void CheckAll() {
    const TableDescription description = table_->Describe();
    EXPECT_EQ(description.rows, model_.rows().size());
    EXPECT_EQ(description.parameters, model_.rows().size() * kDimensions);
    EXPECT_EQ(description.next_row_id, model_.next_row_id());
    const auto scan = table_->Scan(WordPrefix{}, /*include_vectors=*/true);
    ASSERT_THAT(scan, IsOk());
    for (const auto& [word, row] : model_.rows()) {
      const auto next = (*scan)->Next();
      ASSERT_THAT(next, IsOk());
      ASSERT_TRUE(next->has_value());
      EXPECT_EQ((*next)->word, word);
      EXPECT_EQ((*next)->row_id, row.row_id);
      EXPECT_EQ((*next)->vector, row.vector);
    }
    const auto end = (*scan)->Next();
    ASSERT_THAT(end, IsOk());
    EXPECT_FALSE(end->has_value());
  }

  const uint64_t seed_ = 20'240'601;
  std::mt19937_64 random_{seed_};
  DatabaseFixture fixture_;
  std::shared_ptr<Table> table_ = fixture_.MakeTable("t", kDimensions, metric(), precision());
  TableModel model_{metric()};
};

TEST_P(TableModelTest, AgreesThroughRandomOperationsAndReopens) {
  SCOPED_TRACE(absl::StrCat("seed ", seed_));
  for (int round = 0; round < 6; ++round) {
    for (int step = 0; step < 150 && !HasFatalFailure(); ++step) {
      switch (random_() % 4) {
        case 0:
          DeleteSome();
          break;
        case 1:
          UpsertSome();
          break;
        default:
          CheckSearch();
      }
    }
    CheckAll();
    table_.reset();
    fixture_.Reopen();
    table_ = fixture_.table("t");
    CheckSearch();  // waits for the index
    CheckAll();
    if (HasFatalFailure()) return;
  }
}

std::string TestName(const testing::TestParamInfo<TableModelTest::ParamType>& test) {
  return absl::StrCat(std::string(MetricName(std::get<0>(test.param))), "_",
                      std::string(PrecisionName(std::get<1>(test.param))));
}

INSTANTIATE_TEST_SUITE_P(Metrics, TableModelTest,
                         testing::Combine(testing::Values(Metric::kCosine, Metric::kDot,
                                                          Metric::kEuclidean),
                                          testing::Values(Precision::kFp32)),
                         TestName);
INSTANTIATE_TEST_SUITE_P(Precisions, TableModelTest,
                         testing::Combine(testing::Values(Metric::kCosine),
                                          testing::Values(Precision::kFp16, Precision::kBf16,
                                                          Precision::kInt8, Precision::kInt4)),
                         TestName);

}  // namespace
}  // namespace vectable
