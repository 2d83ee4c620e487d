// Writers, deleters, searchers, scans, snapshots, and tables that come and go, all at once on one
// server, for VECTABLE_SOAK_SECONDS: answers are right, and the server's memory and open files
// don't grow with time.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "tests/e2e/row_vectors.h"
#include "tests/e2e/server_process.h"
#include "tests/support/from_environment.h"

namespace vectable {
namespace {

constexpr uint64_t kDefaultSeconds = 12;
constexpr uint32_t kDimensions = 32;
constexpr uint64_t kWords = 30'000;  // the table is as large as it gets soon
constexpr int kSamples = 10;

// What a process has.
struct Usage {
  uint64_t anonymous_bytes = 0;
  uint64_t files = 0;
  uint64_t threads = 0;
};

Usage UsageOf(pid_t pid) {
  Usage usage;
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  std::string word;
  while (status >> word) {
    if (word == "RssAnon:") {
      status >> usage.anonymous_bytes;
      usage.anonymous_bytes *= 1024;
    } else if (word == "Threads:") {
      status >> usage.threads;
    }
  }
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(absl::StrCat("/proc/", pid, "/fd"))) {
    ++usage.files;
  }
  return usage;
}

std::vector<float> VectorOf(uint64_t row) { return VectorOfRow(row, kDimensions); }

class Load {
 public:
  explicit Load(Client& client) : client_(client) {}

  void Start(const std::function<void(std::mt19937_64&)>& work) {
    const uint64_t seed = threads_.size() + 1;
    threads_.emplace_back([this, work, seed] {
      std::mt19937_64 random(seed);
      while (!stop_ && !::testing::Test::HasFailure()) {
        work(random);
        ++done_;
      }
    });
  }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  uint64_t done() const { return done_; }

  void Write(std::mt19937_64& random) const {
    v1::UpsertRequest request;
    request.set_table("t");
    const uint64_t first = random() % kWords;
    for (uint64_t i = 0; i < 1 + random() % 200; ++i) {
      const uint64_t word = (first + i) % kWords;
      AddRow(absl::StrCat("w", word), VectorOf(word), request);
    }
    const auto reply = client_.Upsert(request);
    EXPECT_TRUE(reply.ok()) << reply.status();
  }

  void Delete(std::mt19937_64& random) const {
    std::vector<std::string> words;
    for (uint64_t i = 0; i < 30; ++i) words.push_back(absl::StrCat("w", random() % kWords));
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    const auto reply = client_.Delete("t", words);
    EXPECT_TRUE(reply.ok()) << reply.status();
    absl::SleepFor(absl::Milliseconds(5));
  }

  // Whatever is found has the score of its vector.
  void Search(std::mt19937_64& random) const {
    v1::NearestRequest request;
    request.set_table("t");
    request.set_k(5);
    request.set_include_vectors(true);
    request.set_exact(random() % 8 == 0);
    const std::vector<float> vector = VectorOf(random() % (2 * kWords));
    request.add_queries()->mutable_vector()->mutable_values()->Add(vector.begin(), vector.end());
    const auto reply = client_.Nearest(request);
    if (absl::IsUnavailable(reply.status())) return;  // the table is being made anew
    ASSERT_TRUE(reply.ok()) << reply.status();
    for (const v1::Hit& hit : reply->results(0).hits()) {
      uint64_t word = 0;
      ASSERT_TRUE(absl::SimpleAtoi(hit.word().substr(1), &word)) << hit.word();
      const auto& values = hit.vector().values();
      EXPECT_EQ(std::vector<float>(values.begin(), values.end()), VectorOf(word));
    }
  }

