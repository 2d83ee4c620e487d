#include <gmock/gmock.h>

#include <fstream>

#include "tests/e2e/server_process.h"

namespace vectable {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::vector<float> Vector(const json& values) { return values.get<std::vector<float>>(); }

// The formula of the cases for made-up rows.
v1::UpsertRequest Generate(const json& spec) {
  v1::UpsertRequest request;
  for (int i = 0; i < spec["rows"].get<int>(); ++i) {
    std::vector<float> vector;
    for (int j = 0; j < spec["dim"].get<int>(); ++j) {
      const int value = (i * 40503 + j * 30011 + i * j * 977 + (i ^ j) * 7919) % 65536 - 32768;
      vector.push_back(static_cast<float>(value) / 32768.f);
    }
    char word[16];
    std::snprintf(word, sizeof(word), "w%05d", i);
    AddRow(word, vector, request);
  }
  return request;
}

// Does the steps of one case on a fresh server.
class CaseRun {
 public:
  void Do(const json& step) {
    const std::string what = step["do"];
    if (what == "create_table") {
      CreateTable(step);
    } else if (what == "insert") {
      Insert(step);
    } else if (what == "stats") {
      Stats(step);
    } else if (what == "get") {
      Get(step);
    } else if (what == "nearest") {
      Nearest(step);
    } else if (what == "nearest_each") {
      NearestEach(step);
    } else if (what == "delete") {
      Delete(step);
    } else if (what == "restart") {
      if (step["how"] == "kill") {
        server_.Kill();
      } else {
        server_.Stop();
      }
      server_.Start();
    } else {
      ADD_FAILURE() << "unknown step " << what;
    }
  }

 private:
  static void ExpectError(const absl::Status& status, const json& error) {
    EXPECT_EQ(absl::StatusCodeToString(status.code()), error["code"].get<std::string>()) << status;
    for (const std::string part : error["says"]) {
      EXPECT_THAT(std::string(status.message()), HasSubstr(part));
    }
  }

  static void Expect(const absl::Status& status, const json& step) {
    if (step["expect"].contains("error")) {
      ExpectError(status, step["expect"]["error"]);
    } else {
      EXPECT_TRUE(status.ok()) << status;
    }
  }

  void CreateTable(const json& step) {
    v1::CreateTableRequest request;
    request.set_name(step["table"]);
    request.set_dimensions(step["dim"]);
    Expect(server_.client().CreateTable(request).status(), step);
  }

  void Insert(const json& step) {
    v1::UpsertRequest request;
    if (step["rows"].is_object()) {
      request = Generate(step["rows"]["generate"]);
      generated_ = request;
    } else {
      for (const json& row : step["rows"]) AddRow(row[0], Vector(row[1]), request);
    }
    request.set_table(step["table"]);
    Expect(server_.client().Upsert(request).status(), step);
  }

  void Stats(const json& step) {
    const auto table = server_.client().GetTable(step["table"]);
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_EQ(table->rows(), step["expect"]["count"]);
    const auto report = server_.client().ReportTable(step["table"]);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->rows(), table->rows());
    EXPECT_EQ(report->parameters(), table->parameters());
    if (step["expect"].contains("parameters")) {
      EXPECT_EQ(report->parameters(), step["expect"]["parameters"]);
    }
  }

  void Get(const json& step) {
    const std::vector<std::string> words = {step["word"]};
    const auto reply = server_.client().Get(step["table"], words);
    ASSERT_TRUE(reply.ok()) << reply.status();
    if (step["expect"].contains("error")) {
      EXPECT_EQ(reply->missing_words_size(), 1);
      return;
    }
    ASSERT_EQ(reply->rows_size(), 1);
    const auto& values = reply->rows(0).vector().values();
    EXPECT_EQ(std::vector<float>(values.begin(), values.end()), Vector(step["expect"]["vector"]));
  }

  void Nearest(const json& step) {
    const int64_t k = step["k"];
    if (k < 0) return;  // the field can't be negative
    v1::NearestRequest request;
    request.set_table(step["table"]);
    request.set_k(static_cast<uint32_t>(k));
    v1::Query& query = *request.add_queries();
    if (step.contains("word")) {
      query.set_word(step["word"]);
    } else {
      const std::vector<float> vector = Vector(step["vector"]);
      query.mutable_vector()->mutable_values()->Add(vector.begin(), vector.end());
    }
    const auto reply = server_.client().Nearest(request);
    absl::Status status = reply.status();
    if (reply.ok()) {
      const v1::QueryResult& result = reply->results(0);
      status = absl::Status(static_cast<absl::StatusCode>(result.code()), result.error());
    }
    if (step.contains("accept") && !status.ok()) {  // the largest k is named
      EXPECT_TRUE(absl::IsInvalidArgument(status));
      EXPECT_THAT(std::string(status.message()), HasSubstr("10000"));
      return;
    }
    Expect(status, step);
    if (status.ok()) CheckHits(reply->results(0), step["expect"]);
  }

  static void CheckHits(const v1::QueryResult& result, const json& expect) {
    ASSERT_EQ(result.hits_size(), static_cast<int>(expect["words"].size()));
    for (int i = 0; i < result.hits_size(); ++i) {
      const size_t at = static_cast<size_t>(i);
      EXPECT_EQ(result.hits(i).word(), expect["words"][at]);
      EXPECT_NEAR(result.hits(i).score(), expect["scores"][at], 1e-5);
      EXPECT_LE(result.hits(i).score(), 1.0);
    }
  }

  void NearestEach(const json& step) {
    v1::NearestRequest request;
    request.set_table(step["table"]);
    request.set_k(step["k"]);
    for (const v1::UpsertRow& row : generated_.rows()) {
      *request.add_queries()->mutable_vector() = row.vector();
    }
    const auto reply = server_.client().Nearest(request);
    ASSERT_TRUE(reply.ok()) << reply.status();
    for (int i = 0; i < reply->results_size(); ++i) {
      const v1::Hit& hit = reply->results(i).hits(0);
      EXPECT_EQ(hit.word(), generated_.rows(i).word());
      EXPECT_GE(hit.score(), step["expect"]["score_min"]);
      EXPECT_LE(hit.score(), step["expect"]["score_max"]);
    }
  }

  void Delete(const json& step) {
    const std::vector<std::string> words = step["words"];
    const auto reply = server_.client().Delete(step["table"], words);
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->deleted(), step["expect"]["deleted"]);
  }

  ServerProcess server_;
  v1::UpsertRequest generated_;
};

TEST(ApiCasesTest, Steps) {
  std::ifstream in(VECTABLE_SOURCE_DIR "/tests/data/cases/expect.json");
  size_t cases = 0;
  for (const json& entry : json::parse(in)) {
    if (entry["format"] != "api") continue;
    SCOPED_TRACE(entry["id"]);
    ++cases;
    CaseRun run;
    for (const json& step : entry["steps"]) {
      SCOPED_TRACE(step.dump());
      run.Do(step);
    }
  }
  EXPECT_EQ(cases, 4u);
}

}  // namespace
}  // namespace vectable
