#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "client/formats/open_reader.h"
#include "client/formats/vector_writer.h"
#include "common/vector_codec.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace vectable {
namespace {

struct Row {
  std::string word;
  std::vector<float> vector;
};

// A value that a table of the precision may hold, of any size: subnormals and negative zero too.
float RandomValue(Precision precision, std::mt19937& random) {
  const VectorCodec codec(precision, 1);
  while (true) {
    const std::vector<float> value = {std::bit_cast<float>(static_cast<uint32_t>(random()))};
    std::string codes;
    if (!std::isfinite(value[0]) || !codec.Encode(value, codes).ok()) continue;
    float held = 0;
    codec.Decode(codes.data(), 1, &held);
    return held;
  }
}

std::vector<Row> RandomRows(size_t rows, uint32_t dimensions, Precision precision) {
  std::mt19937 random(11);
  const std::vector<std::string> words = {"cat",   "\"",   "#",      "1999",     "-.5",
                                          "naïve", "東京", "🙂",   "a\u00A0b", "\uFEFFmark",
                                          "{",     "[x]",  "é\u3000"};
  std::vector<Row> all;
  for (size_t i = 0; i < rows; ++i) {
    Row row{i < words.size() ? words[i] : "w" + std::to_string(i), {}};
    for (uint32_t j = 0; j < dimensions; ++j) row.vector.push_back(RandomValue(precision, random));
    all.push_back(std::move(row));
  }
  return all;
}

absl::Status WriteAll(const std::string& path, const std::string& format,
                      const WriteOptions& options, const std::vector<Row>& rows) {
  absl::StatusOr<std::unique_ptr<VectorWriter>> writer = OpenVectorWriter(path, format, options);
  if (!writer.ok()) return writer.status();
  for (const Row& row : rows) {
    if (absl::Status bad = (*writer)->Add(row.word, row.vector); !bad.ok()) return bad;
  }
  return (*writer)->Finish();
}

void ExpectReadBack(const std::string& path, const std::string& format,
                    const std::vector<Row>& rows) {
  const auto reader = OpenVectorReader(path, {.format = format});
  ASSERT_THAT(reader.status(), IsOk());
  VectorRow read;
  for (const Row& row : rows) {
    const absl::StatusOr<bool> more = (*reader)->Next(read);
    ASSERT_THAT(more.status(), IsOk());
    ASSERT_TRUE(*more) << row.word;
    EXPECT_EQ(read.word, row.word);
    ASSERT_EQ(read.vector.size(), row.vector.size());
    EXPECT_EQ(std::memcmp(read.vector.data(), row.vector.data(), 4 * row.vector.size()), 0)
        << row.word;
  }
  const absl::StatusOr<bool> more = (*reader)->Next(read);
  ASSERT_THAT(more.status(), IsOk());
  EXPECT_FALSE(*more);
}

class WritersTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

  const TempDir folder_;
};

// Every format, by its content and by its name, at every precision: same words, order and bits.
TEST_F(WritersTest, RoundTrips) {
  for (const uint32_t dimensions : {1U, 7U, 300U}) {
    for (const Precision precision : {Precision::kFp32, Precision::kFp16, Precision::kBf16}) {
      const std::vector<Row> rows = RandomRows(40, dimensions, precision);
      for (const std::string& format : WriterFormats()) {
        SCOPED_TRACE(format + " " + std::to_string(dimensions));
        const std::string path = Path("file." + format);
        WriteOptions options{dimensions, rows.size(), precision, Metric::kCosine};
        if (format == "faiss") options.metric = Metric::kEuclidean;
        ASSERT_THAT(WriteAll(path, format, options, rows), IsOk());
        ExpectReadBack(path, format, rows);
        ExpectReadBack(path, "auto", rows);
      }
    }
  }
}

// As where the table was changed between the count and the rows.
TEST_F(WritersTest, AnotherNumberOfRowsThanExpected) {
  std::vector<Row> rows = RandomRows(40, 3, Precision::kFp32);
  for (const std::string& format : WriterFormats()) {
    SCOPED_TRACE(format);
    ASSERT_THAT(WriteAll(Path("more"), format, {3, 41, Precision::kFp32, Metric::kDot}, rows),
                IsOk());
    ExpectReadBack(Path("more"), format, rows);
    ASSERT_THAT(WriteAll(Path("many"), format, {3, 1234, Precision::kFp32, Metric::kDot}, rows),
                IsOk());
    ExpectReadBack(Path("many"), format, rows);
  }
  EXPECT_THAT(WriteAll(Path("few"), "word2vec", {3, 9, Precision::kFp32, Metric::kDot}, rows),
              StatusIs(absl::StatusCode::kAborted, "the table was changed meanwhile"));
}

