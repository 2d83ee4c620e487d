// A real server on a small disk that is filled: what grows the data is refused, all else goes on,
// and it takes rows again by itself when there is room.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/e2e/row_vectors.h"
#include "tests/e2e/server_process.h"

namespace vectable {
namespace {

constexpr uint32_t kDimensions = 100;

void WriteText(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// A disk of `mib` MiB in a mount namespace of this process's own. Empty: why there can be none.
std::string MountDisk(const std::string& path, int mib) {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWNS) != 0) {
    // Who isn't root may be so in a namespace of users.
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return "no namespace of mounts can be made here";
    WriteText("/proc/self/setgroups", "deny");
    WriteText("/proc/self/uid_map", absl::StrCat("0 ", user, " 1"));
    WriteText("/proc/self/gid_map", absl::StrCat("0 ", group, " 1"));
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", path.c_str(), "tmpfs", 0, absl::StrCat("size=", mib, "m").c_str()) != 0) {
    return "no tmpfs can be mounted here";
  }
  return "";
}

uint64_t FreeBytes(const std::string& path) {
  struct statvfs disk {};
  EXPECT_EQ(statvfs(path.c_str(), &disk), 0);
  return static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
}

// Takes all that is free, also what the server gives back meanwhile.
void FillUp(const std::string& path) {
  const int filler = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const std::string block(4096, 'x');
  for (int full = 0; full < 3;) {
    ++full;
    while (write(filler, block.data(), block.size()) > 0) full = 0;
    absl::SleepFor(absl::Milliseconds(20));
  }
  close(filler);
}

std::vector<float> VectorOf(uint64_t row) { return VectorOfRow(row, kDimensions); }

absl::Status Put(Client& client, const std::string& table, uint64_t first, uint64_t count) {
  v1::UpsertRequest request;
  request.set_table(table);
  for (uint64_t i = first; i < first + count; ++i) {
    AddRow(absl::StrCat("w", i), VectorOf(i), request);
  }
  return client.Upsert(request).status();
}

void Create(Client& client, const std::string& name) {
  v1::CreateTableRequest request;
  request.set_name(name);
  request.set_dimensions(kDimensions);
  ASSERT_TRUE(client.CreateTable(request).ok());
}

// Rows [0, count) but for the first `deleted` are there, and each is its own nearest.
void CheckRows(Client& client, const std::string& table, uint64_t deleted, uint64_t count) {
  std::vector<std::string> words;
  for (uint64_t i = deleted; i < count; ++i) words.push_back(absl::StrCat("w", i));
  const auto got = client.Get(table, words);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->missing_words_size(), 0) << got->missing_words(0);
  for (uint64_t i = deleted; i < count; ++i) {
    const auto& values = got->rows(static_cast<int>(i - deleted)).vector().values();
    ASSERT_EQ(std::vector<float>(values.begin(), values.end()), VectorOf(i)) << i;
  }
  v1::NearestRequest request;
  request.set_table(table);
  request.set_k(1);
  request.set_include_self(true);
  for (uint64_t i = deleted; i < count; i += 1 + count / 20) {
    request.add_queries()->set_word(absl::StrCat("w", i));
  }
  const auto answer = client.Nearest(request);
  ASSERT_TRUE(answer.ok()) << answer.status();
  for (int i = 0; i < request.queries_size(); ++i) {
    ASSERT_EQ(answer->results(i).hits_size(), 1) << answer->results(i).error();
    EXPECT_EQ(answer->results(i).hits(0).word(), request.queries(i).word());
  }
}

