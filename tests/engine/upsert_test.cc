// Modes, row ids and refusals of writes.

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "tests/support/database_fixture.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

using absl::StatusCode;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class UpsertTest : public testing::Test {
 protected:
  struct OwnedRow {
    std::string word;
    std::vector<float> vector;
    std::optional<uint64_t> row_id = std::nullopt;
  };

  static std::vector<RowInput> Inputs(const std::vector<OwnedRow>& rows) {
    std::vector<RowInput> inputs;
    for (const OwnedRow& row : rows) inputs.push_back({row.word, row.vector, row.row_id});
    return inputs;
  }
  absl::StatusOr<UpsertOutcome> Put(const std::vector<OwnedRow>& rows,
                                    UpsertMode mode = UpsertMode::kUpsert) {
    return table_->Upsert(Inputs(rows), mode);
  }
  std::optional<uint64_t> IdOf(const std::string& word) {
    const auto got = table_->Get(std::vector<std::string_view>{word});
    return got.ok() && !got->rows.empty() ? std::optional<uint64_t>(got->rows[0].row_id)
                                          : std::nullopt;
  }

  DatabaseFixture fixture_;
  std::shared_ptr<Table> table_ = fixture_.MakeTable("t", 2);
};

TEST_F(UpsertTest, IdsFollowInsertionAndAreNeverUsedAgain) {
  ASSERT_THAT(Put({{"a", {1, 0}}, {"b", {0, 1}}}), IsOk());
  ASSERT_THAT(Put({{"b", {1, 1}}, {"c", {1, 2}}}), IsOk());
  EXPECT_EQ(IdOf("b"), 1U);
  EXPECT_EQ(IdOf("c"), 2U);
  ASSERT_THAT(table_->Delete(std::vector<std::string_view>{"b"}), IsOk());
  ASSERT_THAT(Put({{"b", {0, 1}}}), IsOk());
  EXPECT_EQ(IdOf("b"), 3U);
  EXPECT_THAT(Put({{"d", {0, 1}, 1}}), StatusIs(StatusCode::kAlreadyExists, "deleted"));
}

TEST_F(UpsertTest, ExplicitIds) {
  ASSERT_THAT(Put({{"far", {1, 0}, 10}, {"auto", {1, 1}}}), IsOk());
  EXPECT_EQ(IdOf("auto"), 11U);
  ASSERT_THAT(Put({{"gap", {1, 0}, 5}}), IsOk());
  EXPECT_EQ(IdOf("gap"), 5U);
  EXPECT_THAT(Put({{"far", {1, 0}, 10}}), IsOk());
  EXPECT_THAT(Put({{"far", {1, 0}, 12}}), StatusIs(StatusCode::kInvalidArgument, "has row id 10"));
  EXPECT_THAT(Put({{"other", {1, 0}, 10}}), StatusIs(StatusCode::kAlreadyExists, "row id 10"));
  EXPECT_THAT(
      Put({{"x", {1, 0}, 20}, {"y", {1, 0}, 20}}),
      StatusIs(StatusCode::kInvalidArgument, "row 1 ('y'): row id 20 is in the batch twice"));
  EXPECT_THAT(Put({{"x", {1, 0}, uint64_t{1} << 63}}),
              StatusIs(StatusCode::kInvalidArgument, "greatest"));
  ASSERT_THAT(Put({{"last", {1, 0}, kMaxRowId}}), IsOk());
  EXPECT_THAT(Put({{"next", {1, 0}}}), StatusIs(StatusCode::kResourceExhausted, "used up"));
  EXPECT_EQ(table_->Describe().rows, 4U);
}

TEST_F(UpsertTest, Modes) {
  ASSERT_THAT(Put({{"a", {1, 0}}}), IsOk());
  EXPECT_THAT(Put({{"new", {1, 0}}, {"a", {0, 1}}}, UpsertMode::kInsertOnly),
              StatusIs(StatusCode::kAlreadyExists, "table 't': row 1 ('a')"));
  EXPECT_THAT(Put({{"a", {0, 1}}, {"new", {1, 0}}}, UpsertMode::kUpdateOnly),
              StatusIs(StatusCode::kNotFound, "row 1 ('new')"));
  EXPECT_EQ(IdOf("new"), std::nullopt);
  EXPECT_EQ(table_->Describe().rows, 1U);
  EXPECT_THAT(Put({{"a", {0, 1}}}, UpsertMode::kUpdateOnly), IsOk());
  EXPECT_THAT(Put({{"b", {0, 1}}}, UpsertMode::kInsertOnly), IsOk());
}

struct BadRow {
  const char* name;
  std::string word;
  std::vector<float> vector;
  const char* says;
};

class BadRowTest : public UpsertTest, public testing::WithParamInterface<BadRow> {};

TEST_P(BadRowTest, RefusesTheBatchAndChangesNothing) {
  const BadRow& bad = GetParam();
  ASSERT_THAT(Put({{"before", {1, 0}}}), IsOk());
  const auto refused = Put({{"good", {1, 0}}, {bad.word, bad.vector}});
  EXPECT_THAT(refused, StatusIs(StatusCode::kInvalidArgument, bad.says));
  EXPECT_THAT(refused, StatusIs(StatusCode::kInvalidArgument, "table 't': row 1"));
  EXPECT_EQ(table_->Describe().rows, 1U);
  EXPECT_EQ(IdOf("good"), std::nullopt);
  EXPECT_EQ(table_->Describe().applied_sequence, 1U);
}

