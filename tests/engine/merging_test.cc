// Segments merged in the background, and what is found of them after a restart.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/common/test_seed.h"
#include "tests/support/database_fixture.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kDimensions = 8;

class MergingTest : public testing::Test {
 protected:
  MergingTest() {
    fixture_.index_options.directory = folder_.path() + "/index";
    fixture_.index_options.graph_rows = 500;
    fixture_.Reopen();
    table_ = fixture_.MakeTable("t", kDimensions);
  }

  static std::string Word(uint64_t i) { return absl::StrCat("w", i); }
  std::vector<float> RandomVector() {
    std::normal_distribution<float> normal;
    std::vector<float> vector(kDimensions);
    for (float& value : vector) value = normal(random_);
    return vector;
  }
  void Put(uint64_t begin, uint64_t end) {
    std::vector<std::string> words;
    std::vector<std::vector<float>> vectors;
    for (uint64_t i = begin; i < end; ++i) {
      words.push_back(Word(i));
      vectors.push_back(RandomVector());
    }
    std::vector<RowInput> rows;
    for (size_t i = 0; i < words.size(); ++i) rows.push_back({words[i], vectors[i], std::nullopt});
    ASSERT_THAT(table_->Upsert(rows, UpsertMode::kUpsert), IsOk());
    for (size_t i = 0; i < words.size(); ++i) model_[words[i]] = vectors[i];
  }
  void Delete(uint64_t i) {
    const std::string word = Word(i);
    ASSERT_THAT(table_->Delete(std::vector<std::string_view>{word}), IsOk());
    model_.erase(word);
  }

  void Optimize() {
    ASSERT_THAT(table_->Optimize(), IsOk());
    while (table_->optimizing()) absl::SleepFor(absl::Milliseconds(5));
  }
  void Reopen() {
    table_.reset();
    fixture_.Close();
    fixture_.Open();
    table_ = fixture_.table("t");
    while (!table_->searchable()) absl::SleepFor(absl::Milliseconds(1));
  }

  // Every row is found, by an exact search and, nearly always, by a walk, with its own vector.
  void Check() {
    ASSERT_EQ(table_->Describe().rows, model_.size());
    size_t seen = 0;
    size_t walked = 0;
    size_t asked = 0;
    for (const auto& [word, vector] : model_) {
      if (++seen % 7 != 0) continue;
      ++asked;
      const QueryTarget target = std::span<const float>(vector);
      SearchOptions options;
      options.k = 3;
      options.exact = true;
      const auto exact = table_->Nearest({&target, 1}, options);
      ASSERT_THAT(exact, IsOk());
      ASSERT_EQ(exact->queries[0].hits.size(), std::min<size_t>(3, model_.size()));
      ASSERT_EQ(exact->queries[0].hits[0].word, word);
      ASSERT_TRUE(exact->exact);
      options.exact = false;
      const auto found = table_->Nearest({&target, 1}, options);
      ASSERT_THAT(found, IsOk());
      ASSERT_EQ(found->queries[0].hits.size(), std::min<size_t>(3, model_.size()));
      walked += found->queries[0].hits[0].word == word ? 1 : 0;
    }
    ASSERT_GE(walked * 100, asked * 95);
    for (const uint64_t gone : {uint64_t{3}, uint64_t{999'999}}) {
      if (model_.contains(Word(gone))) continue;
      const std::string word = Word(gone);
      const QueryTarget target = std::string_view(word);
      const auto found = table_->Nearest({&target, 1}, SearchOptions());
      ASSERT_THAT(found, IsOk());
      ASSERT_THAT(found->queries[0].status, StatusIs(absl::StatusCode::kNotFound, "no word"));
    }
  }

  size_t Graphs() const {
    size_t graphs = 0;
    for (const SegmentDescription& segment : table_->Segments()) graphs += segment.graph ? 1 : 0;
    return graphs;
  }
  std::string TableFolder() const { return folder_.path() + "/index/t1"; }
  std::vector<fs::path> SegmentFiles() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(TableFolder())) {
      if (entry.path().extension() == ".segment") files.push_back(entry.path());
    }
    return files;
  }
  bool Reported(std::string_view text) {
    for (const std::string& line : fixture_.events().lines()) {
      if (line.find(text) != std::string::npos) return true;
    }
    return false;
  }
  // Changes one byte of a file.
  static void Flip(const fs::path& path, uint64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(file.get() ^ 0x40);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
    ASSERT_TRUE(file.good());
  }

