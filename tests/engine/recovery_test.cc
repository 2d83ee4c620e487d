// A disk that fails now and then, below everything: each call gives an error or a right answer, and
// when the disk is well again the database goes on by itself with all that was acknowledged.
// VECTABLE_FAULT_ROUNDS and VECTABLE_FAULT_SEED choose how often and which.
#include <map>
#include <random>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/support/database_fixture.h"
#include "tests/support/fault_env.h"
#include "tests/support/from_environment.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

using absl::StatusCode;

constexpr uint32_t kDimensions = 16;
constexpr absl::Duration kPatience = absl::Seconds(60);

using Rows = std::map<std::string, std::vector<float>>;

RocksStoreOptions SmallStore(FaultEnv& env) {
  RocksStoreOptions options;
  options.env = &env;
  options.memtable_bytes = size_t{256} << 10;  // so that table files are written all the time
  options.block_cache_bytes = size_t{64} << 10;
  return options;
}

// What a failing disk may say.
bool IsTrouble(const absl::Status& status) {
  return absl::IsInternal(status) || absl::IsResourceExhausted(status) ||
         absl::IsUnavailable(status) || absl::IsDataLoss(status);
}

class RecoveryTest : public testing::Test {
 protected:
  RecoveryTest() : random_(seed_), fixture_(SmallStore(env_)) {
    fixture_.MakeTable("t", kDimensions);
    fixture_.MakeTable("probe", 1);
  }
  ~RecoveryTest() override { env_.set_fault(Fault::kNone); }

