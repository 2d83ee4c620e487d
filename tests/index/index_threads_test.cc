// One writer beside readers; also the test for the thread sanitizer.
#include <atomic>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "index/faiss_backend.h"
#include "index/segment_builder.h"
#include "index/table_index.h"
#include "tests/common/test_seed.h"
#include "tests/index/index_model.h"

namespace vectable {
namespace {

constexpr size_t kDimensions = 4;
constexpr uint64_t kStable = 2000;   // words that are replaced, never deleted; ids 0 and up
constexpr uint64_t kPassing = 1000;  // words that come and go
constexpr uint64_t kBatch = 500;     // changes from one publication to the next
constexpr uint64_t kPublications = 700;
constexpr uint64_t kMergedPublications = 200;
constexpr size_t kReaders = 4;
constexpr size_t kTop = 10;

std::string StableWord(uint64_t i) { return absl::StrCat("stable", i); }
std::string PassingWord(uint64_t i) { return absl::StrCat("passing", i); }

class IndexThreadsTest : public testing::TestWithParam<Metric> {
 protected:
  void Write(uint64_t seed, uint64_t publications) {
    std::mt19937_64 random(seed);
    for (uint64_t sequence = 2; sequence <= publications; ++sequence) {
      absl::MutexLock lock(&writer_mu_);
      // The first two rows are always replaced together.
      for (const uint64_t i : {0, 1}) Put(i, StableWord(i), sequence);
      for (uint64_t i = 0; i < kBatch; ++i) {
        const uint64_t row_id = 2 + random() % (kStable - 2);
        Put(row_id, StableWord(row_id), sequence);
      }
      // The oldest passing word goes and comes back with a new id.
      index_.Erase(oldest_passing_);
      Put(oldest_passing_ + kPassing, PassingWord(oldest_passing_ % kPassing), sequence);
      ++oldest_passing_;
      index_.Publish(sequence);
    }
  }

  // At least once, then until the writer is done.
  void Merge() {
    while (merges_ == 0 || !done_) {
      std::optional<MergePlan> plan;
      {
        absl::MutexLock lock(&writer_mu_);
        plan = index_.PlanMerge({.everything = true});
      }
      if (!plan) continue;
      std::vector<SegmentSource> sources;
      for (const IndexSnapshot::Part& part : plan->sources) {
        sources.push_back({part.segment, part.slots});
      }
      SegmentBuildOptions options;
      options.graph_rows = 1000;
      options.graph.degree = 8;
      options.graph.width = 20;
      const auto merged = BuildSegment(GetParam(), {Precision::kFp32, kDimensions}, sources,
                                       plan->version, options);
      ASSERT_TRUE(merged.ok()) << merged.status();
      absl::MutexLock lock(&writer_mu_);
      index_.InstallMerged(*plan, *merged);
      ++merges_;
    }
  }

  void Fill() {
    for (uint64_t i = 0; i < kStable; ++i) Put(i, StableWord(i), 1);
    oldest_passing_ = kStable;
    for (uint64_t i = 0; i < kPassing; ++i) {
      Put(kStable + i, PassingWord((kStable + i) % kPassing), 1);
    }
    index_.Publish(1);
  }

  // A row's vector tells its id and when it was put.
  void Put(uint64_t row_id, const std::string& word, uint64_t sequence) {
    index_.Put(row_id, word,
               Fp32Codes({static_cast<float>(row_id + 1), static_cast<float>(sequence),
                          static_cast<float>(row_id % 7) - 3, 1}));
  }

  static float ValueOf(const IndexedRow& row, size_t i) {
    return VectorOf({Precision::kFp32, kDimensions}, row.codes)[i];
  }

  void Read(uint64_t seed) {
    std::mt19937_64 random(seed);
    uint64_t last_sequence = 0;
    for (uint64_t round = 0; !done_ || round < 3; ++round) {
      const auto snapshot = index_.snapshot();
      ASSERT_GE(snapshot->sequence(), last_sequence);
      last_sequence = snapshot->sequence();
      ASSERT_EQ(snapshot->live_rows(), kStable + kPassing);
      ASSERT_NO_FATAL_FAILURE(CheckFinds(*snapshot, random));
      ASSERT_NO_FATAL_FAILURE(CheckSearch(*snapshot, random));
      if (round % 16 == 0) {
        ASSERT_NO_FATAL_FAILURE(CheckAllRows(*snapshot));
      }
    }
  }

