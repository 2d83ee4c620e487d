// What a search may be asked and what it answers beside its hits.

#include <cmath>
#include <thread>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/support/database_fixture.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

using absl::StatusCode;

class SearchTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::pair<std::string, std::vector<float>>> rows = {{"east", {1, 0}},
                                                                          {"far_east", {500, 0}},
                                                                          {"north_east", {3, 4}},
                                                                          {"north", {0, 0.001F}},
                                                                          {"west", {-7, 0}}};
    std::vector<RowInput> inputs;
    for (const auto& [word, vector] : rows) inputs.push_back({word, vector, std::nullopt});
    ASSERT_THAT(table_->Upsert(inputs, UpsertMode::kUpsert), IsOk());
  }
  QueryOutcome Ask(const QueryTarget& target, const SearchOptions& options) {
    auto found = table_->Nearest({&target, 1}, options);
    EXPECT_THAT(found, IsOk());
    return found.ok() ? std::move(found->queries[0]) : QueryOutcome{found.status(), {}};
  }
  static std::vector<std::string> Words(const QueryOutcome& outcome) {
    std::vector<std::string> words;
    for (const SearchHit& hit : outcome.hits) words.push_back(hit.word);
    return words;
  }

  DatabaseFixture fixture_;
  std::shared_ptr<Table> table_ = fixture_.MakeTable("t", 2);
  SearchOptions options_;
  const std::vector<float> east_ = {2, 0};
  const QueryTarget east_target_ = std::span<const float>(east_);
};

TEST_F(SearchTest, OrdersByScoreThenRowId) {
  const QueryOutcome found = Ask(east_target_, options_);
  EXPECT_EQ(Words(found),
            (std::vector<std::string>{"east", "far_east", "north_east", "north", "west"}));
  EXPECT_EQ(found.hits[0].score, 1);
  EXPECT_EQ(found.hits[1].score, 1);
  EXPECT_NEAR(found.hits[2].score, 0.6, 1e-12);
  EXPECT_EQ(found.hits[4].score, -1);
  EXPECT_EQ(found.short_reason, ShortReason::kTableSmaller);
  EXPECT_EQ(found.rows_searched, 5U);
  EXPECT_FALSE(found.hits[0].distance.has_value());
}

TEST_F(SearchTest, LeavesTheQueriedWordOutUnlessAsked) {
  options_.k = 2;
  EXPECT_EQ(Words(Ask(std::string_view("far_east"), options_)),
            (std::vector<std::string>{"east", "north_east"}));
  EXPECT_EQ(Words(Ask(uint64_t{1}, options_)), (std::vector<std::string>{"east", "north_east"}));
  options_.include_self = true;
  EXPECT_EQ(Words(Ask(std::string_view("far_east"), options_)),
            (std::vector<std::string>{"east", "far_east"}));
}

TEST_F(SearchTest, FiltersAndSaysWhy) {
  options_.k = 3;
  options_.exclude_words = {"east", "unknown", "east", "west"};
  EXPECT_EQ(Words(Ask(east_target_, options_)),
            (std::vector<std::string>{"far_east", "north_east", "north"}));
  options_.first_n = 3;
  QueryOutcome found = Ask(east_target_, options_);
  EXPECT_EQ(Words(found), (std::vector<std::string>{"far_east", "north_east"}));
  EXPECT_EQ(found.short_reason, ShortReason::kFiltered);
  EXPECT_EQ(found.rows_searched, 2U);
  options_.min_score = 0.9;
  found = Ask(east_target_, options_);
  EXPECT_EQ(Words(found), std::vector<std::string>{"far_east"});
  EXPECT_EQ(found.short_reason, ShortReason::kMinScore);
}

TEST_F(SearchTest, GivesVectorsWhereAsked) {
  options_.k = 1;
  EXPECT_TRUE(Ask(east_target_, options_).hits[0].vector.empty());
  options_.include_vectors = true;
  EXPECT_EQ(Ask(east_target_, options_).hits[0].vector, (std::vector<float>{1, 0}));
}