  void Scan(std::mt19937_64& random) const {
    v1::ScanRequest request;
    request.set_table("t");
    request.set_include_vectors(random() % 2 == 0);
    uint64_t rows = 0;
    const absl::Status status = client_.Scan(request, [&](const v1::Row&) {
      ++rows;
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_LE(rows, kWords);
    absl::SleepFor(absl::Milliseconds(100));
  }

  void Snapshot(std::mt19937_64& random) const {
    const std::string name = absl::StrCat("s", random() % 2);
    absl::Status status = client_.CreateSnapshot(name).status();
    EXPECT_TRUE(status.ok()) << status;
    absl::SleepFor(absl::Milliseconds(200));
    status = client_.DeleteSnapshot(name).status();
    EXPECT_TRUE(status.ok()) << status;
  }

  void ComeAndGo(std::mt19937_64& random) const {
    v1::CreateTableRequest request;
    request.set_name("passing");
    request.set_dimensions(1 + static_cast<uint32_t>(random() % 100));
    ASSERT_TRUE(client_.CreateTable(request).ok());
    v1::UpsertRequest row;
    row.set_table("passing");
    AddRow("w", std::vector<float>(request.dimensions(), 1), row);
    EXPECT_TRUE(client_.Upsert(row).ok());
    EXPECT_TRUE(client_.DropTable("passing").ok());
    absl::SleepFor(absl::Milliseconds(300));
  }

  void Report() const {
    EXPECT_TRUE(client_.ReportTable("t").ok());
    EXPECT_TRUE(client_.ListSnapshots().ok());
    absl::SleepFor(absl::Milliseconds(200));
  }

 private:
  Client& client_;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> done_{0};
  std::vector<std::thread> threads_;
};

TEST(SoakTest, MemoryAndFilesStayFlat) {
  const auto seconds =
      static_cast<double>(FromEnvironment("VECTABLE_SOAK_SECONDS", kDefaultSeconds));
  ServerProcess server({"--log-level", "warn", "--max-wal-mb", "16", "--memtable-mb", "8"});
  v1::CreateTableRequest table;
  table.set_name("t");
  table.set_dimensions(kDimensions);
  ASSERT_TRUE(server.client().CreateTable(table).ok());
  Load load(server.client());
  load.Start([&](auto& random) { load.Write(random); });
  load.Start([&](auto& random) { load.Write(random); });
  load.Start([&](auto& random) { load.Delete(random); });
  load.Start([&](auto& random) { load.Search(random); });
  load.Start([&](auto& random) { load.Search(random); });
  load.Start([&](auto& random) { load.Scan(random); });
  load.Start([&](auto& random) { load.Snapshot(random); });
  load.Start([&](auto& random) { load.ComeAndGo(random); });
  load.Start([&](auto&) { load.Report(); });

  // The first third is for growing to what it needs.
  absl::SleepFor(absl::Seconds(seconds / 3));
  std::vector<Usage> samples;
  for (int i = 0; i < kSamples; ++i) {
    absl::SleepFor(absl::Seconds(seconds * 2 / 3 / kSamples));
    samples.push_back(UsageOf(server.process().pid()));
  }
  load.Stop();
  ASSERT_FALSE(::testing::Test::HasFailure());

  Usage early;  // the most of each in the first half of the samples, and in the second
  Usage late;
  for (int i = 0; i < kSamples; ++i) {
    Usage& most = i < kSamples / 2 ? early : late;
    most.anonymous_bytes = std::max(most.anonymous_bytes, samples[i].anonymous_bytes);
    most.files = std::max(most.files, samples[i].files);
    most.threads = std::max(most.threads, samples[i].threads);
  }
  std::printf(
      "%llu calls in %.0f s; memory %.1f then %.1f MB, files %llu then %llu, threads %llu\n",
      static_cast<unsigned long long>(load.done()), seconds,
      static_cast<double>(early.anonymous_bytes) / 1e6,
      static_cast<double>(late.anonymous_bytes) / 1e6, static_cast<unsigned long long>(early.files),
      static_cast<unsigned long long>(late.files), static_cast<unsigned long long>(late.threads));
  EXPECT_LE(late.anonymous_bytes, early.anonymous_bytes + early.anonymous_bytes / 4 + (64 << 20));
  EXPECT_LE(late.files, early.files + early.files / 4 + 16);
  EXPECT_LE(late.threads, early.threads + 8);
  server.Stop();
}

}  // namespace
}  // namespace vectable