  static void CheckFinds(const IndexSnapshot& snapshot, std::mt19937_64& random) {
    for (int i = 0; i < 20; ++i) {
      const uint64_t row_id = random() % kStable;
      const auto by_word = snapshot.FindWord(StableWord(row_id));
      const auto by_id = snapshot.FindRowId(row_id);
      ASSERT_TRUE(by_word);
      ASSERT_TRUE(by_id);
      ASSERT_EQ(by_word->codes, by_id->codes);
      ASSERT_EQ(by_word->row_id, row_id);
      ASSERT_EQ(ValueOf(*by_word, 0), static_cast<float>(row_id + 1));
      ASSERT_LE(ValueOf(*by_word, 1), static_cast<float>(snapshot.sequence()));
    }
    // All of a publication or nothing of it.
    for (const uint64_t i : {0, 1}) {
      ASSERT_EQ(ValueOf(*snapshot.FindRowId(i), 1), static_cast<float>(snapshot.sequence()));
    }
    ASSERT_TRUE(snapshot.FindWord(PassingWord(random() % kPassing)));
    ASSERT_FALSE(snapshot.FindWord("unknown"));
  }

  static void CheckSearch(const IndexSnapshot& snapshot, std::mt19937_64& random) {
    const std::vector<float> vector = {static_cast<float>(random() % kStable), 1, 2, 3};
    IndexSearchOptions options;
    options.k = kTop;
    if (random() % 2 == 0) options.recall = 0.5;
    const auto results = snapshot.Search(std::vector<IndexQuery>{{vector, {0, 1}}}, options);
    ASSERT_TRUE(results.ok());
    const std::vector<IndexHit>& hits = results->front().hits;
    ASSERT_EQ(hits.size(), kTop);
    ASSERT_EQ(results->front().rows_searched, kStable + kPassing - 2);
    for (size_t i = 0; i < kTop; ++i) {
      ASSERT_GT(hits[i].row.row_id, 1U);
      ASSERT_EQ(ValueOf(hits[i].row, 0), static_cast<float>(hits[i].row.row_id + 1));
      if (i > 0) {
        ASSERT_LE(hits[i].score, hits[i - 1].score);
      }
    }
  }

  static void CheckAllRows(const IndexSnapshot& snapshot) {
    std::vector<int> seen(kStable, 0);
    uint64_t passing = 0;
    snapshot.ForEachRow([&](const IndexedRow& row) {
      if (row.row_id < kStable) {
        ++seen[row.row_id];
      } else {
        ++passing;
      }
      return true;
    });
    ASSERT_EQ(seen, std::vector<int>(kStable, 1));
    ASSERT_EQ(passing, kPassing);
  }

  const std::unique_ptr<BatchBackend> backend_ = MakeFaissBackend();
  TableIndex index_{GetParam(), {Precision::kFp32, kDimensions}, *backend_};
  absl::Mutex writer_mu_;  // taken in turns by the writer and the merging thread
  uint64_t oldest_passing_ = 0;
  uint64_t merges_ = 0;  // the merging thread's
  std::atomic<bool> done_{false};
};

// A thread merges all that there is, over and over; the writer and it take turns with the index.
TEST_P(IndexThreadsTest, ReadersSeeWholePublicationsWhileSegmentsAreMerged) {
  const uint64_t seed = TestSeed();
  Fill();
  std::thread merger([this] { Merge(); });
  std::vector<std::thread> readers;
  for (size_t i = 0; i < kReaders; ++i) readers.emplace_back([this, seed, i] { Read(seed + i); });
  Write(seed + kReaders, kMergedPublications);
  done_ = true;
  for (std::thread& reader : readers) reader.join();
  merger.join();
  EXPECT_EQ(index_.snapshot()->sequence(), kMergedPublications);
  EXPECT_GT(merges_, 0U);
}

// 350,000 changes fill more than two segments, so that rows are moved meanwhile.
TEST_P(IndexThreadsTest, ReadersSeeWholePublications) {
  const uint64_t seed = TestSeed();
  Fill();
  std::vector<std::thread> readers;
  for (size_t i = 0; i < kReaders; ++i) readers.emplace_back([this, seed, i] { Read(seed + i); });
  Write(seed + kReaders, kPublications);
  done_ = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(index_.snapshot()->sequence(), kPublications);
}

INSTANTIATE_TEST_SUITE_P(Metrics, IndexThreadsTest,
                         testing::Values(Metric::kCosine, Metric::kEuclidean),
                         [](const auto& test) { return std::string(MetricName(test.param)); });

}  // namespace
}  // namespace vectable
