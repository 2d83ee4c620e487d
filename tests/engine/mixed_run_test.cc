// Writers, a deleter, searchers, a reader and optimize at once on several tables of one database,
// which is closed and opened again between the rounds; then everything is compared with a model.
//
// VECTABLE_MIXED_RUN_SECONDS says how long it goes on (it finishes the round under way); without it
// a few seconds, or a little longer under the thread sanitizer. VECTABLE_TEST_SEED chooses the
// seed; threads make runs differ all the same.
//
//   VECTABLE_MIXED_RUN_SECONDS=1200 build/release/bin/tests/mixed_run_test

#include <atomic>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/common/test_seed.h"
#include "tests/engine/mixed_owner.h"
#include "tests/engine/mixed_readers.h"
#include "tests/engine/mixed_rows.h"
#include "tests/support/database_fixture.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr size_t kWordsPerOwner = 700;  // a graph takes seconds
constexpr absl::Duration kUsualLength = absl::Seconds(20);
#else
constexpr size_t kWordsPerOwner = 3000;
constexpr absl::Duration kUsualLength = absl::Seconds(6);
#endif
constexpr size_t kWriters = 2;  // the owners before the deleter
constexpr size_t kDeleter = kWriters;
constexpr size_t kOwners = kWriters + 1;
constexpr size_t kSearchers = 2;
constexpr size_t kGraphRows = 500;

absl::Duration RunLength() {
  const char* asked = std::getenv("VECTABLE_MIXED_RUN_SECONDS");
  if (asked == nullptr) return kUsualLength;
  double seconds = 0;
  EXPECT_TRUE(absl::SimpleAtod(asked, &seconds)) << "VECTABLE_MIXED_RUN_SECONDS=" << asked;
  return absl::Seconds(seconds);
}

// What happens between a round and the next.
enum class RoundEnd {
  kRestartWhileOptimizing,
  kOptimize,
  kRestartAfterWrites,
  kDropATable,
  kGoOn,
  kRestart,
  kRestartUnchecked,  // the next round begins while the tables load
};
constexpr size_t kRoundEnds = 7;

class MixedRunTest : public testing::Test {
 protected:
  MixedRunTest() {
    fixture_.index_options.directory = folder_.path() + "/index";
    fixture_.index_options.graph_rows = kGraphRows;
    fixture_.index_options.build_threads = 2;
    fixture_.Reopen();
    AddTable({"cosine", 24, Precision::kFp32, Metric::kCosine, {}});
    AddTable({"dot", 16, Precision::kFp16, Metric::kDot, {}});
    AddTable({"euclidean", 11, Precision::kInt8, Metric::kEuclidean, {}});
  }

  void AddTable(const TableSpec& spec) {
    tables_.push_back(std::make_unique<MixedTable>(spec, kOwners, kWordsPerOwner, dice_));
    Make(*tables_.back());
  }
  // Makes the table, with rows enough for a graph.
  void Make(MixedTable& table) {
    ASSERT_THAT(fixture_.db().CreateTable(table.spec), IsOk());
    table.table = fixture_.table(table.spec.name);
    table.rows.assign(table.pool.size(), std::nullopt);
    WriteSome(table, 3, kWordsPerOwner / 2);
  }
  void WriteSome(MixedTable& table, int batches, size_t most) {
    for (int i = 0; i < batches; ++i) {
      for (size_t owner = 0; owner < kOwners; ++owner) {
        RowOwner(table, owner, dice_).Write(most);
      }
    }
  }

  void Close() {
    for (const auto& table : tables_) table->table.reset();
    fixture_.Close();
  }
  void Open() {
    fixture_.Open();
    ASSERT_FALSE(HasFatalFailure());
    for (const auto& table : tables_) table->table = fixture_.table(table->spec.name);
    ++restarts_;
  }

  // The concurrent part.

  // Takes a step again and again, each time on a table chosen anew, until the round is over.
  using Step = std::function<void(MixedTable&, Dice&)>;
  void Start(const std::string& role, Step step) {
    const uint64_t seed = seed_ + 1000 * ++started_;
    threads_.emplace_back([this, role, seed, step = std::move(step), where = Where()] {
      Dice dice(seed);
      while (!stop_.load(std::memory_order_relaxed)) {
        MixedTable& table = *dice.Pick(tables_);
        SCOPED_TRACE(absl::StrCat(where, ", ", role, ", table '", table.spec.name, "'"));
        step(table, dice);
      }
    });
  }

