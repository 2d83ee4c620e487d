#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "client/cli/display.h"
#include "client/cli/json_output.h"
#include "client/cli/progress.h"
#include "client/cli/size_text.h"
#include "client/cli/text_table.h"

namespace vectable {
namespace {

using ::testing::HasSubstr;

v1::Row MakeRow(const std::string& word, uint64_t id, std::initializer_list<float> values) {
  v1::Row row;
  row.set_word(word);
  row.set_row_id(id);
  row.mutable_vector()->mutable_values()->Add(values.begin(), values.end());
  return row;
}

TEST(DisplayTest, WidthAndEscapes) {
  EXPECT_EQ(DisplayWidth("cat"), 3u);
  EXPECT_EQ(DisplayWidth("äö"), 2u);
  EXPECT_EQ(DisplayWidth("東京"), 4u);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1u);
  EXPECT_EQ(Printable("a\tb\x1b[31m"), "a\\x09b\\x1b[31m");
  EXPECT_EQ(Printable("\xff"
                      "é"),
            "\\xffé");
  EXPECT_EQ(Printable("\u202eabc"), "\\xe2\\x80\\xaeabc");
  EXPECT_EQ(ShortFloat(0.1f), "0.1");
  EXPECT_EQ(ShortFloat(1e-45f), "1e-45");
}

TEST(SizeTextTest, TheNotesTable) {
  v1::ReportTableResponse report;
  report.set_rows(3);
  report.set_dimensions(2);
  report.set_parameters(6);
  report.add_dimension_names("Object");
  report.add_dimension_names("Animal");
  const std::vector<v1::Row> rows = {MakeRow("cat", 0, {0, 1}), MakeRow("dog", 1, {0, 1}),
                                     MakeRow("apple", 2, {1, 0})};
  EXPECT_EQ(SizeTable(report, rows).Render(),
            "+-------+--------+--------+------------+\n"
            "| Word  | Object | Animal | Dimensions |\n"
            "+-------+--------+--------+------------+\n"
            "| cat   |      0 |      1 |          2 |\n"
            "| dog   |      0 |      1 |          2 |\n"
            "| apple |      1 |      0 |          2 |\n"
            "+-------+--------+--------+------------+\n"
            "| Total | 3 x 2 = 6 Parameters         |\n"
            "+-------+------------------------------+\n");
}

TEST(SizeTextTest, ALargeTableIsCut) {
  v1::ReportTableResponse report;
  report.set_rows(341'479);
  report.set_dimensions(100);
  report.set_parameters(34'147'900);
  report.set_precision(v1::PRECISION_FP32);
  v1::PrecisionBytes& bytes = *report.add_bytes();
  bytes.set_precision(v1::PRECISION_FP32);
  bytes.set_nominal_bytes(136'591'600);
  v1::Row row;
  row.set_word("東京");
  for (int i = 0; i < 100; ++i) row.mutable_vector()->add_values(0.5f);
  EXPECT_EQ(RowsShown(report), 5u);
  EXPECT_EQ(SizeTable(report, std::span(&row, 1)).Render(),
            "+-------+-----+-----+-----+-----+-----+------------+\n"
            "| Word  |  d0 |  d1 |  d2 |  d3 | ... | Dimensions |\n"
            "+-------+-----+-----+-----+-----+-----+------------+\n"
            "| 東京  | 0.5 | 0.5 | 0.5 | 0.5 | ... |        100 |\n"
            "| ...   | ... | ... | ... | ... | ... |        ... |\n"
            "+-------+-----+-----+-----+-----+-----+------------+\n"
            "| Total | 341,479 x 100 = 34,147,900 Parameters    |\n"
            "+-------+------------------------------------------+\n");
  EXPECT_THAT(BytesTable(report).Render(),
              HasSubstr("| fp32 *    | 136,591,600 B (136.59 MB, 130.26 MiB) |"));
}

TEST(JsonOutputTest, FloatsAreShortAndFieldsAreThere) {
  v1::Row row = MakeRow("a", 7, {0.1f, -1e-45f, 1, 16777216});
  EXPECT_EQ(RowJson(row, true).dump(),
            R"({"word":"a","row_id":7,"vector":[0.1,-1e-45,1.0,16777216.0]})");

  v1::Table table;
  table.set_name("t");
  table.set_precision(v1::PRECISION_BF16);
  table.set_metric(v1::METRIC_DOT);
  const Json json = TableJson(table);
  EXPECT_EQ(json["rows"], 0);
  EXPECT_EQ(json["parameters"], 0);
  EXPECT_EQ(json["searchable"], false);
  EXPECT_EQ(json["precision"], "bf16");
  EXPECT_EQ(json["metric"], "dot");
  EXPECT_TRUE(json["dimension_names"].is_array());
}

TEST(JsonOutputTest, Nearest) {
  v1::NearestResponse response;
  response.set_method(v1::SEARCH_METHOD_EXACT);
  response.set_device("cpu");
  response.set_precision(v1::PRECISION_FP32);
  v1::QueryResult& good = *response.add_results();
  good.set_exact(true);
  v1::Hit& hit = *good.add_hits();
  hit.set_word("dog");
  hit.set_row_id(1);
  hit.set_score(0.5);
  v1::QueryResult& bad = *response.add_results();
  bad.set_code(5);
  bad.set_error("no word 'x'");
  const Json json = NearestJson(response, {{"cat", {}}, {}}, false);
  EXPECT_EQ(json["results"][0]["query"], "cat");
  EXPECT_EQ(json["results"][0]["hits"].dump(), R"([{"word":"dog","row_id":1,"score":0.5}])");
  EXPECT_EQ(json["results"][0]["exact"], true);
  EXPECT_TRUE(json["results"][0]["error"].is_null());
  EXPECT_TRUE(json["results"][1]["query"].is_null());
  EXPECT_EQ(json["results"][1]["hits"].dump(), "[]");
  EXPECT_EQ(json["results"][1]["error"], "no word 'x'");
}

TEST(JsonOutputTest, InvalidBytesAreReplaced) {
  std::ostringstream out;
  WriteJson(out, {{"text", "\xff"}});
  EXPECT_EQ(out.str(), "{\"text\":\"\uFFFD\"}\n");
}

TEST(ProgressTest, Text) {
  EXPECT_EQ(ProgressText({90'000, 0, {}, absl::Seconds(2)}), "90,000 rows, 45,000 rows/s");
  EXPECT_EQ(ProgressText({90'000, 1'200'000, {}, absl::Seconds(2)}),
            "90,000 rows, 45,000 rows/s, 1.2 MB");
  EXPECT_EQ(ProgressText({1000, 25'000'000, 100'000'000, absl::Seconds(10)}),
            "1,000 rows, 100 rows/s, 25.0 MB of 100.0 MB, 25 %, 30 s left");
  EXPECT_EQ(ProgressText({1000, 1'000'000, 100'000'000, absl::Seconds(10)}),
            "1,000 rows, 100 rows/s, 1.0 MB of 100.0 MB, 1 %, 16 min 30 s left");
}

}  // namespace
}  // namespace vectable