TEST(FullDiskTest, GrowthIsRefusedAllElseGoesOnAndNothingIsLost) {
  TempDir folder;
  if (const std::string why = MountDisk(folder.path(), 96); !why.empty()) GTEST_SKIP() << why;
  constexpr uint64_t kBatch = 500;
  uint64_t rows = 0;
  uint64_t deleted = 0;
  {
    ServerProcess server({"--memtable-mb", "8", "--log-level", "warn"}, folder.path() + "/data");
    Create(server.client(), "kept");
    Create(server.client(), "dropped");
    ASSERT_TRUE(Put(server.client(), "dropped", 0, 20'000).ok());

    absl::Status status;
    while ((status = Put(server.client(), "kept", rows, kBatch)).ok() && rows < 500'000) {
      rows += kBatch;
    }
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("is full"));
    EXPECT_GT(rows, 10'000U);
    // Others fill what is left, to the last byte.
    // The server may give some of its own back in between, and take a row then.
    const std::string filler = folder.path() + "/filler";
    FillUp(filler);
    for (int tries = 0; tries < 100; ++tries) {
      status = Put(server.client(), "kept", rows, 1);
      if (!status.ok()) break;
      ++rows;
      FillUp(filler);
    }
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    v1::CreateTableRequest request;
    request.set_name("new");
    request.set_dimensions(1);
    for (int tries = 0; tries < 100; ++tries) {
      status = server.client().CreateTable(request).status();
      if (!status.ok()) break;
      ASSERT_TRUE(server.client().DropTable("new").ok());
      FillUp(filler);
    }
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    CheckRows(server.client(), "kept", 0, rows);

    for (; deleted < 2'000; deleted += 100) {
      std::vector<std::string> words;
      for (uint64_t i = deleted; i < deleted + 100; ++i) words.push_back(absl::StrCat("w", i));
      const auto reply = server.client().Delete("kept", words);
      ASSERT_TRUE(reply.ok()) << reply.status();
      ASSERT_EQ(reply->deleted(), 100U);
    }
    CheckRows(server.client(), "kept", deleted, rows);

    // Others take what was held back, too: started then, it serves what needs no room.
    FillUp(folder.path() + "/filler2");
    server.Kill();
    FillUp(folder.path() + "/filler3");
    server.Start();
    EXPECT_EQ(server.RowCount("kept"), rows - deleted);
    CheckRows(server.client(), "kept", deleted, rows);
    ASSERT_EQ(unlink((folder.path() + "/filler2").c_str()), 0);
    ASSERT_EQ(unlink((folder.path() + "/filler3").c_str()), 0);

    server.Kill();
    server.Start();
    EXPECT_EQ(server.RowCount("kept"), rows - deleted);
    CheckRows(server.client(), "kept", deleted, rows);
    EXPECT_EQ(server.RowCount("dropped"), 20'000U);

    // A drop gives its disk back, and with that rows are taken again.
    const uint64_t before = FreeBytes(folder.path());
    ASSERT_TRUE(server.client().DropTable("dropped").ok());
    // But for what was written for it.
    const uint64_t after = before + 19'000 * kDimensions * sizeof(float);
    for (int tries = 0; tries < 200 && FreeBytes(folder.path()) < after; ++tries) {
      absl::SleepFor(absl::Milliseconds(50));  // a merge may have a file of its own just then
    }
    EXPECT_GE(FreeBytes(folder.path()), after);
    ASSERT_EQ(unlink((folder.path() + "/filler").c_str()), 0);
    const absl::Time end = absl::Now() + absl::Seconds(60);
    do {
      status = Put(server.client(), "kept", rows, 100);
    } while (!status.ok() && absl::Now() < end);
    ASSERT_TRUE(status.ok()) << status;
    rows += 100;
    CheckRows(server.client(), "kept", deleted, rows);
    server.Stop();
    server.Start();
    CheckRows(server.client(), "kept", deleted, rows);
    server.Stop();
  }
}

// The disk is filled by others in the middle of writing, so that the store itself meets the end.
TEST(FullDiskTest, ADiskFilledUnderAWriteIsRecoveredFrom) {
  TempDir folder;
  if (const std::string why = MountDisk(folder.path(), 64); !why.empty()) GTEST_SKIP() << why;
  ServerProcess server({"--memtable-mb", "4", "--reserve-mb", "0", "--log-level", "warn"},
                       folder.path() + "/data");
  Create(server.client(), "t");
  uint64_t rows = 0;
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(Put(server.client(), "t", rows, 2'000).ok());
    rows += 2'000;
    const std::string filler = folder.path() + "/filler";
    const int file = open(filler.c_str(), O_WRONLY | O_CREAT, 0600);
    std::atomic<bool> stop = false;
    std::thread fill([&] {
      const std::string block(64 * 1024, 'x');
      while (!stop) {
        if (write(file, block.data(), block.size()) <= 0) absl::SleepFor(absl::Milliseconds(1));
      }
    });
    absl::Status status;
    const absl::Time end = absl::Now() + absl::Seconds(60);
    while ((status = Put(server.client(), "t", rows, 50)).ok() && absl::Now() < end) rows += 50;
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    // A delete may meet the end, too, as nothing is held back here.
    const auto deleted = server.client().Delete("t", std::vector<std::string>{"nobody"});
    EXPECT_TRUE(deleted.ok() || absl::IsResourceExhausted(deleted.status())) << deleted.status();
    stop = true;
    fill.join();
    close(file);
    ASSERT_EQ(unlink(filler.c_str()), 0);
    // What was refused last may be there: it is written again.
    do {
      status = Put(server.client(), "t", rows, 50);
    } while (!status.ok() && absl::Now() < end);
    ASSERT_TRUE(status.ok()) << status;
    rows += 50;
    EXPECT_EQ(server.RowCount("t"), rows);
    CheckRows(server.client(), "t", 0, rows);
  }
  server.Kill();
  server.Start();
  EXPECT_EQ(server.RowCount("t"), rows);
  CheckRows(server.client(), "t", 0, rows);
  server.Stop();
}

}  // namespace
}  // namespace vectable
