#include "client/formats/glove_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "client/formats/open_reader.h"
#include "tests/client/temp_file.h"

namespace vectable {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Content {
  uint32_t dimensions = 0;
  std::vector<VectorRow> rows;
  absl::Status error;  // what ended it
};

Content ReadAll(const std::string& path, const GloveOptions& options = {},
                size_t limit = SIZE_MAX) {
  Content content;
  const auto reader = OpenVectorReader(path, "auto", options);
  content.error = reader.status();
  if (!reader.ok()) return content;
  content.dimensions = (*reader)->dimensions();
  VectorRow row;
  while (content.rows.size() < limit) {
    const absl::StatusOr<bool> more = (*reader)->Next(row);
    content.error = more.status();
    if (!more.ok() || !*more) break;
    content.rows.push_back(row);
  }
  return content;
}

Content ReadText(std::string_view text, const GloveOptions& options = {}) {
  const TempFile file(text);
  return ReadAll(file.path(), options);
}

std::string ErrorOf(std::string_view text, const GloveOptions& options = {}) {
  return std::string(ReadText(text, options).error.message());
}

// Every file case of expect.json that this format covers.
TEST(GloveReaderTest, ReadsTheCases) {
  std::ifstream in(DataPath("cases/expect.json"));
  size_t cases = 0;
  for (const auto& entry : nlohmann::json::parse(in)) {
    const std::string format = entry["format"];
    if (format != "glove_text" && format != "fasttext_vec" && format != "word2vec_text") continue;
    SCOPED_TRACE(entry["id"]);
    ++cases;
    const nlohmann::json& expect = entry["expect"];
    const size_t limit = entry["options"].value("limit", SIZE_MAX);
    const Content content =
        ReadAll(DataPath("cases/" + entry["file"].get<std::string>()), {}, limit);
    if (expect.contains("error")) {
      EXPECT_FALSE(content.error.ok());
      for (const std::string part : expect["says"]) {
        EXPECT_THAT(std::string(content.error.message()), HasSubstr(part));
      }
      continue;
    }
    ASSERT_TRUE(content.error.ok()) << content.error;
    EXPECT_EQ(content.dimensions, expect["dim"]);
    if (entry["id"] != "H06a" && entry["id"] != "H06b") {
      EXPECT_EQ(content.rows.size(), expect["count"]);
    }
    std::map<std::string, std::vector<float>> rows;
    for (const VectorRow& row : content.rows) rows.emplace(row.word, row.vector);
    for (const auto& [word, values] : expect["rows"].items()) {
      ASSERT_TRUE(rows.contains(word)) << word;
      EXPECT_EQ(rows[word], values.get<std::vector<float>>()) << word;
    }
    for (const std::string word : expect.value("absent", nlohmann::json::array())) {
      EXPECT_FALSE(rows.contains(word)) << word;
    }
  }
  EXPECT_GE(cases, 9u);
}

TEST(GloveReaderTest, TabsBlanksAndEmptyLines) {
  const Content content = ReadText("\nNew York\t1\t2 \t\n  \n a  b \t 3   4\r\n\n\n");
  ASSERT_TRUE(content.error.ok()) << content.error;
  ASSERT_EQ(content.rows.size(), 2u);
  EXPECT_EQ(content.rows[0].word, "New York");
  EXPECT_EQ(content.rows[0].line, 2u);
  EXPECT_EQ(content.rows[1].word, "a  b");
  EXPECT_THAT(content.rows[1].vector, ElementsAre(3, 4));
  EXPECT_EQ(content.rows[1].line, 4u);
}

TEST(GloveReaderTest, GzipIsReadByItsContent) {
  const TempFile file(Gzip("a 1 2\nb 3 4"));
  const Content content = ReadAll(file.path());
  ASSERT_TRUE(content.error.ok()) << content.error;
  EXPECT_EQ(content.rows.size(), 2u);
}

TEST(GloveReaderTest, TruncatedAndCorruptGzip) {
  std::string text;
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    text += "w" + std::to_string(i) + " " + std::to_string(random()) + " 2\n";
  }
  const std::string packed = Gzip(text);
  const TempFile half(std::string_view(packed).substr(0, packed.size() / 2));
  const Content first = ReadAll(half.path());
  EXPECT_TRUE(absl::IsDataLoss(first.error)) << first.error;
  EXPECT_THAT(std::string(first.error.message()),
              AllOf(HasSubstr(half.path() + ":"), HasSubstr("truncated")));
  EXPECT_GT(first.rows.size(), 1000u);

