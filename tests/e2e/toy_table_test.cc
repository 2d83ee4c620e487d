#include <gmock/gmock.h>

#include <cctype>

#include "tests/e2e/server_process.h"

namespace vectable {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// The table of the notes, through the programs, before and after a restart.
TEST(ToyTableTest, NumbersOfTheNotes) {
  ServerProcess server;
  server.RunJson({"table", "create", "toy", "--dim", "2", "--dim-names", "Object,Animal"});
  EXPECT_EQ(server.RunJson({"put", "toy", "cat", "Object=0", "Animal=1"}).dump(),
            R"({"inserted":1,"replaced":0,"row_ids":[0]})");
  server.RunJson({"put", "toy", "dog", "Animal=1", "Object=0"});
  server.RunJson({"put", "toy", "table", "1", "0"});
  for (int round = 0; round < 2; ++round) {
    const json size = server.RunJson({"size", "toy"});
    EXPECT_EQ(size["rows"], 3);
    EXPECT_EQ(size["dimensions"], 2);
    EXPECT_EQ(size["parameters"], 6);
    EXPECT_EQ(size["precision"], "fp32");
    EXPECT_EQ(size["nominal_bytes"].dump(), R"({"bf16":12,"fp16":12,"fp32":24,"int4":3,"int8":6})");
    EXPECT_EQ(server.RunJson({"similarity", "toy", "cat", "dog"})["score"], 1.0);
    EXPECT_EQ(server.RunJson({"similarity", "toy", "cat", "table"})["score"], 0.0);
    const json nearest = server.RunJson({"nearest", "toy", "cat"})["results"][0];
    EXPECT_EQ(nearest["hits"].size(), 2u);
    EXPECT_EQ(nearest["hits"][0].dump(), R"({"row_id":1,"score":1.0,"word":"dog"})");
    EXPECT_EQ(nearest["hits"][1]["word"], "table");
    const std::string text = server.Run({"size", "toy"}).out;
    EXPECT_THAT(text, HasSubstr("| Word  | Object | Animal | Dimensions |\n"));
    EXPECT_THAT(text, HasSubstr("| cat   |      0 |      1 |          2 |\n"));
    EXPECT_THAT(text, HasSubstr("| Total | 3 x 2 = 6 Parameters         |\n"));
    EXPECT_THAT(text, HasSubstr("24 B"));
    server.Stop();
    server.Start();
  }
}

TEST(ToyTableTest, RowsAndTablesThroughTheirLives) {
  ServerProcess server;
  server.RunJson({"table", "create", "t", "--dim", "2"});
  server.RunJson({"put", "t", "[CLS]", "-.5", "1e-3", "--row-id", "7"});
  EXPECT_EQ(server.RunJson({"put", "t", "東京", "1", "-2"})["row_ids"].dump(), "[8]");
  EXPECT_EQ(server.RunJson({"put", "t", "[CLS]", "1", "1"})["replaced"], 1);
  EXPECT_EQ(server.Run({"put", "t", "[CLS]", "1", "1", "--mode", "insert"}).code, 1);
  EXPECT_EQ(server.Run({"put", "t", "new", "1", "1", "--mode", "update"}).code, 1);
  EXPECT_EQ(server.RunJson({"get", "t", "--id", "7", "8"})["rows"][1]["word"], "東京");
  EXPECT_EQ(server.RunJson({"get", "t", "[CLS]", "no"}, 1)["missing"].dump(), R"(["no"])");
  EXPECT_EQ(server.RunJson({"delete", "t", "東京", "no", "--id", "99"}).dump(),
            R"({"deleted":1,"missing":["no",99]})");
  EXPECT_EQ(server.RunJson({"put", "t", "東京", "1", "-2"})["row_ids"].dump(), "[9]");
  EXPECT_EQ(
      server.RunJson({"table", "create", "u", "--dim", "3", "--metric", "euclidean"})["metric"],
      "euclidean");
  EXPECT_EQ(server.Run({"table", "rename", "t", "u"}).code, 1);
  const json renamed = server.RunJson({"table", "rename", "t", "u", "--replace"});
  EXPECT_EQ(renamed["name"], "u");
  EXPECT_EQ(renamed["replaced"], true);
  EXPECT_EQ(server.RunJson({"table", "show", "u"})["rows"], 2);
  EXPECT_EQ(server.RunJson({"table", "list"})["tables"].size(), 1u);
  EXPECT_EQ(server.RunJson({"table", "drop", "u"})["dropped_rows"], 2);
  const json info = server.RunJson({"info"});
  EXPECT_EQ(info["tables"], 0);
  EXPECT_NE(info["kernel_target"], "");
  for (const char* library : {"RocksDB", "FAISS", "gRPC", "Protocol Buffers"}) {
    EXPECT_TRUE(std::isdigit(std::string(info["libraries"][library]).at(0))) << library;
  }
}

}  // namespace
}  // namespace vectable
