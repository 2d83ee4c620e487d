#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "absl/time/clock.h"
#include "tests/e2e/row_vectors.h"
#include "tests/e2e/server_process.h"

namespace vectable {
namespace {

constexpr uint32_t kDimensions = 16;
constexpr uint64_t kBatchRows = 50;

std::string Word(uint64_t row) { return "w" + std::to_string(row); }

std::vector<float> VectorOf(uint64_t row) { return VectorOfRow(row, kDimensions); }

// Streams rows from `first` on until the server goes away; gives how many were acknowledged.
uint64_t StreamUntilKilled(ServerProcess& server, uint64_t first, uint64_t kill_after) {
  const auto uploader = server.client().Upload({.table = "t", .max_batch_rows = kBatchRows});
  EXPECT_TRUE(uploader.ok()) << uploader.status();
  std::atomic<bool> killed = false;
  std::thread killer([&] {
    const absl::Time deadline = absl::Now() + absl::Seconds(60);
    while ((*uploader)->counts().inserted < kill_after && absl::Now() < deadline) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    server.Kill();
    killed = true;
  });
  absl::Status status;
  for (uint64_t row = first; status.ok(); ++row)
    status = (*uploader)->Add(Word(row), VectorOf(row));
  killer.join();
  EXPECT_TRUE(killed);
  EXPECT_FALSE((*uploader)->Finish().ok());
  return (*uploader)->counts().inserted;
}

void CheckRows(Client& client, uint64_t rows) {
  std::vector<std::string> words;
  for (uint64_t row = 0; row < rows; ++row) words.push_back(Word(row));
  const auto got = client.Get("t", words);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->missing_words_size(), 0) << got->missing_words(0);
  for (uint64_t row = 0; row < rows; ++row) {
    const auto& values = got->rows(static_cast<int>(row)).vector().values();
    ASSERT_EQ(std::vector<float>(values.begin(), values.end()), VectorOf(row));
  }
}

void CheckNearest(Client& client, uint64_t rows) {
  v1::NearestRequest request;
  request.set_table("t");
  request.set_k(1);
  std::vector<uint64_t> asked;
  for (uint64_t row = 0; row < rows; row += std::max<uint64_t>(1, rows / 300)) {
    const std::vector<float> vector = VectorOf(row);
    request.add_queries()->mutable_vector()->mutable_values()->Add(vector.begin(), vector.end());
    asked.push_back(row);
  }
  const auto reply = client.Nearest(request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  for (size_t i = 0; i < asked.size(); ++i) {
    const v1::QueryResult& result = reply->results(static_cast<int>(i));
    ASSERT_EQ(result.hits_size(), 1) << result.error();
    EXPECT_EQ(result.hits(0).word(), Word(asked[i]));
    EXPECT_GE(result.hits(0).score(), 0.999999);
    EXPECT_LE(result.hits(0).score(), 1.0);
  }
}

TEST(CrashTest, WhatWasAcknowledgedIsThereAfterKill9) {
  ServerProcess server;
  v1::CreateTableRequest create;
  create.set_name("t");
  create.set_dimensions(kDimensions);
  ASSERT_TRUE(server.client().CreateTable(create).ok());
  uint64_t rows = 0;
  for (const uint64_t kill_after : {1u, 3'000u, 20'000u}) {
    const uint64_t acknowledged = rows + StreamUntilKilled(server, rows, kill_after);
    server.Start();
    rows = server.RowCount("t");
    EXPECT_GE(rows, acknowledged);
    EXPECT_EQ(rows % kBatchRows, 0u);  // a batch is there whole or not at all
    uint64_t listed = 0;
    v1::ScanRequest scan;
    scan.set_table("t");
    ASSERT_TRUE(server.client()
                    .Scan(scan,
                          [&](const v1::Row& row) {
                            EXPECT_EQ(row.row_id(), listed++);
                            return absl::OkStatus();
                          })
                    .ok());
    EXPECT_EQ(listed, rows);
    CheckRows(server.client(), rows);
    CheckNearest(server.client(), rows);
    const auto report = server.client().ReportTable("t");
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->parameters(), rows * kDimensions);
  }
  server.Stop();
  server.Start();
  EXPECT_EQ(server.RowCount("t"), rows);
  CheckNearest(server.client(), rows);
}

// An import that the user ends: what was acknowledged is said and is there.
TEST(CrashTest, AnInterruptedImportSaysWhatWasAcknowledged) {
  ServerProcess server;
  const TempDir directory;
  const std::string pipe = directory.path() + "/rows";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto import = Process::Start(
      {ProgramPath("vectable"), "--server", server.address(), "import", pipe, "--table", "t"});
  std::FILE* rows = std::fopen(pipe.c_str(), "w");
  ASSERT_NE(rows, nullptr);
  for (int i = 0; i < 100'000; ++i) std::fprintf(rows, "w%d 1 %d\n", i, i);
  std::fflush(rows);
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  while (absl::Now() < deadline) {
    const auto table = server.client().GetTable("t");
    if (table.ok() && table->rows() >= 50'000) break;
    absl::SleepFor(absl::Milliseconds(5));
  }
  import->Signal(SIGINT);
  EXPECT_EQ(import->Wait(), 130) << import->err();
  std::fclose(rows);
  const uint64_t count = server.RowCount("t");
  EXPECT_GE(count, 50'000u);
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  EXPECT_THAT(import->err(),
              ::testing::HasSubstr("interrupted; " + text + " rows were acknowledged"));
}

}  // namespace
}  // namespace vectable
