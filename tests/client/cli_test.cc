#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "client/cli/app.h"
#include "tests/client/fake_server.h"
#include "tests/client/temp_file.h"

namespace vectable {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

class CliTest : public ::testing::Test {
 protected:
  Outcome Run(std::vector<std::string> arguments) {
    std::ostringstream out, err;
    Terminal terminal{out, err};
    if (!arguments.empty()) arguments.insert(arguments.begin(), {"--server", server_.address()});
    const int code = RunCli(arguments, terminal);
    return {code, out.str(), err.str()};
  }

  json RunJson(std::vector<std::string> arguments, int code = 0) {
    arguments.insert(arguments.begin(), "--json");
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    return json::parse(outcome.out, nullptr, false);
  }

  void MakeToy() {
    RunJson({"table", "create", "toy", "--dim", "2", "--dim-names", "Object,Animal"});
    RunJson({"put", "toy", "cat", "Object=0", "Animal=1"});
    RunJson({"put", "toy", "dog", "0", "1"});
    RunJson({"put", "toy", "apple", "1", "0"});
  }

  FakeServer server_;
};

TEST_F(CliTest, UsageErrorsAreCode2AndSayHow) {
  const std::vector<std::vector<std::string>> cases = {
      {},
      {"frobnicate"},
      {"table"},
      {"table", "frobnicate"},
      {"table", "create", "t"},
      {"table", "create", "t", "--dim", "0"},
      {"table", "create", "t", "--dim", "65537"},
      {"table", "create", "t", "--dim", "4294967298"},
      {"table", "create", "t", "--dim", "2", "--precision", "fp64"},
      {"put", "t", "w"},
      {"put", "t", "w", "1", "x"},
      {"put", "t", "w", "1", "Animal=2"},
      {"get", "t"},
      {"get", "t", "--id", "-1"},
      {"nearest", "t"},
      {"nearest", "t", "w", "--vector", "1,2"},
      {"nearest", "t", "--id", "0", "--vector", "1,2"},
      {"nearest", "t", "--vector", "1,,2"},
      {"nearest", "t", "w", "-k", "4294967297"},
      {"nearest", "t", "w", "-k", "0"},
      {"nearest", "t", "w", "--min-score", "nan"},
      {"similarity", "t", "a"},
      {"bench"},
      {"bench", "t", "--recall", "0"},
      {"bench", "t", "--recall", "0.9,1.5"},
      {"bench", "t", "--recall", "0.9,,1"},
      {"bench", "t", "--recall", "nan"},
      {"bench", "t", "--queries", "0"},
      {"bench", "t", "--queries", "10001"},
      {"bench", "t", "-k", "0"},
      {"bench", "t", "--k", "10001"},
      {"bench", "t", "--batch", "1001"},
      {"bench", "t", "--concurrency", "257"},
      {"bench", "t", "--seconds", "-1"},
      {"bench", "t", "--seconds", "nan"},
      {"import", "f"},
      {"import", "f", "--table", "t", "--on-bad", "maybe"},
      {"info", "--timeout", "0"},
      {"get", "t", "-word"},
  };
  for (const auto& arguments : cases) {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.code, 2) << ::testing::PrintToString(arguments) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("vectable: error: "));
    EXPECT_THAT(outcome.err, HasSubstr("--help' for how to use it"));
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_THAT(Run({"frobnicate"}).err, HasSubstr("unknown command 'frobnicate'"));
}

TEST_F(CliTest, HelpAndVersionAreCode0) {
  EXPECT_EQ(Run({"--help"}).code, 0);
  EXPECT_THAT(Run({"nearest", "--help"}).out, HasSubstr("--min-score"));
  EXPECT_THAT(Run({"--version"}).out, HasSubstr("vectable "));
}

