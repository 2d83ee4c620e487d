// Writers and readers at once, and the guarantee that a reader sees whole mutations.

#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/support/database_fixture.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

constexpr int kRounds = 150;
constexpr int kPairs = 20;

// Each writer keeps pairs of words of its own: both words of a pair always get the same vector in
// one mutation.
class PairWriter {
 public:
  PairWriter(Table& table, int number) : table_(table), number_(number) {}

  std::string Word(int pair, int side) const {
    return absl::StrCat("w", number_, "_", pair, "_", side);
  }

  void Write(int round) {
    const int pair = round % kPairs;
    const std::string left = Word(pair, 0);
    const std::string right = Word(pair, 1);
    if (round % 7 == 6) {
      const auto deleted = table_.Delete(std::vector<std::string_view>{left, right});
      ASSERT_THAT(deleted, IsOk());
      ASSERT_NE(deleted->deleted, 1U);
      mutations_ += deleted->deleted > 0 ? 1 : 0;
      return;
    }
    const std::vector<float> vector = {1.0F + static_cast<float>(round % 13),
                                       static_cast<float>(number_ + pair), 1};
    const std::vector<RowInput> rows = {{left, vector, std::nullopt},
                                        {right, vector, std::nullopt}};
    ASSERT_THAT(table_.Upsert(rows, UpsertMode::kUpsert), IsOk());
    ++mutations_;
  }

  uint64_t mutations() const { return mutations_; }

 private:
  Table& table_;
  const int number_;
  uint64_t mutations_ = 0;
};

// Asks for one pair again and again: both sides are there with score 1 to each other, or neither
// is.
void ReadPairs(const Table& table, const PairWriter& writer, const std::atomic<bool>& stop,
               std::atomic<int>& reads) {
  for (int i = 0; !stop; ++i) {
    const std::string left = writer.Word(i % kPairs, 0);
    const std::string right = writer.Word(i % kPairs, 1);
    SearchOptions options;
    options.k = 1000;
    const std::vector<QueryTarget> targets = {std::string_view(left), std::string_view(right)};
    const auto found = table.Nearest(targets, options);
    ASSERT_THAT(found, IsOk());
    ASSERT_EQ(found->queries[0].status.code(), found->queries[1].status.code());
    if (!found->queries[0].status.ok()) continue;
    double score = -1;
    for (const SearchHit& hit : found->queries[0].hits) {
      if (hit.word == right) score = hit.score;
    }
    ASSERT_EQ(score, 1.0) << left;
    const auto got = table.Get(std::vector<std::string_view>{left, right});
    ASSERT_THAT(got, IsOk());
    ASSERT_NE(got->rows.size(), 1U);
    if (got->rows.size() == 2) {
      ASSERT_EQ(got->rows[0].vector, got->rows[1].vector);
    }
    ++reads;
  }
}

TEST(ConcurrencyTest, TwoWritersAndSixReaders) {
  DatabaseFixture fixture;
  std::shared_ptr<Table> table = fixture.MakeTable("t", 3);
  std::vector<PairWriter> writers = {PairWriter(*table, 0), PairWriter(*table, 1)};
  std::atomic<bool> stop{false};
  std::atomic<int> reads{0};
  std::vector<std::thread> readers;
  for (int r = 0; r < 6; ++r) {
    readers.emplace_back([&, r] { ReadPairs(*table, writers[r % 2], stop, reads); });
  }
  std::vector<std::thread> threads;
  for (PairWriter& writer : writers) {
    threads.emplace_back([&writer] {
      for (int round = 0; round < kRounds; ++round) writer.Write(round);
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop = true;
  for (std::thread& reader : readers) reader.join();
  const uint64_t rows = table->Describe().rows;
  EXPECT_EQ(table->Describe().applied_sequence, writers[0].mutations() + writers[1].mutations());
  EXPECT_GT(reads, 0);
  EXPECT_GT(rows, 0U);
  table.reset();
  fixture.Reopen();
  EXPECT_EQ(fixture.table("t")->Describe().rows, rows);
}

TEST(ConcurrencyTest, WritersThatWaitAreCommittedTogetherButStayAtomic) {
  DatabaseFixture fixture;
  const std::shared_ptr<Table> table = fixture.MakeTable("t", 1);
  const std::vector<float> one = {1};
  std::atomic<int> inserted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i) {
        // All race for the same words; exactly one insert of each may win, with its companion.
        const std::string word = absl::StrCat("shared", i);
        const std::string companion = absl::StrCat("own", t, "_", i);
        const std::vector<RowInput> rows = {{companion, one, std::nullopt},
                                            {word, one, std::nullopt}};
        inserted += table->Upsert(rows, UpsertMode::kInsertOnly).ok() ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(inserted, 40);
  EXPECT_EQ(table->Describe().rows, 80U);
  EXPECT_EQ(table->Describe().next_row_id, 80U);
}

TEST(ConcurrencyTest, TablesComeAndGoWhileOthersWork) {
  DatabaseFixture fixture;
  const std::shared_ptr<Table> steady = fixture.MakeTable("steady", 2);
  std::atomic<bool> stop{false};
  std::thread worker([&] {
    const std::vector<float> vector = {1, 1};
    for (int i = 0; !stop; ++i) {
      const std::string word = absl::StrCat("w", i % 10);
      const RowInput row = {word, vector, std::nullopt};
      ASSERT_THAT(steady->Upsert({&row, 1}, UpsertMode::kUpsert), IsOk());
      EXPECT_FALSE(fixture.db().ListTables().empty());
    }
  });
  for (int i = 0; i < 10; ++i) {
    fixture.MakeTable("a", 2);
    ASSERT_THAT(fixture.db().RenameTable("a", "b", true), IsOk());
    if (i % 3 == 0) {
      ASSERT_THAT(fixture.db().DropTable("b"), IsOk());
    }
  }
  stop = true;
  worker.join();
}

}  // namespace
}  // namespace vectable