  std::string broken = packed;
  for (size_t i = 0; i < 64; ++i) broken[packed.size() / 2 + i] ^= 0x55;
  const TempFile damaged(broken);
  const Content second = ReadAll(damaged.path());
  EXPECT_TRUE(absl::IsDataLoss(second.error)) << second.error;
  EXPECT_THAT(std::string(second.error.message()), HasSubstr("gzip data is corrupt"));
}

TEST(GloveReaderTest, HeaderAndItsCount) {
  EXPECT_EQ(ReadText("2 3\na 1 2 3\nb 4 5 6\n").rows.size(), 2u);
  EXPECT_THAT(ErrorOf("1 2\na 1 2\nb 3 4\n"),
              HasSubstr(":3: the header promises 1 rows, the file holds 2"));
  EXPECT_THAT(ErrorOf("2 5\na 1 2 3\nb 4 5 6\n"),
              HasSubstr(":1: the header promises 5 values per row, but the rows have 3"));
  EXPECT_THAT(ErrorOf("7 3\n"), HasSubstr("the header promises 7 rows, the file holds 0"));
  // Rows of one dimension, the first of them a number by name.
  const Content single = ReadText("12 7\nthirteen 8\nfourteen 9\n");
  EXPECT_EQ(single.dimensions, 1u);
  EXPECT_EQ(single.rows.size(), 3u);
}

TEST(GloveReaderTest, DimensionsComeFromMostLines) {
  // A broken line doesn't make the others' words longer.
  const Content broken = ReadText("a 1 2 3\nb 1 2\nc 1 2 3\n");
  EXPECT_EQ(broken.dimensions, 3u);
  EXPECT_THAT(std::string(broken.error.message()),
              HasSubstr(":2: the line has too few fields (expected a word and 3 values, found 3"));
  // Words that end in numbers don't make the vector longer.
  const Content words = ReadText("apollo 11 0.5 0.25\nthe 1 2\ncat 3 4\n");
  EXPECT_EQ(words.dimensions, 2u);
  EXPECT_EQ(words.rows[0].word, "apollo 11");
  // What the table has decides where the lines leave a choice, and --dim decides always.
  EXPECT_EQ(ReadText("a 1 1 2\nb 1 2\n", {.likely_dimensions = 2}).dimensions, 2u);
  EXPECT_EQ(ReadText("a 1 1 2\nb 1 1 2\n", {.dimensions = 2}).rows[1].word, "b 1");
}

TEST(GloveReaderTest, BadRowsNameLineReasonExpectedFound) {
  EXPECT_THAT(
      ErrorOf("a 1 2\nb nan 2\nc 1 2\n"),
      HasSubstr(":2: word 'b': value 1 of 2 is bad (expected a finite number, found 'nan')"));
  EXPECT_THAT(ErrorOf("a 1 2\nb 1 -Infinity\nc 1 2\n"), HasSubstr("found '-Infinity'"));
  EXPECT_THAT(ErrorOf("a 1 2\nb 1 4e38\nc 1 2\n"), HasSubstr("range of fp32, found '4e38'"));
  EXPECT_THAT(ErrorOf("a 1 2\nb 1,5 2\nc 1 2\n"), HasSubstr("expected a number, found '1,5'"));
  EXPECT_THAT(ErrorOf("a 1 2\nb 0x1 2\nc 1 2\n"), HasSubstr("found '0x1'"));
  EXPECT_THAT(ErrorOf("a 1 2\nb 1e 2\nc 1 2\n"), HasSubstr("found '1e'"));
  EXPECT_THAT(ErrorOf("a 1 2\n\xff\xfe 1 2\n"),
              HasSubstr(":2: word '\\xff\\xfe' is not valid UTF-8"));
  EXPECT_THAT(ErrorOf("a 1 2\n" + std::string(4097, 'x') + " 1 2\nb 1 2\n"),
              HasSubstr("has 4097 bytes; the limit is 4096"));
  EXPECT_THAT(ErrorOf("one\ntwo\n"), HasSubstr(":1: the line is no row"));
}

