// A recorded sequence of mutations, carried as bytes, makes an equal table of an empty one.

#include <random>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/database_fixture.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

using absl::StatusCode;

std::vector<RowValue> AllRows(const Table& table) {
  std::vector<RowValue> rows;
  const auto scan = table.Scan(RowIdRange{}, /*include_vectors=*/true);
  EXPECT_THAT(scan, IsOk());
  while (scan.ok()) {
    auto next = (*scan)->Next();
    EXPECT_THAT(next, IsOk());
    if (!next.ok() || !next->has_value()) break;
    rows.push_back(**std::move(next));
  }
  return rows;
}

void ExpectEqualTables(const Table& a, const Table& b) {
  const std::vector<RowValue> left = AllRows(a);
  const std::vector<RowValue> right = AllRows(b);
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i].row_id, right[i].row_id);
    EXPECT_EQ(left[i].word, right[i].word);
    EXPECT_EQ(left[i].vector, right[i].vector);
  }
  EXPECT_EQ(a.Describe().rows, b.Describe().rows);
  EXPECT_EQ(a.Describe().next_row_id, b.Describe().next_row_id);
  EXPECT_EQ(a.Describe().applied_sequence, b.Describe().applied_sequence);
}

void WriteAtRandom(Table& table, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int step = 0; step < 400; ++step) {
    const std::vector<float> vector = {static_cast<float>(random() % 1000) + 1, 2, -0.0F};
    std::vector<std::string> words;
    for (size_t i = 0; i <= random() % 4; ++i)
      words.push_back(absl::StrCat("w", i, "_", random() % 40));
    std::vector<RowInput> rows;
    for (const std::string& word : words) rows.push_back({word, vector, std::nullopt});
    if (random() % 5 == 0) rows[0].row_id = random() % 2000;
    // Some of these are refused, wholly or in part: a refused mutation leaves no trace.
    if (random() % 3 == 0) {
      (void)table.Delete(std::vector<std::string_view>(words.begin(), words.end()));
    } else if (random() % 6 == 0) {
      (void)table.Delete(std::vector<uint64_t>{random() % 60, random() % 60});
    } else if (random() % 2 == 0) {
      (void)table.UpsertSkippingBad(rows, static_cast<UpsertMode>(1 + random() % 3));
    } else {
      (void)table.Upsert(rows, static_cast<UpsertMode>(1 + random() % 3));
    }
  }
}

TEST(ReplayTest, RecordedMutationsMakeAnEqualTable) {
  constexpr uint64_t kSeed = 7;
  std::vector<std::pair<uint64_t, std::string>> log;
  DatabaseFixture first;
  first.on_mutation = [&log](const std::string& name, uint64_t sequence, const Mutation& mutation) {
    EXPECT_EQ(name, "t");
    log.emplace_back(sequence, EncodeMutation(mutation));
  };
  first.Reopen();
  const std::shared_ptr<Table> source = first.MakeTable("t", 3);
  WriteAtRandom(*source, kSeed);
  ASSERT_GT(log.size(), 100U) << "seed " << kSeed;

  DatabaseFixture second;
  std::shared_ptr<Table> copy = second.MakeTable("t", 3);
  for (size_t i = 0; i < log.size(); ++i) {
    EXPECT_EQ(log[i].first, i + 1);
    const auto mutation = DecodeMutation(log[i].second);
    ASSERT_THAT(mutation, IsOk());
    ASSERT_THAT(copy->Apply(log[i].first, *mutation), IsOk());
    // Once more does nothing.
    ASSERT_THAT(copy->Apply(log[i].first, *mutation), IsOk());
    if (i == log.size() / 2) {
      copy.reset();
      second.Reopen();
      copy = second.table("t");
    }
  }
  ExpectEqualTables(*source, *copy);
}

TEST(ReplayTest, RefusesAGap) {
  DatabaseFixture fixture;
  const std::shared_ptr<Table> table = fixture.MakeTable("t", 1);
  Mutation mutation;
  mutation.words = {"a"};
  mutation.codes = std::string("\0\0\x80\x3f", 4);
  EXPECT_THAT(table->Apply(2, mutation),
              StatusIs(StatusCode::kFailedPrecondition, "mutation 2 can't follow mutation 0"));
  EXPECT_THAT(table->Apply(0, mutation), StatusIs(StatusCode::kInvalidArgument, "begin at 1"));
  EXPECT_THAT(table->Apply(1, mutation), IsOk());
  EXPECT_EQ(table->Describe().rows, 1U);
}

}  // namespace
}  // namespace vectable
