// Files in and out, through the programs.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/e2e/server_process.h"
#include "tests/support/temp_dir.h"

namespace vectable {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class FileFormatsTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string Write(const std::string& name, std::string_view content) const {
    std::ofstream(Path(name), std::ios::binary) << content;
    return Path(name);
  }
  static std::string Read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  std::vector<float> VectorOf(const std::string& table, const std::string& word) {
    const json row = server_.RunJson({"get", table, "--", word})["rows"][0];
    return row["vector"].get<std::vector<float>>();
  }
  // A shell's line with "$V" for the client.
  Outcome Shell(const std::string& line) {
    const auto process =
        Process::Start({"/bin/bash", "-c", line},
                       {"V=" + ProgramPath("vectable") + " --server " + server_.address(),
                        "XDG_STATE_HOME=" + folder_.path() + "/state"});
    Outcome outcome;
    outcome.code = process->Wait(absl::Seconds(120)).value_or(-1);
    outcome.out = process->out();
    outcome.err = process->err();
    return outcome;
  }

  const TempDir folder_;
  ServerProcess server_;
};

// The file cases of expect.json, with the options that they name.
TEST_F(FileFormatsTest, TheCases) {
  const std::string folder = VECTABLE_SOURCE_DIR "/tests/data/cases/";
  std::ifstream in(folder + "expect.json");
  size_t cases = 0;
  for (const json& entry : json::parse(in)) {
    if (!entry["file"].is_string()) continue;
    ++cases;
    const std::string id = entry["id"];
    SCOPED_TRACE(id);
    const json& expect = entry["expect"];
    const json& options = entry["options"];
    std::vector<std::string> command = {ProgramPath("vectable"),
                                        "--server",
                                        server_.address(),
                                        "--json",
                                        "import",
                                        folder + entry["file"].get<std::string>(),
                                        "--table",
                                        id};
    const auto add = [&](const char* name, const std::string& value) {
      command.insert(command.end(), {name, value});
    };
    if (options.contains("limit")) add("--limit", options["limit"].dump());
    if (options.contains("on_duplicate")) add("--on-duplicate", options["on_duplicate"]);
    if (options.contains("tensor")) add("--tensor", options["tensor"]);
    if (options.contains("words")) add("--vocab", folder + options["words"].get<std::string>());
    std::vector<std::string> environment;
    const json variables = options.value("env", json::object());
    for (const auto& [name, value] : variables.items()) {
      environment.push_back(name + "=" + value.get<std::string>());
    }
    const auto import = Process::Start(command, environment);
    EXPECT_EQ(import->Wait(), expect.contains("error") ? 1 : 0) << import->err();
    for (const std::string part : expect.value("says", json::array())) {
      EXPECT_THAT(import->err(), HasSubstr(part));
    }
    if (expect.contains("error") && !expect.contains("count_after")) continue;
    EXPECT_EQ(server_.RowCount(id),
              expect.contains("error") ? expect["count_after"] : expect["count"]);
    const json rows = expect.value("rows", json::object());
    for (const auto& [word, values] : rows.items()) {
      EXPECT_EQ(VectorOf(id, word), values.get<std::vector<float>>()) << word;
    }
    for (const std::string word : expect.value("absent", json::array())) {
      if (!word.empty()) server_.RunJson({"get", id, "--", word}, 1);
    }
  }
  EXPECT_EQ(cases, 16U);
  const json cat = server_.RunJson({"nearest", "H06a", "--vector", "0,0,1", "-k", "3"});
  EXPECT_EQ(cat["results"][0]["hits"][0]["word"], "cat");
  EXPECT_EQ(cat["results"][0]["hits"][0]["score"], 1.0);
  EXPECT_EQ(cat["results"][0]["hits"].size(), 3u);
}