TEST_F(SearchTest, EachQueryHasItsOwnStatus) {
  const std::vector<float> wide = {1, 2, 3};
  const std::vector<float> zero = {0, 0};
  const std::vector<float> nan = {NAN, 0};
  const std::vector<QueryTarget> targets = {
      std::string_view("esat"),     std::string_view("west"),     uint64_t{77},
      std::span<const float>(wide), std::span<const float>(zero), std::span<const float>(nan)};
  const auto found = table_->Nearest(targets, options_);
  ASSERT_THAT(found, IsOk());
  EXPECT_THAT(found->queries[0].status,
              StatusIs(StatusCode::kNotFound, "no word 'esat'; did you mean 'east'"));
  EXPECT_THAT(found->queries[1].status, IsOk());
  EXPECT_EQ(found->queries[1].hits.size(), 4U);
  EXPECT_THAT(found->queries[2].status, StatusIs(StatusCode::kNotFound, "no row with id 77"));
  EXPECT_THAT(found->queries[3].status,
              StatusIs(StatusCode::kInvalidArgument, "has 3 values; the table has 2"));
  EXPECT_THAT(found->queries[4].status, StatusIs(StatusCode::kInvalidArgument, "all zero"));
  EXPECT_THAT(found->queries[5].status, StatusIs(StatusCode::kInvalidArgument, "NaN"));
}

TEST_F(SearchTest, RefusesWhatIsOutOfRange) {
  const auto ask = [&](size_t queries) {
    return table_->Nearest(std::vector<QueryTarget>(queries, east_target_), options_).status();
  };
  EXPECT_THAT(ask(0), StatusIs(StatusCode::kInvalidArgument, "no query"));
  EXPECT_THAT(ask(1001), StatusIs(StatusCode::kInvalidArgument,
                                  "1001 queries in one request; the limit is 1000"));
  options_.k = 0;
  EXPECT_THAT(ask(1), StatusIs(StatusCode::kInvalidArgument, "k is 0"));
  options_.k = 10'001;
  EXPECT_THAT(ask(1), StatusIs(StatusCode::kInvalidArgument, "1 to 10000"));
  options_.k = 1;
  options_.min_score = NAN;
  EXPECT_THAT(ask(1), StatusIs(StatusCode::kInvalidArgument, "min_score"));
  options_.min_score.reset();
  options_.max_hits = 3;
  EXPECT_THAT(ask(3), IsOk());
  EXPECT_THAT(ask(4), StatusIs(StatusCode::kResourceExhausted, "more than 3 hits"));
}

TEST_F(SearchTest, StopsWhenToldTo) {
  options_.deadline = absl::Now() - absl::Seconds(1);
  EXPECT_THAT(table_->Nearest({&east_target_, 1}, options_),
              StatusIs(StatusCode::kDeadlineExceeded, "deadline"));
  options_.deadline = absl::InfiniteFuture();
  options_.cancelled = [] { return true; };
  EXPECT_THAT(table_->Nearest({&east_target_, 1}, options_),
              StatusIs(StatusCode::kCancelled, "cancelled"));
}

TEST_F(SearchTest, Similarity) {
  const auto same = table_->Similarity(std::string_view("east"), uint64_t{1});
  ASSERT_THAT(same, IsOk());
  EXPECT_EQ(same->score, 1);
  EXPECT_THAT(table_->Similarity(std::string_view("est"), uint64_t{1}),
              StatusIs(StatusCode::kNotFound, "'east'"));
  EXPECT_THAT(table_->Similarity(uint64_t{9}, east_target_),
              StatusIs(StatusCode::kNotFound, "id 9"));
}

TEST_F(SearchTest, EuclideanGivesDistances) {
  table_ = fixture_.MakeTable("e", 2, Metric::kEuclidean);
  SetUp();
  options_.k = 2;
  const QueryOutcome found = Ask(east_target_, options_);
  EXPECT_EQ(Words(found), (std::vector<std::string>{"east", "north"}));
  EXPECT_EQ(found.hits[0].score, -1);
  EXPECT_EQ(found.hits[0].distance, 1);
  EXPECT_EQ(table_->Similarity(std::string_view("east"), std::string_view("west"))->distance, 8);
}

}  // namespace
}  // namespace vectable
