#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "client/formats/open_reader.h"
#include "tests/e2e/server_process.h"

namespace vectable {
namespace {

using nlohmann::json;

const char* const kFile = VECTABLE_SOURCE_DIR "/tests/data/glove-10k.100d.txt.gz";
constexpr size_t kRows = 10'000;
constexpr size_t kHits = 10;

std::vector<VectorRow> ReadRows() {
  std::vector<VectorRow> rows;
  const auto reader = OpenVectorReader(kFile, {});
  EXPECT_TRUE(reader.ok()) << reader.status();
  for (VectorRow row; reader.ok() && *(*reader)->Next(row);) rows.push_back(row);
  return rows;
}

double Cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double dot = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return dot / std::sqrt(aa) / std::sqrt(bb);
}

struct Neighbour {
  size_t row = 0;
  double score = 0;
};

// The nearest rows to row `query`, without itself, by a plain scan.
std::vector<Neighbour> Scan(const std::vector<VectorRow>& rows, size_t query) {
  std::vector<Neighbour> all;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i != query) all.push_back({i, Cosine(rows[query].vector, rows[i].vector)});
  }
  std::partial_sort(all.begin(), all.begin() + kHits, all.end(),
                    [](const Neighbour& a, const Neighbour& b) {
                      return a.score != b.score ? a.score > b.score : a.row < b.row;
                    });
  all.resize(kHits);
  return all;
}

TEST(GloveImportTest, EveryRowIsThereAndNearestIsWhatAScanGives) {
  ServerProcess server;
  const json done = server.RunJson({"import", kFile, "--table", "glove"});
  EXPECT_EQ(done["rows_read"], kRows);
  EXPECT_EQ(done["inserted"], kRows);
  EXPECT_EQ(done["rejected"], 0);
  const json size = server.RunJson({"size", "glove"});
  EXPECT_EQ(size["parameters"], 1'000'000);
  EXPECT_EQ(size["nominal_bytes"].dump(),
            R"({"bf16":2000000,"fp16":2000000,"fp32":4000000,"int4":500000,"int8":1000000})");

  const std::vector<VectorRow> rows = ReadRows();
  ASSERT_EQ(rows.size(), kRows);
  std::vector<size_t> queries;
  std::vector<std::string> command = {"nearest", "glove", "-k", "10", "--exact", "--"};
  for (size_t i = 0; i < kRows; i += 199) {
    queries.push_back(i);
    command.push_back(rows[i].word);
  }
  const json answers = server.RunJson(command);
  ASSERT_EQ(answers["results"].size(), queries.size());
  for (size_t q = 0; q < queries.size(); ++q) {
    const json& result = answers["results"][q];
    SCOPED_TRACE(rows[queries[q]].word);
    EXPECT_EQ(result["query"], rows[queries[q]].word);
    EXPECT_EQ(result["exact"], true);
    EXPECT_TRUE(result["error"].is_null());
    const std::vector<Neighbour> expected = Scan(rows, queries[q]);
    ASSERT_EQ(result["hits"].size(), kHits);
    for (size_t i = 0; i < kHits; ++i) {
      EXPECT_EQ(result["hits"][i]["word"], rows[expected[i].row].word);
      EXPECT_EQ(result["hits"][i]["row_id"], expected[i].row);
      EXPECT_NEAR(result["hits"][i]["score"].get<double>(), expected[i].score, 1e-9);
    }
  }
}

TEST(GloveImportTest, AgainIsAllReplacedAndEveryBitIsKept) {
  ServerProcess server;
  server.RunJson({"import", kFile, "--table", "glove"});
  const json again = server.RunJson({"import", kFile, "--table", "glove"});
  EXPECT_EQ(again["inserted"], 0);
  EXPECT_EQ(again["replaced"], kRows);
  EXPECT_EQ(server.RowCount("glove"), kRows);

  const std::vector<VectorRow> rows = ReadRows();
  std::vector<std::string> words;
  for (const VectorRow& row : rows) words.push_back(row.word);
  const auto got = server.client().Get("glove", words);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->rows_size(), static_cast<int>(kRows));
  for (size_t i = 0; i < kRows; ++i) {
    const v1::Row& row = got->rows(static_cast<int>(i));
    ASSERT_EQ(row.word(), rows[i].word);
    ASSERT_EQ(row.row_id(), i);
    ASSERT_EQ(std::vector<float>(row.vector().values().begin(), row.vector().values().end()),
              rows[i].vector);
  }
  const json listed = json::parse("[" + [&] {
    std::string lines = server.Run({"--json", "words", "glove", "--limit", "5"}).out;
    lines.pop_back();
    std::replace(lines.begin(), lines.end(), '\n', ',');
    return lines;
  }() + "]");
  EXPECT_EQ(listed.size(), 5u);
  EXPECT_EQ(listed[4]["word"], rows[4].word);
}

TEST(GloveImportTest, AStreamOfSearchesGivesWhatSingleOnesGive) {
  ServerProcess server;
  server.RunJson({"import", kFile, "--table", "glove"});
  const std::vector<VectorRow> rows = ReadRows();
  const auto request_of = [&rows](size_t i, v1::NearestRequest& request) {
    request.set_table("glove");
    request.set_k(kHits);
    request.add_queries()->set_word(rows[i].word);
  };
  size_t asked = 0;
  size_t answered = 0;
  const absl::Status done = server.client().NearestStream(
      [&](v1::NearestRequest& request) {
        if (asked == 500) return false;
        request_of(asked++, request);
        return true;
      },
      [&](const v1::NearestStreamResponse& reply) {
        EXPECT_EQ(reply.request(), answered);
        v1::NearestRequest request;
        request_of(answered++, request);
        const auto single = server.client().Nearest(request);
        EXPECT_TRUE(single.ok()) << single.status();
        EXPECT_EQ(reply.answer().results(0).SerializeAsString(),
                  single->results(0).SerializeAsString());
        return absl::OkStatus();
      });
  EXPECT_TRUE(done.ok()) << done;
  EXPECT_EQ(answered, 500U);

  // An error of the receiver ends it, and a text that can't be sent is refused before it is.
  const absl::Status given_up = server.client().NearestStream(
      [&](v1::NearestRequest& request) {
        request_of(1, request);
        return true;
      },
      [](const v1::NearestStreamResponse&) { return absl::AbortedError("enough"); });
  EXPECT_TRUE(absl::IsAborted(given_up)) << given_up;
  const absl::Status bad = server.client().NearestStream(
      [](v1::NearestRequest& request) {
        request.set_table("glove");
        request.add_queries()->set_word("\xff");
        return true;
      },
      [](const v1::NearestStreamResponse&) { return absl::OkStatus(); });
  EXPECT_TRUE(absl::IsInvalidArgument(bad)) << bad;
}

}  // namespace
}  // namespace vectable