  TempDir folder_;
  DatabaseFixture fixture_;
  std::shared_ptr<Table> table_;
  std::map<std::string, std::vector<float>> model_;
  std::mt19937_64 random_{TestSeed()};
};

TEST_F(MergingTest, OptimizeMakesOneSegmentWithAGraph) {
  Put(0, 1500);
  Put(200, 400);  // replaced
  Delete(3);
  Optimize();
  const std::vector<SegmentDescription> segments = table_->Segments();
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments[0].rows, 1499U);
  EXPECT_EQ(segments[0].dead_rows, 0U);
  EXPECT_TRUE(segments[0].sealed);
  EXPECT_TRUE(segments[0].graph);
  EXPECT_FALSE(segments[0].recall.empty());
  Check();
  EXPECT_EQ(SegmentFiles().size(), 1U);
}

TEST_F(MergingTest, RowsThatChangeAfterAMergeAreRightAtOnceAndAfterAReopen) {
  Put(0, 1200);
  Optimize();
  Put(100, 160);
  Put(1200, 1300);
  Delete(3);
  Delete(1250);
  Check();
  Reopen();
  EXPECT_EQ(Graphs(), 1U);
  EXPECT_FALSE(Reported("made anew"));
  Check();
  Optimize();
  Check();
  Reopen();
  Check();
  EXPECT_EQ(table_->Segments().size(), 1U);
}

TEST_F(MergingTest, RandomChangesMergesAndReopensMatchTheModel) {
  uint64_t next = 0;
  for (int round = 0; round < 12; ++round) {
    const uint64_t more = 1 + random_() % 700;
    Put(next, next + more);
    next += more;
    for (int i = 0; i < 20; ++i) {
      const uint64_t from = random_() % next;
      if (random_() % 2 == 0) {
        Put(from, std::min(next, from + 10));
      } else {
        Delete(from);
      }
    }
    if (random_() % 2 == 0) Optimize();
    if (random_() % 3 == 0) Reopen();
    ASSERT_NO_FATAL_FAILURE(Check());
  }
  EXPECT_FALSE(Reported("made anew"));
}

TEST_F(MergingTest, WritesGoOnWhileSegmentsMerge) {
  Put(0, 2000);
  for (int round = 0; round < 5; ++round) {
    ASSERT_THAT(table_->Optimize(), IsOk());
    uint64_t i = 0;
    while (table_->optimizing()) {
      Put(i, i + 3);
      Delete(i + 1000);
      Put(i + 1000, i + 1001);
      i = (i + 7) % 900;
    }
    ASSERT_NO_FATAL_FAILURE(Check());
  }
  Reopen();
  Check();
}

// The log holds what the first manifest doesn't cover.
TEST_F(MergingTest, WhatIsWrittenDuringTheFirstMergeIsTakenInAtTheStart) {
  Put(0, 2000);
  ASSERT_THAT(table_->Optimize(), IsOk());
  // Less than half of the rows: where most of a segment is dead, its rest may be merged into one
  // too small for a graph.
  for (uint64_t i = 0; i < 1000 && table_->optimizing(); i += 7) {
    Put(i, i + 3);
    Delete(i + 50);
  }
  while (table_->optimizing()) absl::SleepFor(absl::Milliseconds(5));
  Reopen();
  EXPECT_FALSE(Reported("made anew"));
  EXPECT_GE(Graphs(), 1U);
  Check();
}