TEST(GloveReaderTest, ReadingGoesOnBehindABadRow) {
  const TempFile file("a 1 2\nb x 2\nc 3 4\n");
  const auto reader = OpenVectorReader(file.path(), "glove", {});
  ASSERT_TRUE(reader.ok());
  VectorRow row;
  EXPECT_TRUE(*(*reader)->Next(row));
  EXPECT_TRUE(absl::IsInvalidArgument((*reader)->Next(row).status()));
  EXPECT_TRUE(*(*reader)->Next(row));
  EXPECT_EQ(row.word, "c");
  EXPECT_FALSE(*(*reader)->Next(row));
  EXPECT_EQ((*reader)->bytes_read(), (*reader)->total_bytes());
}

TEST(GloveReaderTest, ATooLongLineIsPassedOver) {
  const TempFile file("a 1 2\n" + std::string(3'000'000, '1') + " 2\nc 3 4\n");
  const auto reader = OpenVectorReader(file.path(), "glove", {});
  ASSERT_TRUE(reader.ok()) << reader.status();
  VectorRow row;
  EXPECT_TRUE(*(*reader)->Next(row));
  const absl::Status error = (*reader)->Next(row).status();
  EXPECT_TRUE(absl::IsInvalidArgument(error));
  EXPECT_THAT(std::string(error.message()),
              HasSubstr(":2: the line is too long (expected at most"));
  EXPECT_TRUE(*(*reader)->Next(row));
  EXPECT_EQ(row.line, 3u);
}

TEST(GloveReaderTest, FilesThatAreNoText) {
  EXPECT_TRUE(absl::IsNotFound(ReadAll("/no/such/file").error));
  EXPECT_THAT(std::string(ReadAll("/no/such/file").error.message()),
              HasSubstr("/no/such/file: cannot open the file: No such file"));
  EXPECT_THAT(std::string(ReadAll("/tmp").error.message()), HasSubstr("/tmp: is a directory"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("the file is empty"));
  EXPECT_THAT(ErrorOf("\n \n"), HasSubstr("only blank lines"));
  EXPECT_THAT(ErrorOf(Gzip("")), HasSubstr("the file is empty"));
  EXPECT_THAT(ErrorOf("PK\x03\x04 and more"), HasSubstr("zip archive"));
  EXPECT_THAT(ErrorOf("\xff\xfe"
                      "a"),
              HasSubstr("UTF-16"));
  EXPECT_THAT(ErrorOf(std::string_view("a\0b 1 2\n", 8)), HasSubstr("NUL bytes"));
}

TEST(GloveReaderTest, ManyLinesAcrossBuffers) {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += "word" + std::to_string(i) + " 0.25 -1e-3 3\r\n";
  const Content content = ReadText(text);
  ASSERT_TRUE(content.error.ok()) << content.error;
  ASSERT_EQ(content.rows.size(), 60'000u);
  EXPECT_EQ(content.rows[59'999].word, "word59999");
  EXPECT_EQ(content.rows[59'999].line, 60'000u);
  EXPECT_THAT(content.rows[31'234].vector, ElementsAre(0.25f, -1e-3f, 3.f));
}

}  // namespace
}  // namespace vectable
