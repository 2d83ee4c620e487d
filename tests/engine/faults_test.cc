// Failures below: the store's, and searches and writes while a table loads.

#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/engine/faulty_store.h"
#include "tests/support/database_fixture.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

using absl::StatusCode;

class FaultsTest : public testing::Test {
 protected:
  FaultsTest() {
    fixture_.wrap_store = [this](std::unique_ptr<Store> store) -> std::unique_ptr<Store> {
      return std::make_unique<FaultyStore>(std::move(store), faults_);
    };
    fixture_.Reopen();
    table_ = fixture_.MakeTable("t", 2);
  }
  absl::Status Put(const std::string& word, const std::vector<float>& vector) {
    const RowInput row = {word, vector, std::nullopt};
    return table_->Upsert({&row, 1}, UpsertMode::kUpsert).status();
  }
  absl::Status Delete(const std::string& word) {
    return table_->Delete(std::vector<std::string_view>{word}).status();
  }
  absl::StatusOr<SearchOutcome> Nearest(const std::string& word, absl::Duration patience) {
    SearchOptions options;
    options.deadline = absl::Now() + patience;
    const QueryTarget target = std::string_view(word);
    return table_->Nearest({&target, 1}, options);
  }

  FaultyStore::Faults faults_;
  DatabaseFixture fixture_;
  std::shared_ptr<Table> table_;
};

TEST_F(FaultsTest, AFailedWriteChangesNothing) {
  ASSERT_THAT(Put("a", {1, 0}), IsOk());
  faults_.fail_writes = true;
  EXPECT_THAT(Put("b", {1, 1}), StatusIs(StatusCode::kInternal, "table 't': injected fault"));
  EXPECT_THAT(Delete("a"), StatusIs(StatusCode::kInternal, "injected"));
  EXPECT_THAT(fixture_.db().DropTable("t"), StatusIs(StatusCode::kInternal, "injected"));
  EXPECT_THAT(fixture_.db().RenameTable("t", "u", false),
              StatusIs(StatusCode::kInternal, "injected"));
  EXPECT_THAT(fixture_.db().CreateTable({"u", 2, Precision::kFp32, Metric::kCosine, {}}),
              StatusIs(StatusCode::kInternal, "injected"));
  faults_.fail_writes = false;
  EXPECT_EQ(table_->Describe().rows, 1U);
  EXPECT_EQ(table_->Describe().next_row_id, 1U);
  ASSERT_THAT(Put("c", {1, 1}), IsOk());
  const auto found = Nearest("a", absl::Seconds(10));
  ASSERT_THAT(found, IsOk());
  ASSERT_EQ(found->queries[0].hits.size(), 1U);
  EXPECT_EQ(found->queries[0].hits[0].word, "c");
  EXPECT_EQ(found->queries[0].hits[0].row_id, 1U);
}

TEST_F(FaultsTest, AnIndexThatCanNotBeLoadedIsNotOptimizedForEver) {
  ASSERT_THAT(Put("a", {1, 0}), IsOk());
  table_.reset();
  fixture_.Close();
  faults_.fail_scans = true;
  fixture_.Open();
  table_ = fixture_.table("t");
  EXPECT_THAT(Nearest("a", absl::Seconds(30)), StatusIs(StatusCode::kInternal, "injected"));
  EXPECT_THAT(table_->Optimize(), StatusIs(StatusCode::kInternal, "injected"));
  EXPECT_FALSE(table_->optimizing());
}

TEST_F(FaultsTest, StoredIsSaidOfWhatStandsAndOnlyOfThat) {
  const auto commit = [this](const std::string& word, int& stored) {
    const std::vector<float> vector = {1, 1};
    const RowInput row = {word, vector, std::nullopt};
    absl::StatusOr<PreparedUpsert> prepared =
        table_->PrepareUpsert({&row, 1}, UpsertMode::kUpsert, /*skip_bad=*/false);
    EXPECT_THAT(prepared, IsOk());
    return table_->CommitUpsert(*std::move(prepared), [&stored, &word, this] {
      ++stored;
      const auto got = table_->Get(std::vector<std::string_view>{word});
      EXPECT_TRUE(got.ok() && got->rows.size() == 1);
    });
  };
  int stored = 0;
  EXPECT_THAT(commit("a", stored), IsOk());
  EXPECT_EQ(stored, 1);
  faults_.fail_writes = true;
  EXPECT_THAT(commit("b", stored), StatusIs(StatusCode::kInternal, "injected fault"));
  EXPECT_EQ(stored, 1);
  faults_.fail_writes = false;
  EXPECT_THAT(commit("b", stored), IsOk());
  EXPECT_EQ(stored, 2);
  const auto found = Nearest("b", absl::Seconds(10));
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->queries[0].hits.size(), 1U);
}