  size_t Below(size_t limit) { return random_() % limit; }
  std::string AnyWord() { return absl::StrCat("w", Below(3'000)); }
  std::vector<float> AnyVector() {
    std::uniform_real_distribution<float> value(-1, 1);
    std::vector<float> vector(kDimensions);
    for (float& component : vector) component = value(random_);
    return vector;
  }

  static absl::Status Put(Table& table, const Rows& rows) {
    std::vector<RowInput> inputs;
    for (const auto& [word, vector] : rows) inputs.push_back({word, vector, std::nullopt});
    return table.Upsert(inputs, UpsertMode::kUpsert).status();
  }

  // One write, tried on the table and, where it was acknowledged, on what is known. What wasn't may
  // be there all the same.
  absl::Status WriteOnce() {
    Rows after = known_;
    absl::Status status;
    if (Below(4) == 0 && !known_.empty()) {
      std::set<std::string> words;
      for (size_t i = 1 + Below(20); i > 0; --i) words.insert(AnyWord());
      const std::vector<std::string_view> keys(words.begin(), words.end());
      for (const std::string& word : words) after.erase(word);
      status = table().Delete(keys).status();
    } else {
      Rows rows;
      for (size_t i = 1 + Below(60); i > 0; --i) rows[AnyWord()] = AnyVector();
      for (const auto& [word, vector] : rows) after[word] = vector;
      status = Put(table(), rows);
    }
    if (status.ok()) {
      known_ = std::move(after);
    } else {
      maybe_.push_back(std::move(after));
    }
    return status;
  }

  // Reads some rows and searches: each answer is right or an error.
  void ReadSome() {
    for (int i = 0; i < 10; ++i) {
      const std::string word = AnyWord();
      const auto got = table().Get(std::vector<std::string_view>{word});
      if (!got.ok()) {
        EXPECT_TRUE(IsTrouble(got.status())) << got.status();
        continue;
      }
      const auto expected = known_.find(word);
      ASSERT_EQ(got->rows.size(), expected == known_.end() ? 0U : 1U) << word;
      if (!got->rows.empty()) {
        ASSERT_EQ(got->rows[0].vector, expected->second) << word;
      }
    }
    if (known_.empty()) return;
    const auto row = std::next(known_.begin(), static_cast<long>(Below(known_.size())));
    const QueryTarget target = std::span<const float>(row->second);
    SearchOptions options;
    options.k = 1;
    options.exact = true;
    options.deadline = absl::Now() + absl::Seconds(20);
    const auto answer = table().Nearest({&target, 1}, options);
    if (!answer.ok()) {
      EXPECT_TRUE(IsTrouble(answer.status())) << answer.status();
      return;
    }
    ASSERT_EQ(answer->queries[0].hits.size(), 1U);
    EXPECT_EQ(answer->queries[0].hits[0].word, row->first);
  }

  absl::StatusOr<Rows> ReadAll() {
    const auto scan = table().Scan(RowIdRange{}, /*include_vectors=*/true);
    if (!scan.ok()) return scan.status();
    Rows rows;
    while (true) {
      const auto row = (*scan)->Next();
      if (!row.ok()) return row.status();
      if (!row->has_value()) return rows;
      rows[(*row)->word] = (*row)->vector;
    }
  }

  // Waits until the database takes writes again.
  void AwaitRecovery() {
    const absl::Time end = absl::Now() + kPatience;
    absl::Status status;
    do {
      const std::shared_ptr<Table> probe = fixture_.table("probe");
      status = Put(*probe, {{"probe", {1}}});
      if (!status.ok()) absl::SleepFor(absl::Milliseconds(20));
    } while (!status.ok() && absl::Now() < end);
    ASSERT_THAT(status, IsOk());
  }

  // The table holds what was acknowledged, and of what wasn't the last write that was tried, whole,
  // or nothing: after the first failure no other reaches the disk.
  void CheckAll() {
    const absl::StatusOr<Rows> found = ReadAll();
    ASSERT_THAT(found, IsOk());
    bool accepted = *found == known_;
    for (const Rows& maybe : maybe_) accepted = accepted || *found == maybe;
    ASSERT_TRUE(accepted) << found->size() << " rows are there, " << known_.size()
                          << " were acknowledged, with " << maybe_.size() << " failed writes";
    known_ = *found;
    maybe_.clear();
    ASSERT_EQ(table().Describe().rows, known_.size());
  }

  Table& table() {
    table_ = fixture_.table("t");
    return *table_;
  }

  const uint64_t seed_ = FromEnvironment("VECTABLE_FAULT_SEED", 1);
  std::mt19937_64 random_;
  FaultEnv env_;
  DatabaseFixture fixture_;
  std::shared_ptr<Table> table_;
  Rows known_;
  std::vector<Rows> maybe_;
};

TEST_F(RecoveryTest, AnyFaultIsSaidAndGoneByItself) {
  const uint64_t rounds = FromEnvironment("VECTABLE_FAULT_ROUNDS", 15);
  constexpr Fault kFaults[] = {Fault::kAppend, Fault::kTornAppend, Fault::kSync, Fault::kDiskFull,
                               Fault::kRead};
  constexpr FaultyFiles kFiles[] = {FaultyFiles::kLogs, FaultyFiles::kTables, FaultyFiles::kAll};
  int failed_writes = 0;
  for (uint64_t round = 0; round < rounds; ++round) {
    const Fault fault = kFaults[Below(std::size(kFaults))];
    const FaultyFiles files = kFiles[Below(std::size(kFiles))];
    SCOPED_TRACE(absl::StrCat("round ", round, " of seed ", seed_, ": fault ",
                              static_cast<int>(fault), " of files ", static_cast<int>(files)));
    for (size_t i = Below(40); i > 0; --i) ASSERT_THAT(WriteOnce(), IsOk());
    env_.set_fault(fault, files);
    for (size_t i = 0; i < 60 && maybe_.empty(); ++i) {
      const absl::Status status = WriteOnce();
      if (!status.ok()) {
        ++failed_writes;
        EXPECT_TRUE(IsTrouble(status)) << status;
      }
      ReadSome();
      if (HasFatalFailure()) return;
    }
    absl::SleepFor(absl::Milliseconds(Below(4) == 0 ? 300 : 0));
    ReadSome();
    env_.set_fault(Fault::kNone);
    AwaitRecovery();
    if (HasFatalFailure()) return;
    CheckAll();
    if (HasFatalFailure()) return;
    ReadSome();
    if (Below(8) == 0) {
      table_.reset();
      fixture_.Reopen();
      CheckAll();
    }
    if (HasFailure()) return;
  }
  std::printf("%llu rounds, %d files' calls failed, %d writes failed, %zu rows\n",
              static_cast<unsigned long long>(rounds), env_.failures(), failed_writes,
              known_.size());
  EXPECT_GT(env_.failures(), 0);
  EXPECT_GT(failed_writes, 0);
}

TEST_F(RecoveryTest, ACatalogueChangeThatFailedIsThereWholeOrNotAtAll) {
  const auto spec = [](const std::string& name) {
    return TableSpec{name, 2, Precision::kFp32, Metric::kCosine, {}};
  };
  for (const Fault fault : {Fault::kAppend, Fault::kTornAppend, Fault::kSync, Fault::kDiskFull}) {
    for (int step = 0; step < 3; ++step) {
      SCOPED_TRACE(absl::StrCat("fault ", static_cast<int>(fault), ", step ", step));
      const std::string name = absl::StrCat("a", static_cast<int>(fault), step);
      const std::string other = "other" + name;
      if (step > 0) {
        ASSERT_THAT(fixture_.db().CreateTable(spec(name)), IsOk());
        ASSERT_THAT(Put(*fixture_.table(name), {{"w", {1, 0}}}), IsOk());
      }
      env_.set_fault(fault, FaultyFiles::kLogs);
      const absl::Status status = step == 0 ? fixture_.db().CreateTable(spec(name)).status()
                                  : step == 1
                                      ? fixture_.db().RenameTable(name, other, false).status()
                                      : fixture_.db().DropTable(name).status();
      EXPECT_TRUE(IsTrouble(status)) << status;
      env_.set_fault(Fault::kNone);
      AwaitRecovery();
      std::set<std::string> names;
      for (const TableDescription& table : fixture_.db().ListTables())
        names.insert(table.spec.name);
      const bool before = names.contains(name);
      const bool after = names.contains(other);
      if (step == 1) {
        EXPECT_NE(before, after);
      }
      // What is there works, and is the same after an open.
      for (const std::string& there : {name, other}) {
        if (!names.contains(there)) continue;
        EXPECT_THAT(Put(*fixture_.table(there), {{"x", {0, 1}}}), IsOk());
        EXPECT_EQ(fixture_.table(there)->Describe().rows, step == 0 ? 1U : 2U);
      }
      fixture_.Reopen();
      std::set<std::string> again;
      for (const TableDescription& table : fixture_.db().ListTables())
        again.insert(table.spec.name);
      EXPECT_EQ(again, names);
    }
  }
}

// A scan that is open while the store is opened again ends with an error, not with half the rows.
TEST_F(RecoveryTest, AnOpenScanEndsWithAnError) {
  for (int i = 0; i < 200; ++i) ASSERT_THAT(WriteOnce(), IsOk());
  const auto scan = table().Scan(RowIdRange{}, /*include_vectors=*/true);
  ASSERT_THAT(scan, IsOk());
  for (int i = 0; i < 10; ++i) ASSERT_THAT((*scan)->Next(), IsOk());
  env_.set_fault(Fault::kSync);
  EXPECT_FALSE(WriteOnce().ok());
  env_.set_fault(Fault::kNone);
  AwaitRecovery();
  EXPECT_THAT((*scan)->Next(), StatusIs(StatusCode::kUnavailable, "begin the scan anew"));
  CheckAll();
}

TEST_F(RecoveryTest, WritersAndReadersOnSeveralThreadsGoOn) {
  std::atomic<bool> stop = false;
  std::atomic<int> acknowledged = 0;
  std::vector<std::thread> threads;
  std::vector<std::set<std::string>> written(3);
  for (size_t t = 0; t < written.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; !stop; ++i) {
        const std::string word = absl::StrCat("thread", t, "-", i);
        const auto table = fixture_.table("t");
        if (Put(*table, {{word, std::vector<float>(kDimensions, 1)}}).ok()) {
          written[t].insert(word);
          ++acknowledged;
        }
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      const absl::StatusOr<Rows> rows = ReadAll();
      EXPECT_TRUE(rows.ok() || IsTrouble(rows.status())) << rows.status();
    }
  });
  for (int i = 0; i < 10; ++i) {
    const int before = acknowledged;
    while (acknowledged < before + 50) absl::SleepFor(absl::Milliseconds(1));
    env_.set_fault(i % 2 == 0 ? Fault::kSync : Fault::kDiskFull, FaultyFiles::kAll);
    absl::SleepFor(absl::Milliseconds(20));
    env_.set_fault(Fault::kNone);
    AwaitRecovery();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const absl::StatusOr<Rows> rows = ReadAll();
  ASSERT_THAT(rows, IsOk());
  for (const std::set<std::string>& words : written) {
    for (const std::string& word : words) EXPECT_TRUE(rows->contains(word)) << word;
  }
  EXPECT_EQ(fixture_.table("t")->Describe().rows, rows->size());
}

}  // namespace
}  // namespace vectable