TEST_F(CliTest, ABadAddressAndNoServer) {
  EXPECT_THAT(Run({"--server", "nowhere", "info"}).err, HasSubstr("expected HOST:PORT"));
  const Outcome outcome = Run({"info", "--server", "127.0.0.1:1"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("vectable: error: no server answers at 127.0.0.1:1"));
}

TEST_F(CliTest, TheToyTable) {
  MakeToy();
  EXPECT_THAT(Run({"size", "toy"}).out, HasSubstr("| Total | 3 x 2 = 6 Parameters         |"));
  const json size = RunJson({"size", "toy"});
  EXPECT_EQ(size["parameters"], 6);
  EXPECT_EQ(size["nominal_bytes"]["fp32"], 24);
  EXPECT_TRUE(size["measured"].is_object());
  EXPECT_EQ(RunJson({"similarity", "toy", "cat", "dog"}).dump(), R"({"score":1.0})");
  const json nearest = RunJson({"nearest", "toy", "cat", "-k", "1"});
  EXPECT_EQ(nearest["results"][0]["hits"][0]["word"], "dog");
  EXPECT_EQ(RunJson({"table", "show", "toy"})["dimension_names"].dump(), R"(["Object","Animal"])");
  EXPECT_THAT(Run({"table", "list"}).out, HasSubstr("| toy   |    3 |          2 |          6 |"));
  EXPECT_THAT(Run({"nearest", "toy", "cat"}).out, HasSubstr("fewer than 10"));
  EXPECT_THAT(Run({"info"}).out, HasSubstr("Limit: max_k"));
}

TEST_F(CliTest, BenchMeasuresTheToyTable) {
  MakeToy();
  const json report = RunJson({"bench", "toy", "-k", "1", "--seconds", "0", "--recall", "0.9"});
  EXPECT_EQ(report["name"], "toy");
  EXPECT_EQ(report["rows"], 3);
  EXPECT_EQ(report["queries"], 3);
  EXPECT_EQ(report["server_version"], "0.0.0-fake");
  EXPECT_EQ(report["measurements"].size(), 5U);
  const Outcome text = Run({"bench", "toy", "-k", "2", "--seconds", "0"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("| Index      | 0 segments, no graph"));
  EXPECT_THAT(text.out, HasSubstr("Recall@2"));
  EXPECT_THAT(text.out, HasSubstr("optimize toy --wait' builds one"));
  const Outcome small = Run({"bench", "toy", "-k", "3"});
  EXPECT_EQ(small.code, 1);
  EXPECT_EQ(small.out, "");
  EXPECT_EQ(small.err,
            "vectable: error: table 'toy' has 3 rows; for k = 3 it must have at least 4\n");
  RunJson({"table", "create", "empty", "--dim", "2"});
  EXPECT_THAT(Run({"bench", "empty"}).err, HasSubstr("table 'empty' is empty"));
  EXPECT_THAT(Run({"bench", "none"}).err, HasSubstr("there is no table 'none'"));
}

TEST_F(CliTest, GetAndDelete) {
  MakeToy();
  const json got = RunJson({"get", "toy", "dog", "--id", "0"});
  EXPECT_EQ(got.dump(), R"({"missing":[],"rows":[{"row_id":1,"vector":[0.0,1.0],"word":"dog"},)"
                        R"({"row_id":0,"vector":[0.0,1.0],"word":"cat"}]})");
  const json missing = RunJson({"get", "toy", "cat", "cow", "--id", "9"}, 1);
  EXPECT_EQ(missing["missing"].dump(), R"(["cow",9])");
  EXPECT_EQ(missing["rows"].size(), 1u);
  EXPECT_THAT(Run({"get", "toy", "cow"}).err, HasSubstr("table 'toy' has no 'cow'"));
  EXPECT_EQ(RunJson({"delete", "toy", "cat", "cow"}).dump(), R"({"deleted":1,"missing":["cow"]})");
  const Outcome unknown = Run({"get", "none", "cat"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_EQ(unknown.err, "vectable: error: there is no table 'none'\n");
}

TEST_F(CliTest, OddWords) {
  RunJson({"table", "create", "t", "--dim", "2"});
  for (const std::string word : {"[CLS]", "{}", "table", "get", "1e5", "a b", "++"}) {
    EXPECT_EQ(RunJson({"put", "t", word, "-.5", "1e-3"})["inserted"], 1) << word;
    EXPECT_EQ(RunJson({"get", "t", word})["rows"][0]["word"], word);
  }
  EXPECT_TRUE(RunJson({"put", "t", "1", "2", "--", "-dash"}, 2).is_discarded());
  EXPECT_EQ(RunJson({"put", "t", "--", "-dash", "-1", "2"})["inserted"], 1);
  EXPECT_EQ(RunJson({"get", "t", "--", "-dash"})["rows"][0]["vector"].dump(), "[-1.0,2.0]");
}

TEST_F(CliTest, WordsArePrintedOnePerLine) {
  MakeToy();
  EXPECT_EQ(Run({"words", "toy"}).out, "         0  cat\n         1  dog\n         2  apple\n");
  EXPECT_EQ(Run({"--json", "words", "toy", "--limit", "1", "--vectors"}).out,
            "{\"word\":\"cat\",\"row_id\":0,\"vector\":[0.0,1.0]}\n");
  EXPECT_EQ(Run({"words", "toy", "--prefix", "a"}).out, "         2  apple\n");
  EXPECT_EQ(Run({"words", "toy", "--limit", "0"}).out, "");
}

TEST_F(CliTest, AQueryThatFailsIsCode1AndInItsPlace) {
  MakeToy();
  const json answers = RunJson({"nearest", "toy", "cat", "cow", "-k", "2"}, 1);
  EXPECT_EQ(answers["results"][0]["hits"].size(), 2u);
  EXPECT_EQ(answers["results"][1]["query"], "cow");
  EXPECT_THAT(answers["results"][1]["error"], HasSubstr("no word 'cow'"));
  EXPECT_EQ(
      RunJson({"nearest", "toy", "cat", "--exclude", "dog,apple"})["results"][0]["hits"].size(),
      0u);
}

TEST_F(CliTest, RenameAndDrop) {
  MakeToy();
  EXPECT_EQ(RunJson({"table", "rename", "toy", "new"})["name"], "new");
  EXPECT_EQ(RunJson({"table", "drop", "new"}).dump(),
            R"({"dropped":"new","dropped_rows":3,"kept_by_snapshots":[]})");
  EXPECT_EQ(RunJson({"table", "list"}).dump(), R"({"tables":[]})");
}

TEST_F(CliTest, Import) {
  const TempFile file("cat 1 0\ndog 0 1\ncat 0 2\n");
  const json done = RunJson({"import", file.path(), "--table", "t"});
  EXPECT_EQ(done["rows_read"], 3);
  EXPECT_EQ(done["inserted"], 2);
  EXPECT_EQ(done["replaced"], 1);
  EXPECT_EQ(done["rejected"], 0);
  EXPECT_TRUE(done["seconds"].is_number());
  EXPECT_EQ(RunJson({"get", "t", "cat"})["rows"][0]["vector"].dump(), "[0.0,2.0]");
  EXPECT_EQ(RunJson({"import", file.path(), "--table", "t", "--limit", "2"})["replaced"], 2);
  EXPECT_THAT(Run({"import", file.path(), "--table", "t"}).out,
              HasSubstr("3 rows read into the table 't'"));
}

TEST_F(CliTest, ImportIntoATableThatDiffers) {
  RunJson({"table", "create", "t", "--dim", "3"});
  const TempFile file("cat 1 0\ndog 0 1\n");
  EXPECT_THAT(Run({"import", file.path(), "--table", "t"}).err,
              HasSubstr("table 't' has 3 dimensions, but"));
  const TempFile fitting("cat 1 0 1\ndog 0 1 2\n");
  EXPECT_THAT(Run({"import", fitting.path(), "--table", "t", "--precision", "int8"}).err,
              HasSubstr("exists with precision fp32; the import asks for int8"));
  EXPECT_THAT(Run({"import", fitting.path(), "--table", "t", "--metric", "dot"}).err,
              HasSubstr("exists with metric cosine; the import asks for dot"));
  EXPECT_THAT(Run({"import", fitting.path(), "--table", "t", "--dim-names", "a,b,c"}).err,
              HasSubstr("dimension names"));
  EXPECT_EQ(server_.RowCount("t"), 0u);
}

TEST_F(CliTest, ImportStopsAtABrokenLine) {
  std::string text;
  for (int i = 0; i < 9'000; ++i) text += "w" + std::to_string(i) + " 1 2\n";
  const TempFile file(text + "bad x 2\nlast 1 2\n");
  const Outcome outcome = Run({"--json", "import", file.path(), "--table", "t"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(file.path() + ":9001: word 'bad': value 1 of 2 is bad"));
  EXPECT_THAT(outcome.err, HasSubstr("8,000 rows were acknowledged before and are in table 't'"));
  EXPECT_EQ(server_.RowCount("t"), 8'000u);
}

TEST_F(CliTest, ImportLeavesBadRowsOut) {
  const TempFile file("cat 1 0\nbad x 1\nzero 0 0\ndog 0 1\n");
  const Outcome stopped = Run({"import", file.path(), "--table", "t"});
  EXPECT_EQ(stopped.code, 1);
  const Outcome outcome =
      Run({"--json", "import", file.path(), "--table", "t", "--on-bad", "skip"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const json done = json::parse(outcome.out);
  EXPECT_EQ(done["rows_read"], 4);
  EXPECT_EQ(done["inserted"], 2);
  EXPECT_EQ(done["rejected"], 2);
  EXPECT_THAT(outcome.err, HasSubstr("left out: " + file.path() + ":2: word 'bad'"));
  EXPECT_THAT(outcome.err, HasSubstr("left out: " + file.path() + ":3: word 'zero'"));
}

}  // namespace
}  // namespace vectable