// Holds the loading of rows until it is let go.
class LoadingTest : public FaultsTest {
 protected:
  void ReopenHeld() {
    for (int i = 0; i < 20; ++i) {
      ASSERT_THAT(Put(absl::StrCat("w", i), {1, static_cast<float>(i)}), IsOk());
    }
    table_.reset();
    fixture_.Close();
    faults_.before_each_row = [this] {
      absl::MutexLock lock(&mu_);
      held_ = true;
      mu_.Await(absl::Condition(&go_on_));
    };
    fixture_.Open();
    table_ = fixture_.table("t");
    // What the tests do next is meant to come while the rows are being read.
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(&held_));
  }
  void LetGo() {
    absl::MutexLock lock(&mu_);
    go_on_ = true;
  }
  ~LoadingTest() override { LetGo(); }

  absl::Mutex mu_;
  bool held_ ABSL_GUARDED_BY(mu_) = false;
  bool go_on_ ABSL_GUARDED_BY(mu_) = false;
};

TEST_F(LoadingTest, EverythingButSearchWorksAtOnceAndWritesAreTakenIn) {
  ReopenHeld();
  EXPECT_FALSE(table_->searchable());
  EXPECT_EQ(table_->Describe().rows, 20U);
  EXPECT_THAT(
      Nearest("w1", absl::Milliseconds(30)),
      StatusIs(StatusCode::kUnavailable, "table 't': still loading: 0 of 20 rows are indexed"));
  EXPECT_THAT(Put("new", {5, 5}), IsOk());
  EXPECT_THAT(Put("w3", {0, 9}), IsOk());
  EXPECT_THAT(Delete("w0"), IsOk());
  EXPECT_THAT(Delete("w1"), IsOk());
  EXPECT_THAT(Put("w1", {7, 7}), IsOk());
  EXPECT_THAT(table_->Get(std::vector<std::string_view>{"new"}), IsOk());
  EXPECT_THAT(table_->Similarity(std::string_view("new"), std::string_view("w3")), IsOk());
  std::thread release([this] { LetGo(); });
  const auto found = Nearest("w1", absl::Seconds(30));
  release.join();
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->queries[0].hits[0].word, "new");  // the new direction of w1
  EXPECT_EQ(table_->Describe().indexed_rows, 20U);
  EXPECT_THAT(Nearest("w0", absl::Seconds(10))->queries[0].status,
              StatusIs(StatusCode::kNotFound, "'w0'"));
}

TEST_F(LoadingTest, ClosingEndsTheLoading) {
  ReopenHeld();
  LetGo();
  table_.reset();
  fixture_.Close();
}

TEST_F(LoadingTest, ADroppedTableStopsLoading) {
  ReopenHeld();
  ASSERT_THAT(fixture_.db().DropTable("t"), IsOk());
  LetGo();
  table_.reset();
  fixture_.Close();
  for (const std::string& line : fixture_.events().lines())
    EXPECT_FALSE(line.starts_with("error")) << line;
}

TEST_F(LoadingTest, RowsThatVanishWhileADropGoesOnAreNoError) {
  faults_.after_drop = [this] {
    // The loader meets the missing rows, and has time to say so, before the drop has ended.
    LetGo();
    absl::SleepFor(absl::Milliseconds(200));
  };
  ReopenHeld();
  ASSERT_THAT(Put("new", {5, 5}), IsOk());  // to be read from the log
  ASSERT_THAT(fixture_.db().DropTable("t"), IsOk());
  table_.reset();
  fixture_.Close();
  for (const std::string& line : fixture_.events().lines())
    EXPECT_FALSE(line.starts_with("error")) << line;
}

}  // namespace
}  // namespace vectable
