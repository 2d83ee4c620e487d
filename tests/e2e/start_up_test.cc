#include <gmock/gmock.h>
#include <rocksdb/db.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "absl/time/clock.h"
#include "storage/key_format.h"
#include "storage/rocks_store.h"
#include "tests/e2e/server_process.h"

namespace vectable {
namespace {

using ::testing::HasSubstr;

// Starts a server that must refuse to run and gives how it ended.
Outcome Refused(const std::string& data, const std::string& listen) {
  const auto process =
      Process::Start({ProgramPath("vectable-server"), "--data", data, "--listen", listen});
  const std::optional<int> code = process->Wait();
  EXPECT_EQ(process->out(), "");
  return {code.value_or(-1), process->out(), process->err()};
}

// Raises the version in the data directory's catalogue.
void WriteNewerFormat(const std::string& data) {
  rocksdb::Options options;
  std::vector<std::string> names;
  const std::string path = data + "/store";
  ASSERT_TRUE(rocksdb::DB::ListColumnFamilies(options, path, &names).ok());
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, rocksdb::ColumnFamilyOptions());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(options, path, families, &handles, &db);
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  const std::string key(kFormatKey);
  ASSERT_TRUE(db->Put({}, handles[0], key, EncodeU32(kStorageFormatVersion + 1)).ok());
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
  }
  delete db;
}

TEST(StartUpTest, ADataDirectoryInUse) {
  ServerProcess server;
  const Outcome second = Refused(server.data(), "127.0.0.1:0");
  EXPECT_EQ(second.code, 1);
  EXPECT_THAT(second.err, HasSubstr(server.data()));
  EXPECT_THAT(second.err, HasSubstr("in use by another"));
  EXPECT_EQ(server.Run({"info"}).code, 0);
}

TEST(StartUpTest, ADataDirectoryThatCannotBeMade) {
  const TempDir directory;
  const std::string file = directory.path() + "/file";
  std::ofstream(file) << "not a directory";
  const Outcome outcome = Refused(file + "/data", "127.0.0.1:0");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr(file + "/data"));
  EXPECT_EQ(Refused("/proc/vectable", "127.0.0.1:0").code, 1);
}

TEST(StartUpTest, ANewerFormat) {
  ServerProcess server;
  server.RunJson({"table", "create", "toy", "--dim", "2"});
  server.Stop();
  WriteNewerFormat(server.data());
  const Outcome outcome = Refused(server.data(), "127.0.0.1:0");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr(server.data()));
  EXPECT_THAT(outcome.err, HasSubstr("format " + std::to_string(kStorageFormatVersion + 1)));
}

TEST(StartUpTest, APortInUse) {
  ServerProcess server;
  const TempDir directory;
  const Outcome outcome = Refused(directory.path() + "/data", server.address());
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr(server.address()));
}

TEST(StartUpTest, WrongUsage) {
  const auto process = Process::Start({ProgramPath("vectable-server")});
  EXPECT_EQ(process->Wait(), 2);
}

TEST(StartUpTest, AStopAsSoonAsItListensIsAProperOne) {
  const TempDir directory;
  for (int i = 0; i < 10; ++i) {
    const auto process = Process::Start({ProgramPath("vectable-server"), "--data",
                                         directory.path() + "/data", "--listen", "127.0.0.1:0"});
    ASSERT_TRUE(process->FirstLine().has_value());
    process->Signal(i % 2 == 0 ? SIGTERM : SIGINT);
    ASSERT_EQ(process->Wait(), 0) << process->err();
    ASSERT_THAT(process->err(), HasSubstr("stopped"));
  }
}

TEST(StartUpTest, AClientWithNoServer) {
  ServerProcess server;
  const std::string address = server.address();
  server.Stop();
  const absl::Time start = absl::Now();
  const Outcome outcome = RunClient(address, {"table", "list"});
  EXPECT_LT(absl::Now() - start, absl::Seconds(25));  // not the 30 s of an rpc
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("no server answers at " + address));
}

TEST(StartUpTest, AClientWaitsForABusyServer) {
  ServerProcess server;
  server.process().Signal(SIGSTOP);
  std::thread later([&] {
    absl::SleepFor(absl::Milliseconds(1500));  // more than a refused connection is tried again
    server.process().Signal(SIGCONT);
  });
  const Outcome outcome = server.Run({"table", "list"});
  later.join();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST(StartUpTest, AClientWaitsNoLongerThanItsTimeout) {
  ServerProcess server;
  server.process().Signal(SIGSTOP);
  const Outcome outcome = server.Run({"--timeout", "1.5", "table", "list"});
  server.process().Signal(SIGCONT);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("no server answers at " + server.address()));
}

}  // namespace
}  // namespace vectable