TEST_F(WritersTest, WordsThatAFormatCannotHold) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"glove", "a\nb"},    {"glove", " a"},         {"glove", "a\t"},
      {"word2vec", "a b"},  {"word2vec-bin", "a b"}, {"tsv", "a\tb"},
      {"npy", "a\rb"},      {"safetensors", "a\nb"}, {"word2vec-bin", "a\nb"},
      {"glove", "may 5"},   {"glove", "x 1e99"},     {"npy", "a\tb"},
      {"npy", "{a"},        {"fvecs", "a\n"},        {"faiss", "\n"},
      {"word2vec", "a\tb"},
  };
  for (const auto& [format, word] : bad) {
    SCOPED_TRACE(format);
    auto writer = OpenVectorWriter(Path("bad"), format, {1, 1, Precision::kFp32, Metric::kDot});
    ASSERT_THAT(writer.status(), IsOk());
    const std::vector<float> vector = {1};
    EXPECT_THAT((*writer)->Add(word, vector),
                StatusIs(absl::StatusCode::kInvalidArgument, "can't be written in"));
    // It is left out, and the next one is written.
    EXPECT_THAT((*writer)->Add("good", vector), IsOk());
    EXPECT_THAT((*writer)->Finish(), IsOk());
    ExpectReadBack(Path("bad"), format, {{"good", {1}}});
  }
  const std::vector<Row> blanks = {{"New York", {1, 2}}, {"a  b", {3, 4}}, {". . .", {5, 6}}};
  for (const std::string format :
       {"glove", "tsv", "jsonl", "npy", "safetensors", "fvecs", "faiss"}) {
    ASSERT_THAT(WriteAll(Path("blanks"), format, {2, 3, Precision::kFp32, Metric::kDot}, blanks),
                IsOk());
    ExpectReadBack(Path("blanks"), format, blanks);
  }
  const std::vector<Row> breaks = {{"two\nlines", {1, 2}}, {"\t", {3, 4}}, {"\\\"\r", {5, 6}}};
  ASSERT_THAT(WriteAll(Path("b.jsonl"), "jsonl", {2, 3, Precision::kFp32, Metric::kDot}, breaks),
              IsOk());
  ExpectReadBack(Path("b.jsonl"), "jsonl", breaks);
}

// A number that might be a header's.
TEST_F(WritersTest, OneDimensionAndNumbersAsWords) {
  const std::vector<Row> rows = {{"2", {1}}, {"3", {4}}};
  ASSERT_THAT(WriteAll(Path("one"), "glove", {1, 2, Precision::kFp32, Metric::kDot}, rows), IsOk());
  ExpectReadBack(Path("one"), "auto", rows);
}

TEST_F(WritersTest, NothingIsLeftBehindUnlessFinished) {
  std::ofstream(Path("old.npy")) << "old";
  {
    auto writer = OpenVectorWriter(Path("old.npy"), "npy", {1, 1, Precision::kFp32, Metric::kDot});
    ASSERT_THAT(writer.status(), IsOk());
    const std::vector<float> vector = {1};
    EXPECT_THAT((*writer)->Add("a", vector), IsOk());
  }
  std::string text;
  std::ifstream(Path("old.npy")) >> text;
  EXPECT_EQ(text, "old");
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    (void)entry;
    ++files;
  }
  EXPECT_EQ(files, 1U);
}

TEST_F(WritersTest, PlacesThatCannotBeWrittenTo) {
  const WriteOptions options{1, 1, Precision::kFp32, Metric::kDot};
  EXPECT_THAT(OpenVectorWriter("/no/such/folder/x", "glove", options).status(),
              StatusIs(absl::StatusCode::kNotFound, "/no/such/folder/x"));
  EXPECT_THAT(OpenVectorWriter(folder_.path(), "glove", options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "is a directory"));
  EXPECT_THAT(OpenVectorWriter("-", "npy", options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "second file"));
  EXPECT_THAT(OpenVectorWriter(Path("x"), "nothing", options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "unknown format 'nothing'"));
  auto full = OpenVectorWriter("/dev/full", "glove", options);
  ASSERT_THAT(full.status(), IsOk());
  const std::vector<float> vector = {1};
  EXPECT_THAT((*full)->Add("a", vector), IsOk());
  EXPECT_THAT((*full)->Finish(), StatusIs(absl::StatusCode::kResourceExhausted, "disk is full"));
}

TEST_F(WritersTest, EndingsOfNames) {
  EXPECT_EQ(WriterFormatFor("a/b.NPY"), "npy");
  EXPECT_EQ(WriterFormatFor("x.vec"), "word2vec");
  EXPECT_EQ(WriterFormatFor("x"), std::nullopt);
  EXPECT_EQ(WriterFormatFor("x.pdf"), std::nullopt);
}

}  // namespace
}  // namespace vectable