TEST_P(BadRowTest, IsLeftOutWhenAskedTo) {
  const BadRow& bad = GetParam();
  const auto written = table_->UpsertSkippingBad(
      Inputs({{"first", {1, 0}}, {bad.word, bad.vector}, {"good", {0, 1}}}), UpsertMode::kUpsert);
  ASSERT_THAT(written, IsOk());
  EXPECT_EQ(written->inserted, 2U);
  ASSERT_EQ(written->rejected.size(), 1U);
  EXPECT_EQ(written->rejected[0].index, 1U);
  EXPECT_THAT(written->rejected[0].reason, StatusIs(StatusCode::kInvalidArgument, bad.says));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadRowTest,
    testing::Values(
        BadRow{"TooFew", "w", {1}, "has 1 values; the table has 2"},
        BadRow{"TooMany", "w", {1, 2, 3}, "has 3 values; the table has 2"},
        BadRow{"None", "w", {}, "has 0 values"},
        BadRow{"NaN", "w", {1, NAN}, "value 1 of the vector is NaN"},
        BadRow{"Infinity", "w", {-kInfinity, 1}, "value 0 of the vector is infinite"},
        BadRow{"Zero", "w", {0, -0.0F}, "all zero"}, BadRow{"EmptyWord", "", {1, 0}, "empty"},
        BadRow{"LongWord", std::string(4097, 'x'), {1, 0}, "4097 bytes; the limit is 4096"},
        BadRow{"Nul", std::string("a\0b", 3), {1, 0}, "NUL"},
        BadRow{"NotUtf8", "\xff\xfe", {1, 0}, "not valid UTF-8"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(UpsertTest, RefusesAWordTwiceAndAnEmptyBatch) {
  EXPECT_THAT(
      Put({{"a", {1, 0}}, {"a", {0, 1}}}),
      StatusIs(StatusCode::kInvalidArgument, "row 1 ('a'): the word is in the batch twice"));
  EXPECT_THAT(Put({}), StatusIs(StatusCode::kInvalidArgument, "no rows"));
  EXPECT_EQ(table_->Describe().rows, 0U);
}

TEST_F(UpsertTest, SkippingLeavesOutRowsThatTheModeRefuses) {
  ASSERT_THAT(Put({{"a", {1, 0}}}), IsOk());
  const auto written = table_->UpsertSkippingBad(
      Inputs({{"", {1, 0}}, {"a", {0, 1}}, {"b", {0, 1}}, {"b", {1, 1}}}), UpsertMode::kInsertOnly);
  ASSERT_THAT(written, IsOk());
  EXPECT_EQ(written->inserted, 1U);
  ASSERT_EQ(written->rejected.size(), 3U);
  EXPECT_EQ(written->rejected[0].index, 0U);
  EXPECT_EQ(written->rejected[1].index, 1U);
  EXPECT_EQ(written->rejected[2].index, 3U);
  const auto none = table_->UpsertSkippingBad(Inputs({{"", {1, 0}}}), UpsertMode::kUpsert);
  ASSERT_THAT(none, IsOk());
  EXPECT_EQ(none->sequence, 0U);
}

TEST_F(UpsertTest, AcceptsExtremesAndAnyScript) {
  ASSERT_THAT(Put({{"huge", {3e38F, 3e38F}},
                   {"tiny", {1e-45F, 0}},
                   {"two words", {1, 2}},
                   {"\xe6\x9d\xb1\xe4\xba\xac", {2, 1}},
                   {"-dash", {1, 1}}}),
              IsOk());
  const auto similar = table_->Similarity(std::string_view("huge"), std::string_view("-dash"));
  ASSERT_THAT(similar, IsOk());
  EXPECT_NEAR(similar->score, 1.0, 1e-12);
  SearchOptions options;
  options.k = 1;
  const QueryTarget target = std::string_view("tiny");
  const auto found = table_->Nearest({&target, 1}, options);
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->queries[0].hits[0].word, "\xe6\x9d\xb1\xe4\xba\xac");
}

TEST(UpsertLimitTest, NamesTheRowLimit) {
  DatabaseFixture fixture;
  fixture.limits().max_rows = 2;
  fixture.Reopen();
  const std::shared_ptr<Table> table = fixture.MakeTable("t", 1);
  const std::vector<float> one = {1};
  const std::vector<RowInput> three = {{"a", one, {}}, {"b", one, {}}, {"c", one, {}}};
  EXPECT_THAT(table->Upsert(three, UpsertMode::kUpsert),
              StatusIs(StatusCode::kResourceExhausted, "the limit is 2"));
  EXPECT_THAT(table->Upsert(std::span(three).first(2), UpsertMode::kUpsert), IsOk());
  EXPECT_THAT(table->Upsert(std::span(three).first(2), UpsertMode::kUpsert), IsOk());
}

}  // namespace
}  // namespace vectable
