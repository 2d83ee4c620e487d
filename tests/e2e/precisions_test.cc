#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "common/vector_codec.h"
#include "tests/e2e/server_process.h"
#include "tests/support/directory_bytes.h"

namespace vectable {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kWords = std::string(VECTABLE_SOURCE_DIR) + "/tests/data/glove-10k.100d.txt.gz";
constexpr uint64_t kRows = 10'000;
constexpr uint64_t kDimensions = 100;

std::vector<float> VectorOf(ServerProcess& server, const std::string& table,
                            const std::string& word) {
  return server.RunJson({"get", table, word})["rows"][0]["vector"].get<std::vector<float>>();
}

// Real words at every precision, before and after a crash.
TEST(PrecisionsTest, RowsComeBackAsTheirPrecisionKeepsThem) {
  ServerProcess server;
  for (const Precision precision : kAllPrecisions) {
    const std::string name(PrecisionName(precision));
    const json imported = server.RunJson({"import", kWords, "--table", name, "--precision", name});
    EXPECT_EQ(imported["inserted"], kRows);
  }
  const std::vector<float> exact = VectorOf(server, "fp32", "king");
  std::map<std::string, std::string> neighbours;
  for (int round = 0; round < 2; ++round) {
    for (const Precision precision : kAllPrecisions) {
      const std::string name(PrecisionName(precision));
      SCOPED_TRACE(name);
      const VectorCodec codec(precision, kDimensions);
      std::string codes;
      ASSERT_TRUE(codec.Encode(exact, codes).ok());
      std::vector<float> kept(kDimensions);
      codec.Decode(codes.data(), 1, kept.data());
      EXPECT_EQ(VectorOf(server, name, "king"), kept);

      const json size = server.RunJson({"size", name});
      EXPECT_EQ(size["precision"], name);
      EXPECT_EQ(size["parameters"], kRows * kDimensions);
      EXPECT_EQ(size["nominal_bytes"]["int4"], kRows * kDimensions / 2);
      EXPECT_EQ(size["stored_bytes"]["int4"], kRows * (kDimensions / 2 + 4));
      const json hits = server.RunJson({"nearest", name, "king"})["results"][0]["hits"];
      EXPECT_EQ(hits.size(), 10U);
      if (round == 0) neighbours[name] = hits.dump();
      EXPECT_EQ(hits.dump(), neighbours[name]);
      EXPECT_EQ(server.RunJson({"similarity", name, "king", "king"})["score"], 1.0);
    }
    server.Kill();
    server.Start();
  }
}

TEST(PrecisionsTest, WhatAPrecisionCannotHoldIsRefusedByName) {
  ServerProcess server;
  server.RunJson({"table", "create", "half", "--dim", "2", "--precision", "fp16"});
  Outcome outcome = server.Run({"put", "half", "big", "1", "70000"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("'half'"));
  EXPECT_THAT(outcome.err, HasSubstr("'big'"));
  EXPECT_THAT(outcome.err, HasSubstr("value 1 of the vector is 70000"));
  EXPECT_THAT(outcome.err, HasSubstr("65504"));
  outcome = server.Run({"put", "half", "small", "1e-9", "1e-9"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("rounds to zero at fp16"));
  EXPECT_EQ(server.RowCount("half"), 0U);
  EXPECT_EQ(server.RunJson({"put", "half", "fine", "1", "-2"})["inserted"], 1);

  const TempDir directory;
  const std::string file = directory.path() + "/rows.txt";
  std::ofstream(file) << "a 1 2\nbig 70000 1\nc 2 3\n";
  outcome = server.Run({"import", file, "--table", "new", "--precision", "fp16"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("rows.txt:2: word 'big': value 0 of the vector is 70000"));
  const json skipped = server.RunJson(
      {"import", file, "--table", "other", "--precision", "fp16", "--on-bad", "skip"});
  EXPECT_EQ(skipped["inserted"], 2);
  EXPECT_EQ(skipped["rejected"], 1);
}

// The ledger against the files, through deletes and a drop.
TEST(PrecisionsTest, TheLedgerAddsUpToTheDataDirectory) {
  ServerProcess server;
  const auto check = [&server](const std::string& table) {
    SCOPED_TRACE(table);
    json measured;
    uint64_t files = 0;
    // Files are written and removed in the background for a moment.
    for (int i = 0; i < 200; ++i) {
      const uint64_t before = DirectoryBytes(server.data());
      measured = server.RunJson({"size", table})["measured"];
      files = DirectoryBytes(server.data());
      if (before == files) break;
    }
    const json disk = measured["database"]["disk"];
    uint64_t sum = 0;
    for (const auto& [part, bytes] : disk.items()) {
      if (part != "total") sum += bytes.get<uint64_t>();
    }
    EXPECT_EQ(sum, disk["total"]);
    EXPECT_EQ(disk["total"], files);
    const json table_disk = measured["disk"];
    EXPECT_EQ(table_disk["rows"].get<uint64_t>() + table_disk["blobs"].get<uint64_t>() +
                  table_disk["words"].get<uint64_t>() + table_disk["index"].get<uint64_t>(),
              table_disk["total"]);
    return measured;
  };
  server.RunJson({"import", kWords, "--table", "a", "--precision", "int8"});
  server.RunJson({"import", kWords, "--table", "b"});
  json measured = check("a");
  // The index may just be on its way from the growing segment to a file, whose codes are mapped.
  const uint64_t codes = measured["memory"]["codes"];
  EXPECT_GE(codes + measured["memory"].value("mapped", uint64_t{0}), kRows * (kDimensions + 4));
  EXPECT_LT(codes, kRows * (kDimensions + 4) * 11 / 10);
  EXPECT_FALSE(measured["memory"].contains("graph"));  // there is none yet: absent, not 0
  server.Stop();                                       // writes everything to files
  server.Start();
  measured = check("b");
  EXPECT_GE(measured["disk"]["rows"], kRows * kDimensions * 4);
  EXPECT_LT(measured["disk"]["total"].get<uint64_t>() - measured["disk"]["index"].get<uint64_t>(),
            kRows * kDimensions * 4 * 13 / 10);
  EXPECT_EQ(
      measured["database"]["disk"]["tables"],
      measured["disk"]["total"].get<uint64_t>() + check("a")["disk"]["total"].get<uint64_t>());
  server.RunJson({"delete", "b", "king", "queen"});
  check("b");
  server.RunJson({"table", "drop", "b"});
  measured = check("a");
  EXPECT_EQ(measured["database"]["disk"]["tables"], measured["disk"]["total"]);
}

TEST(PrecisionsTest, MeasuringSaysWhatEachPrecisionCosts) {
  ServerProcess server;
  server.RunJson({"import", kWords, "--table", "words"});
  const auto show = [&server] {
    json table = server.RunJson({"table", "show", "words"});
    table.erase("segments");  // merged in the background
    return table;
  };
  const json before = show();
  const json size = server.RunJson({"size", "words", "--measure", "--queries", "200"});
  EXPECT_EQ(show(), before);
  const json costs = size["precision_costs"];
  EXPECT_EQ(costs["baseline"], "fp32");
  EXPECT_EQ(costs["queries"], 200);
  EXPECT_EQ(costs["rows"], kRows);
  ASSERT_EQ(costs["costs"].size(), 5U);
  double last = 1;
  for (const size_t i : {0, 1, 3, 4}) {  // fp32, fp16, int8, int4
    const json cost = costs["costs"][i];
    EXPECT_LE(cost["recall_at_10"], last);
    last = cost["recall_at_10"];
  }
  EXPECT_EQ(costs["costs"][0]["recall_at_100"], 1.0);
  EXPECT_GT(costs["costs"][3]["recall_at_10"], 0.95);
  EXPECT_GT(last, 0.7);
  EXPECT_LT(last, 0.99);

  EXPECT_EQ(server.RunJson(
                {"size", "words", "--queries", "200", "--recall", "0.95"})["advice"]["precision"],
            "int8");
  EXPECT_EQ(server.RunJson(
                {"size", "words", "--queries", "200", "--budget", "2MB"})["advice"]["precision"],
            "fp16");
  EXPECT_TRUE(server
                  .RunJson({"size", "words", "--queries", "200", "--budget", "100kB"},
                           1)["advice"]["precision"]
                  .is_null());
  EXPECT_THAT(server.Run({"size", "words", "--queries", "200", "--budget", "100kB"}).err,
              HasSubstr("table 'words': no precision meets a budget of 100,000 B"));
  const Outcome text = server.Run({"size", "words", "--queries", "200", "--recall", "0.95"});
  EXPECT_THAT(text.out, HasSubstr("| fp32 *"));
  EXPECT_THAT(text.out, HasSubstr("Take int8 for a recall@10 of 0.95"));
}

TEST(PrecisionsTest, MeasuringRefusesWhatMakesNoSense) {
  ServerProcess server;
  server.RunJson({"table", "create", "t", "--dim", "2"});
  Outcome outcome = server.Run({"size", "t", "--measure"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("has 0 rows"));
  server.RunJson({"put", "t", "a", "1", "0"});
  server.RunJson({"put", "t", "b", "1", "1"});
  outcome = server.Run({"size", "t", "--measure", "--queries", "10001"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("1 to 10000"));
  EXPECT_EQ(server.Run({"size", "nope", "--measure"}).code, 1);
  for (const char* bad : {"0", "1.5", "-1", "nan", "x"}) {
    EXPECT_EQ(server.Run({"size", "t", "--recall", bad}).code, 2) << bad;
  }
  for (const char* bad : {"0", "many", "-5MB", "1e99TB"}) {
    EXPECT_EQ(server.Run({"size", "t", "--budget", bad}).code, 2) << bad;
  }
  EXPECT_EQ(server.RunJson({"size", "t", "--measure"})["precision_costs"]["queries"], 2);
}

}  // namespace
}  // namespace vectable