// The same whatever the borders of batches: here the words come again after thousands of others.
TEST_F(FileFormatsTest, WordsThatComeAgain) {
  std::string text = "cat 1 0\ndog 0 1\ncat 1 1\n";
  for (int i = 0; i < 10'000; ++i) absl::StrAppend(&text, "w", i, " 1 2\n");
  text += "cat 0 5\ndog 7 7\n";
  const std::string file = Write("twice.txt", text);
  const json last = server_.RunJson({"import", file, "--table", "last"});
  EXPECT_EQ(last["inserted"], 10'002);
  EXPECT_EQ(last["replaced"], 3);
  EXPECT_EQ(VectorOf("last", "cat"), std::vector<float>({0, 5}));
  const json first =
      server_.RunJson({"import", file, "--table", "first", "--on-duplicate", "first"});
  EXPECT_EQ(first["inserted"], 10'002);
  EXPECT_EQ(first["replaced"], 0);
  EXPECT_EQ(first["duplicates"], 3);
  EXPECT_EQ(VectorOf("first", "cat"), std::vector<float>({1, 0}));
  const Outcome error = server_.Run({"import", file, "--table", "e", "--on-duplicate", "error"});
  EXPECT_EQ(error.code, 1);
  EXPECT_THAT(error.err, AllOf(HasSubstr(":3: word 'cat' was met before, in line 1"),
                               HasSubstr("no row was acknowledged")));
  // A row that is bad has no claim to its word.
  const std::string bad = Write("bad.txt", "cat 0 0\ncat 1 2\n");
  server_.RunJson({"import", bad, "--table", "b", "--on-duplicate", "first", "--on-bad", "skip"});
  EXPECT_EQ(VectorOf("b", "cat"), std::vector<float>({1, 2}));
  // A row of the table isn't one of the file: it is replaced, also where the first one stays.
  server_.RunJson({"import", file, "--table", "last", "--on-duplicate", "first"});
  EXPECT_EQ(VectorOf("last", "cat"), std::vector<float>({1, 0}));
}

TEST_F(FileFormatsTest, RejectedRowsAreAllListed) {
  std::string text;
  for (int i = 0; i < 100; ++i) absl::StrAppend(&text, "w", i, i % 3 == 0 ? " x 1\n" : " 1 1\n");
  text +=
      "zero 0 0\nb\xFF"
      "d 1 1\n";
  const std::string file = Write("bad.txt", text);
  const Outcome outcome = server_.Run(
      {"--json", "import", file, "--table", "t", "--on-bad", "skip", "--rejects", Path("rejects")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["rejected"], 36);
  EXPECT_THAT(outcome.err, HasSubstr("16 more rows were left out; all are in"));
  const std::string listed = Read(Path("rejects"));
  EXPECT_EQ(std::count(listed.begin(), listed.end(), '\n'), 36);
  EXPECT_THAT(listed, AllOf(HasSubstr("bad.txt:1: word 'w0': value 1 of 2 is bad"),
                            HasSubstr("bad.txt:101: word 'zero'"),
                            HasSubstr("bad.txt:102: word 'b\\xffd' is not valid UTF-8")));
  // Bad bytes alone may be left out while other faults are errors.
  const std::string bytes = Write("bytes.txt", "a 1 2\nb\xFF 3 4\nc 5 6\n");
  EXPECT_EQ(server_.RunJson({"import", bytes, "--table", "u", "--on-bad-utf8", "skip"})["rejected"],
            1);
  EXPECT_EQ(server_.Run({"import", bytes, "--table", "u"}).code, 1);
  server_.RunJson({"import", bytes, "--table", "l", "--encoding", "latin-1"});
  EXPECT_EQ(VectorOf("l", "b\u00FF"), std::vector<float>({3, 4}));
  EXPECT_EQ(
      server_.Run({"import", file, "--table", "t", "--on-bad", "skip", "--rejects", "/no/such/x"})
          .code,
      1);
  EXPECT_EQ(
      server_.Run({"import", file, "--table", "t", "--on-bad", "skip", "--rejects", file}).code, 1);
  EXPECT_EQ(server_.Run({"import", file, "--table", "t", "--rejects", Path("r")}).code, 2);
  EXPECT_EQ(Read(file), text);
}

TEST_F(FileFormatsTest, WhichRowsAndHowTheyAreChanged) {
  const std::string file = Write("some.csv", "word,Object,Animal\nCat,3,4\nÉTÉ,0,2\ndog,1,0\n");
  const std::string words = Write("words.txt", "cat\nété\nnothing\n");
  const json done = server_.RunJson(
      {"import", file, "--table", "t", "--words", words, "--lowercase", "--normalize"});
  EXPECT_EQ(done["inserted"], 2);
  EXPECT_EQ(done["not_asked"], 1);
  EXPECT_EQ(VectorOf("t", "cat"), std::vector<float>({0.6F, 0.8F}));
  EXPECT_EQ(VectorOf("t", "été"), std::vector<float>({0, 1}));
  EXPECT_EQ(server_.RunJson({"table", "show", "t"})["dimension_names"], json({"Object", "Animal"}));
  EXPECT_EQ(server_.Run({"import", file, "--table", "t", "--words", "/no/such"}).code, 1);
}

TEST_F(FileFormatsTest, PackedAndThroughAPipe) {
  Write("a.txt", "a 1 2\nb 3 4\n");
  EXPECT_EQ(
      Shell("cd " + folder_.path() + "; gzip -k a.txt; cat a.txt.gz | $V import - --table g").code,
      0);
  EXPECT_EQ(VectorOf("g", "b"), std::vector<float>({3, 4}));
  EXPECT_EQ(Shell("$V import <(cat " + Path("a.txt") + ") --table p").code, 0);
  EXPECT_EQ(VectorOf("p", "a"), std::vector<float>({1, 2}));
  // Standard input can't be read in any order, also where it is a file.
  server_.RunJson({"export", "p", Path("p.safetensors")});
  EXPECT_THAT(Shell("$V import - --table e <" + Path("p.safetensors")).err,
              HasSubstr("from a plain file alone"));
  const Outcome empty = Shell("$V import - --table e </dev/null");
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.err, HasSubstr("<stdin>: the file is empty"));
  const Outcome device = Shell("$V import /dev/zero --table e");
  EXPECT_THAT(device.err, HasSubstr("/dev/zero: is a device, not a file"));
}

// A table goes out in each format and comes in again as it was.
TEST_F(FileFormatsTest, OutAndInAgain) {
  const std::string file =
      Write("in.txt", "cat -0 1.5\nNa\u00EFve 1e-40 3e38\n\u6771\u4EAC 0.1 7\n");
  server_.RunJson({"import", file, "--table", "t"});
  const std::string rows = server_.Run({"--json", "words", "t", "--vectors"}).out;
  for (const std::string ending :
       {"txt", "vec", "bin", "tsv", "jsonl", "npy", "safetensors", "fvecs", "faiss"}) {
    SCOPED_TRACE(ending);
    const std::string out = Path("out." + ending);
    const json done = server_.RunJson({"export", "t", out});
    EXPECT_EQ(done["rows_written"], 3);
    EXPECT_EQ(done["files"][0], out);
    server_.RunJson({"import", out, "--table", ending});
    EXPECT_EQ(server_.Run({"--json", "words", ending, "--vectors"}).out, rows);
  }
  const Outcome piped = Shell("$V export t - --format glove | $V import - --table piped");
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(server_.Run({"--json", "words", "piped", "--vectors"}).out, rows);
  EXPECT_THAT(server_.Run({"export", "t", Path("x")}).err, HasSubstr("name one with --format"));
  EXPECT_EQ(server_.Run({"--json", "export", "t", "-", "--format", "glove"}).code, 2);
  EXPECT_THAT(server_.Run({"export", "none", Path("x.npy")}).err, HasSubstr("'none'"));
  EXPECT_FALSE(std::filesystem::exists(Path("x.npy")));

  server_.RunJson({"put", "t", "two words", "1", "2"});
  const Outcome refused = server_.Run({"export", "t", Path("x.vec")});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("word 'two words' can't be written in word2vec's text"));
  EXPECT_FALSE(std::filesystem::exists(Path("x.vec")));
  EXPECT_EQ(server_.RunJson({"export", "t", Path("x.vec"), "--on-bad", "skip"})["left_out"], 1);
  server_.RunJson({"import", Path("x.vec"), "--table", "skipped"});
  EXPECT_EQ(server_.RowCount("skipped"), 3U);
}

// An import that is ended goes on behind what was acknowledged.
TEST_F(FileFormatsTest, GoesOnAfterItWasEnded) {
  std::string text;
  for (int i = 0; i < 60'000; ++i) absl::StrAppend(&text, "w", i, " ", i, " 1\n");
  const std::string file = Write("long.txt", text + "bad x 1\n" + "end 1 1\n");
  const Outcome ended = Shell("$V import " + file + " --table t");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("long.txt:60001: "), HasSubstr("--resume goes on")));
  const uint64_t before = server_.RowCount("t");
  ASSERT_GT(before, 0U);
  // The limit is of the file's rows, whichever run reads them.
  EXPECT_EQ(
      json::parse(
          Shell("$V --json import " + file + " --table t --resume --limit 60000").out)["rows_read"],
      60'000 - before);
  EXPECT_EQ(server_.RowCount("t"), 60'000U);
  EXPECT_EQ(Shell("$V import " + file + " --table t").code, 1);
  // A table that was made anew isn't the one of the earlier run.
  server_.RunJson({"table", "drop", "t"});
  server_.RunJson({"table", "create", "t", "--dim", "2"});
  EXPECT_THAT(Shell("$V import " + file + " --table t --resume").err,
              HasSubstr("the table of the earlier run is gone"));
  const uint64_t reached = server_.RowCount("t");
  // Other options would make other rows.
  EXPECT_THAT(Shell("$V import " + file + " --table t --resume --lowercase").err,
              HasSubstr("the earlier run had other options"));
  const Outcome again = Shell("$V --json import " + file + " --table t --resume --on-bad skip");
  EXPECT_EQ(again.code, 0) << again.err;
  const json done = json::parse(again.out);
  EXPECT_EQ(done["resumed_behind"], reached);
  EXPECT_EQ(done["rows_read"], 60'002 - reached);
  EXPECT_EQ(server_.RowCount("t"), 60'001U);
  // It came to its end: there is nothing to go on with.
  EXPECT_THAT(Shell("$V import " + file + " --table t --resume --on-bad skip").err,
              HasSubstr("nothing to go on with"));
  // Another file under the same name isn't gone on with.
  EXPECT_EQ(Shell("$V import " + file + " --table t").code, 1);
  Write("long.txt", text);
  // Standard input that ends before the place isn't what was read before.
  EXPECT_EQ(Shell("cat " + file + " | $V import - --table p --limit 50000").code, 0);
  EXPECT_THAT(Shell("head -100 " + file + " | $V import - --table p --resume").err,
              HasSubstr("(expected line 50000, found 100)"));
  EXPECT_EQ(json::parse(
                Shell("cat " + file + " | $V --json import - --table p --resume").out)["rows_read"],
            10'000);
  const Outcome changed = Shell("$V import " + file + " --table t --resume");
  EXPECT_EQ(changed.code, 1);
  EXPECT_THAT(changed.err, HasSubstr("has changed since"));
}

// Ctrl-C while the file gives nothing, before the first rows are complete.
TEST_F(FileFormatsTest, StopsWhenInterrupted) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  const auto import = Process::Start({ProgramPath("vectable"), "--server", server_.address(),
                                      "import", Path("pipe"), "--table", "t"});
  std::FILE* const rows = std::fopen(Path("pipe").c_str(), "w");
  ASSERT_NE(rows, nullptr);
  std::fputs("a 1 2\nb 3 4\n", rows);
  std::fflush(rows);
  absl::SleepFor(absl::Milliseconds(300));
  import->Signal(SIGINT);
  EXPECT_EQ(import->Wait(absl::Seconds(10)), 130) << import->err();
  EXPECT_THAT(import->err(), HasSubstr("interrupted; no row was acknowledged"));
  std::fclose(rows);
}

// A header that promises more than there can be is refused at once and takes no memory.
TEST_F(FileFormatsTest, HeadersThatPromisePetabytes) {
  const std::string text = Write("big.vec", "1000000000000000 100000\na 1 2\n");
  EXPECT_THAT(server_.Run({"import", text, "--table", "t"}).err,
              HasSubstr("promises 100000 values"));
  const std::string binary =
      Write("big.bin", std::string("1000000000000000 60000\na \0\0\0\0", 30));
  EXPECT_THAT(server_.Run({"import", binary, "--table", "t"}).err, HasSubstr("can't hold"));
  const std::string dims = Write("dims.bin", std::string("3 10000000\na \0\0\0\0", 17));
  EXPECT_THAT(server_.Run({"import", dims, "--table", "t"}).err,
              HasSubstr("expected 1 to 65536, found 10000000"));
  EXPECT_THAT(server_.Run({"table", "list"}).out, Not(HasSubstr("\nt ")));
}

}  // namespace
}  // namespace vectable
