// Snapshots through the programs: made, listed, restored to the same and to a new directory.
#include <gmock/gmock.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "tests/e2e/server_process.h"

namespace vectable {
namespace {

using ::testing::HasSubstr;

TEST(SnapshotProgramsTest, CreateListRestoreDelete) {
  ServerProcess server;
  ASSERT_EQ(server.Run({"table", "create", "pets", "--dim", "2"}).code, 0);
  ASSERT_EQ(server.Run({"put", "pets", "cat", "0", "1"}).code, 0);
  const nlohmann::json made = server.RunJson({"snapshot", "create", "before"});
  EXPECT_EQ(made["name"], "before");
  EXPECT_EQ(made["tables"][0]["name"], "pets");
  EXPECT_EQ(made["tables"][0]["rows"], 1);
  EXPECT_EQ(made["tables"][0]["precision"], "fp32");
  EXPECT_GT(made["bytes"], made["own_bytes"]);

  Outcome outcome = server.Run({"snapshot", "create", "before"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("'before' exists already"));
  outcome = server.Run({"snapshot", "create", "../evil"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("snapshot name '../evil'"));
  EXPECT_EQ(server.Run({"snapshot"}).code, 2);
  EXPECT_EQ(server.Run({"snapshot", "delete"}).code, 2);

  ASSERT_EQ(server.Run({"put", "pets", "dog", "1", "1"}).code, 0);
  outcome = server.Run({"snapshot", "list"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("before"));
  EXPECT_THAT(outcome.out, HasSubstr("UTC"));
  outcome = server.Run({"table", "drop", "pets"});
  EXPECT_THAT(outcome.out, HasSubstr("its disk is given back when"));
  EXPECT_THAT(outcome.out, HasSubstr("before"));
  const std::string snapshot = server.data() + "/snapshots/before";

  server.Stop();
  server.Start({"--restore", "before"});
  EXPECT_EQ(server.RowCount("pets"), 1U);
  EXPECT_THAT(server.process().err(), HasSubstr("snapshot 'before' is restored"));
  ASSERT_EQ(server.Run({"put", "pets", "cow", "1", "0"}).code, 0);
  server.Stop();
  server.Start();
  EXPECT_EQ(server.RowCount("pets"), 2U);  // restored once

  {
    ServerProcess other({"--restore", snapshot});
    EXPECT_EQ(other.RowCount("pets"), 1U);
    EXPECT_EQ(other.RunJson({"snapshot", "list"})["snapshots"].size(), 0U);
    other.Stop();
  }
  const nlohmann::json deleted = server.RunJson({"snapshot", "delete", "before"});
  EXPECT_EQ(deleted["deleted"], "before");
  EXPECT_FALSE(std::filesystem::exists(snapshot));
  outcome = server.Run({"snapshot", "delete", "before"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("no snapshot 'before'"));
  server.Stop();
}

TEST(SnapshotProgramsTest, ARestoreThatCantBeIsSaid) {
  TempDir folder;
  const auto start = [&](const std::string& name) {
    const auto process =
        Process::Start({ProgramPath("vectable-server"), "--data", folder.path() + "/data",
                        "--listen", "127.0.0.1:0", "--restore", name});
    const int code = process->Wait().value_or(-1);
    return std::pair(code, process->err());
  };
  auto [code, text] = start("nothing");
  EXPECT_EQ(code, 1);
  EXPECT_THAT(text, HasSubstr("no snapshot 'nothing'"));
  std::tie(code, text) = start("a b");
  EXPECT_EQ(code, 1);
  EXPECT_THAT(text, HasSubstr("snapshot name 'a b'"));
}

}  // namespace
}  // namespace vectable