  void RunThreads(absl::Duration length) {
    stop_ = false;
    for (const auto& table : tables_) table->SetSteady(kWriters);
    for (size_t owner = 0; owner < kWriters; ++owner) {
      Start(absl::StrCat("writer ", owner), [owner](MixedTable& table, Dice& dice) {
        RowOwner(table, owner, dice).Write(dice.OneIn(20) ? 400 : dice.OneIn(3) ? 60 : 6);
      });
    }
    Start("deleter", [](MixedTable& table, Dice& dice) {
      RowOwner owner(table, kDeleter, dice);
      if (dice.OneIn(2)) {
        owner.Write(40);
      } else {
        owner.Delete(dice.OneIn(20) ? 2 * kWordsPerOwner : 60);
      }
    });
    for (size_t i = 0; i < kSearchers; ++i) {
      threads_.emplace_back([this, i, seed = seed_ + 1000 * ++started_, where = Where()] {
        Dice dice(seed);
        MixedSearcher searcher(dice);
        while (!stop_.load(std::memory_order_relaxed)) {
          const MixedTable& table = *dice.Pick(tables_);
          SCOPED_TRACE(absl::StrCat(where, ", searcher ", i, ", table '", table.spec.name, "'"));
          searcher.Search(table);
        }
        answers_ += searcher.answers();
        walked_ += searcher.walked();
      });
    }
    Start("reader", [](MixedTable& table, Dice& dice) { MixedReader(dice).Read(table); });
    Start("keeper", [this](MixedTable& table, Dice& dice) { Keep(table, dice); });
    const absl::Time end = absl::Now() + length;
    while (absl::Now() < end && !HasFailure()) absl::SleepFor(absl::Milliseconds(10));
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  // Optimizes, looks at the whole, and makes and drops a table beside the others.
  void Keep(MixedTable& table, Dice& dice) {
    for (size_t i = dice.Below(30); i > 0 && !stop_; --i) absl::SleepFor(absl::Milliseconds(10));
    switch (dice.Below(4)) {
      case 0: {
        const auto report = table.table->Report();
        ASSERT_THAT(report, IsOk());
        ASSERT_GE(report->state.table.rows, table.steady.size());
        return;
      }
      case 1: {
        const TableSpec spec = {"beside", 4, Precision::kFp32, Metric::kDot, {}};
        ASSERT_THAT(fixture_.db().CreateTable(spec), IsOk());
        const std::shared_ptr<Table> beside = fixture_.table("beside");
        const std::vector<float> vector = dice.Vector(4);
        const std::vector<RowInput> rows = {{"one", vector, std::nullopt}};
        ASSERT_THAT(beside->Upsert(rows, UpsertMode::kInsertOnly), IsOk());
        if (dice.OneIn(2)) {
          ASSERT_THAT(beside->Optimize(), IsOk());
        }
        ASSERT_THAT(fixture_.db().RenameTable("beside", "renamed", false), IsOk());
        const auto dropped = fixture_.db().DropTable("renamed");
        ASSERT_THAT(dropped, IsOk());
        ASSERT_EQ(dropped->rows, 1U);
        ASSERT_EQ(beside->Upsert(rows, UpsertMode::kUpsert).status().code(),
                  absl::StatusCode::kNotFound);
        return;
      }
      default:
        ASSERT_THAT(table.table->Optimize(), IsOk());
    }
  }

  // The comparison.

  void CompareAll() {
    for (const auto& table : tables_) {
      SCOPED_TRACE(absl::StrCat(Where(), ", table '", table->spec.name, "'"));
      ASSERT_NO_FATAL_FAILURE(CompareRows(*table));
      ASSERT_NO_FATAL_FAILURE(CompareExactSearches(*table));
      ASSERT_NO_FATAL_FAILURE(CompareWalks(*table));
    }
    for (const std::string& line : fixture_.events().lines()) {
      ASSERT_FALSE(absl::StartsWith(line, "error:") || absl::StrContains(line, "made anew"))
          << line;
    }
  }

  static void CompareRows(const MixedTable& table) {
    ASSERT_EQ(table.table->Describe().rows, table.RowCount());
    std::vector<std::pair<std::string, size_t>> by_word;
    std::vector<std::pair<uint64_t, size_t>> by_id;
    for (size_t number = 0; number < table.rows.size(); ++number) {
      if (!table.rows[number]) continue;
      by_word.emplace_back(table.pool.Word(number), number);
      by_id.emplace_back(table.rows[number]->row_id, number);
    }
    std::sort(by_word.begin(), by_word.end());
    std::sort(by_id.begin(), by_id.end());
    ASSERT_NO_FATAL_FAILURE(CompareScan(table, WordPrefix{}, by_word));
    ASSERT_NO_FATAL_FAILURE(CompareScan(table, RowIdRange{}, by_id));
  }
  template <typename Key>
  static void CompareScan(const MixedTable& table, const ScanRange& range,
                          const std::vector<std::pair<Key, size_t>>& expected) {
    const auto scan = table.table->Scan(range, /*include_vectors=*/true);
    ASSERT_THAT(scan, IsOk());
    for (const auto& [key, number] : expected) {
      SCOPED_TRACE(absl::StrCat("word '", table.pool.Word(number), "'"));
      const auto next = (*scan)->Next();
      ASSERT_THAT(next, IsOk());
      ASSERT_TRUE(next->has_value());
      const MixedTable::Row& row = *table.rows[number];
      ASSERT_EQ((*next)->word, table.pool.Word(number));
      ASSERT_EQ((*next)->row_id, row.row_id);
      ASSERT_EQ((*next)->vector, table.pool.Of(number, row.version).stored);
    }
    const auto end = (*scan)->Next();
    ASSERT_THAT(end, IsOk());
    ASSERT_FALSE(end->has_value()) << (*end)->word;
  }

  void CompareExactSearches(const MixedTable& table) {
    for (int i = 0; i < 12; ++i) {
      SearchOptions options;
      options.k = static_cast<uint32_t>(1 + dice_.Below(50));
      options.exact = true;
      std::vector<float> query = dice_.Vector(table.spec.dimensions);
      QueryTarget target = std::span<const float>(query);
      std::vector<size_t> skipped;
      const size_t number = dice_.Below(table.pool.size());
      if (table.rows[number] && dice_.OneIn(2)) {
        query = table.pool.Of(number, table.rows[number]->version).stored;
        target = dice_.OneIn(2) ? QueryTarget(std::string_view(table.pool.Word(number)))
                                : QueryTarget(table.rows[number]->row_id);
        skipped.push_back(number);
      }
      if (dice_.OneIn(4)) options.first_n = dice_.Below(table.table->Describe().next_row_id + 1);
      if (dice_.OneIn(4)) {
        options.min_score = table.pool.ScoreOf(query, table.pool.Of(number, 0));
      }
      if (dice_.OneIn(3)) {
        SearchOptions nearest;
        nearest.k = 3;
        for (const MixedTable::Near& near : table.Nearest(query, nearest, {})) {
          options.exclude_words.emplace_back(table.pool.Word(near.number));
          skipped.push_back(near.number);
        }
      }
      const auto found = table.table->Nearest({&target, 1}, options);
      ASSERT_THAT(found, IsOk());
      ASSERT_THAT(found->queries[0].status, IsOk());
      ASSERT_NO_FATAL_FAILURE(
          CompareHits(table, found->queries[0].hits, table.Nearest(query, options, skipped)));
    }
  }
  static void CompareHits(const MixedTable& table, const std::vector<SearchHit>& hits,
                          const std::vector<MixedTable::Near>& expected) {
    ASSERT_EQ(hits.size(), expected.size());
    for (size_t i = 0; i < hits.size(); ++i) {
      SCOPED_TRACE(absl::StrCat("hit ", i, " of ", hits.size()));
      ASSERT_EQ(hits[i].word, table.pool.Word(expected[i].number));
      ASSERT_EQ(hits[i].row_id, expected[i].row_id);
      ASSERT_EQ(hits[i].score, expected[i].score);
    }
  }

  void CompareWalks(const MixedTable& table) {
    size_t right = 0;
    size_t asked = 0;
    for (int i = 0; i < 20; ++i) {
      SearchOptions options;
      options.recall = 0.95;
      const std::vector<float> query = dice_.Vector(table.spec.dimensions);
      const QueryTarget target = std::span<const float>(query);
      const auto found = table.table->Nearest({&target, 1}, options);
      ASSERT_THAT(found, IsOk());
      const std::vector<MixedTable::Near> expected = table.Nearest(query, options, {});
      const std::vector<SearchHit>& hits = found->queries[0].hits;
      ASSERT_EQ(hits.size(), expected.size());
      asked += expected.size();
      right += static_cast<size_t>(std::count_if(hits.begin(), hits.end(), [&](const auto& hit) {
        return hit.score >= expected.back().score;
      }));
      compared_walks_ += found->exact ? 0 : 1;
    }
    ASSERT_GE(right * 10, asked * 8) << right << " of " << asked;
  }

  // The end of a round.

  void OptimizeAll() {
    for (const auto& table : tables_) ASSERT_THAT(table->table->Optimize(), IsOk());
    for (const auto& table : tables_) {
      while (table->table->optimizing()) absl::SleepFor(absl::Milliseconds(5));
      size_t graphs = 0;
      const std::vector<SegmentDescription> segments = table->table->Segments();
      for (const SegmentDescription& segment : segments) graphs += segment.graph ? 1 : 0;
      ASSERT_EQ(graphs, table->RowCount() >= kGraphRows ? 1U : 0U)
          << Where() << ", table '" << table->spec.name << "'";
    }
  }

  void End(RoundEnd end) {
    switch (end) {
      case RoundEnd::kGoOn:
        return;
      case RoundEnd::kOptimize:
        ASSERT_NO_FATAL_FAILURE(OptimizeAll());
        break;
      case RoundEnd::kRestartWhileOptimizing:
        for (const auto& table : tables_) ASSERT_THAT(table->table->Optimize(), IsOk());
        absl::SleepFor(absl::Milliseconds(dice_.Below(200)));
        Close();
        Open();
        break;
      case RoundEnd::kRestartAfterWrites:
        for (const auto& table : tables_) WriteSome(*table, 4, 300);
        [[fallthrough]];
      case RoundEnd::kRestart:
        Close();
        Open();
        break;
      case RoundEnd::kDropATable: {
        MixedTable& table = *dice_.Pick(tables_);
        if (dice_.OneIn(2)) {
          ASSERT_THAT(table.table->Optimize(), IsOk());
        }
        const auto dropped = fixture_.db().DropTable(table.spec.name);
        ASSERT_THAT(dropped, IsOk());
        ASSERT_EQ(dropped->rows, table.RowCount());
        Make(table);
        break;
      }
      case RoundEnd::kRestartUnchecked:
        Close();
        Open();
        return;
    }
    ASSERT_NO_FATAL_FAILURE(CompareAll());
  }

  std::string Where() const { return absl::StrCat("seed ", seed_, ", round ", round_); }

  const uint64_t seed_ = TestSeed();
  Dice dice_{seed_};  // of the test's own thread
  TempDir folder_;
  DatabaseFixture fixture_;
  std::vector<std::unique_ptr<MixedTable>> tables_;
  size_t round_ = 0;
  std::vector<std::thread> threads_;
  uint64_t started_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> answers_{0};
  std::atomic<uint64_t> walked_{0};
  uint64_t compared_walks_ = 0;
  uint64_t restarts_ = 0;
};

TEST_F(MixedRunTest, TablesAgreeWithTheModelAfterEachRound) {
  const absl::Time end = absl::Now() + RunLength();
  ASSERT_FALSE(HasFailure());
  for (; round_ == 0 || absl::Now() < end; ++round_) {
    SCOPED_TRACE(Where());
    const absl::Duration length = absl::Milliseconds(300 + dice_.Below(1200));
    RunThreads(length);
    ASSERT_FALSE(HasFailure());
    ASSERT_NO_FATAL_FAILURE(CompareAll());
    ASSERT_NO_FATAL_FAILURE(End(static_cast<RoundEnd>(round_ % kRoundEnds)));
    for (const auto& table : tables_) {
      for (size_t owner = 0; owner < kWriters; ++owner) RowOwner(*table, owner, dice_).Trim();
    }
    ASSERT_FALSE(HasFailure());
  }
  OptimizeAll();
  CompareAll();
  std::cout << round_ << " rounds, " << restarts_ << " restarts, " << answers_
            << " answers under way (" << walked_ << " walked), " << compared_walks_
            << " walks compared\n";
  for (const auto& table : tables_) {
    std::cout << table->spec.name << ": " << table->RowCount() << " rows after "
              << table->table->Describe().applied_sequence << " mutations\n";
  }
}

}  // namespace
}  // namespace vectable