TEST_F(MergingTest, ATableIsSearchableAgainWhateverBecameOfItsFiles) {
  Put(0, 1500);
  Optimize();
  Put(1500, 1600);
  const auto damage = [&](const std::function<void()>& how, const std::string& reported) {
    SCOPED_TRACE(reported);
    table_.reset();
    fixture_.Close();
    how();
    fixture_.Open();
    table_ = fixture_.table("t");
    while (!table_->searchable()) absl::SleepFor(absl::Milliseconds(1));
    ASSERT_NO_FATAL_FAILURE(Check());
    EXPECT_TRUE(Reported(reported));
    Optimize();
    ASSERT_NO_FATAL_FAILURE(Check());
  };
  damage([&] { fs::remove(SegmentFiles().front()); }, "No such file");
  damage([&] { fs::remove_all(TableFolder()); }, "searchable after");
  damage([&] { Flip(TableFolder() + "/MANIFEST", 20); }, "the index manifest is damaged");
  damage([&] { Flip(SegmentFiles().front(), 30); }, "the header of the segment file is damaged");
  damage([&] { fs::resize_file(SegmentFiles().front(), 10'000); }, "its header says");
  damage([&] { Flip(SegmentFiles().front(), 4096 + 1500 * kDimensions * 4 + 4096); }, "is damaged");
}

TEST_F(MergingTest, DamagedRowsAreFoundByTheCheckAndMadeAnew) {
  Put(0, 1500);
  Optimize();
  table_.reset();
  fixture_.Close();
  Flip(SegmentFiles().front(), 4096 + 777);  // in the rows, which aren't read at the start
  fixture_.Open();
  table_ = fixture_.table("t");
  while (!Reported("its index is damaged and made anew")) absl::SleepFor(absl::Milliseconds(1));
  while (!table_->searchable()) absl::SleepFor(absl::Milliseconds(1));
  Check();
}

TEST_F(MergingTest, NoAnswerComesFromDamagedRows) {
  Put(0, 1500);
  Optimize();
  table_.reset();
  fixture_.Close();
  for (size_t row = 0; row < 1500; row += 7) {
    Flip(SegmentFiles().front(), 4096 + row * kDimensions * 4 + 3);  // a sign or an exponent
  }
  fixture_.Open();
  table_ = fixture_.table("t");
  // From the first moment on: right, or an error that says to try again.
  const absl::Time until = absl::Now() + absl::Seconds(60);
  while (absl::Now() < until) {
    const QueryTarget target = std::span<const float>(model_.begin()->second);
    SearchOptions options;
    options.exact = true;
    const auto answer = table_->Nearest({&target, 1}, options);
    if (answer.ok()) {
      EXPECT_EQ(answer->queries[0].hits[0].word, model_.begin()->first);
      break;
    }
    ASSERT_THAT(answer, StatusIs(absl::StatusCode::kUnavailable, "its index is damaged"));
    absl::SleepFor(absl::Milliseconds(1));
  }
  ASSERT_NO_FATAL_FAILURE(Check());
  while (!Reported("its index is damaged and made anew")) absl::SleepFor(absl::Milliseconds(1));
  Check();
}

TEST_F(MergingTest, AnIndexAheadOfItsStoreIsMadeAnew) {
  Put(0, 1200);
  TempDir copy;
  table_.reset();
  fixture_.Close();
  fs::copy(fixture_.directory(), copy.path() + "/store", fs::copy_options::recursive);
  const auto before = model_;
  fixture_.Open();
  table_ = fixture_.table("t");
  Put(0, 1300);
  Optimize();
  table_.reset();
  fixture_.Close();
  fs::remove_all(fixture_.directory());
  fs::copy(copy.path() + "/store", fixture_.directory(), fs::copy_options::recursive);
  model_ = before;
  fixture_.Open();
  table_ = fixture_.table("t");
  while (!table_->searchable()) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_TRUE(Reported("it goes up to mutation"));
  Check();
}

TEST_F(MergingTest, ADroppedTableTakesItsIndexWithIt) {
  Put(0, 1200);
  Optimize();
  ASSERT_TRUE(fs::exists(TableFolder()));
  ASSERT_THAT(fixture_.db().DropTable("t"), IsOk());
  table_.reset();
  fixture_.Close();  // whoever looked at it has let go
  EXPECT_FALSE(fs::exists(TableFolder()));
}

TEST_F(MergingTest, WhatNoTableUsesIsRemovedAtTheStart) {
  table_.reset();
  fixture_.Close();
  const std::string other = folder_.path() + "/index/t77";
  fs::create_directories(other);
  fixture_.Open();
  EXPECT_FALSE(fs::exists(other));
}

TEST_F(MergingTest, TheRecallAskedForIsChecked) {
  Put(0, 10);
  const QueryTarget target = std::string_view("w1");
  for (const double recall : {0.0, -1.0, 1.1, std::nan("")}) {
    SearchOptions options;
    options.recall = recall;
    EXPECT_THAT(table_->Nearest({&target, 1}, options),
                StatusIs(absl::StatusCode::kInvalidArgument, "it must be over 0, up to 1"));
  }
}

}  // namespace
}  // namespace vectable
