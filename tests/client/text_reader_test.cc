#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <atomic>
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

Content ReadAll(const std::string& path, const ReadOptions& options = {}, size_t limit = SIZE_MAX) {
  Content content;
  const auto reader = OpenVectorReader(path, options);
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

Content ReadText(std::string_view text, const ReadOptions& options = {}) {
  const TempFile file(text);
  return ReadAll(file.path(), options);
}

std::string ErrorOf(std::string_view text, const ReadOptions& options = {}) {
  return std::string(ReadText(text, options).error.message());
}

TEST(TextReaderTest, TabsBlanksAndEmptyLines) {
  const Content content = ReadText("\nNew York\t1\t2 \t\n  \n a  b \t 3   4\r\n\n\n");
  ASSERT_TRUE(content.error.ok()) << content.error;
  ASSERT_EQ(content.rows.size(), 2u);
  EXPECT_EQ(content.rows[0].word, "New York");
  EXPECT_EQ(content.rows[0].place, 2u);
  EXPECT_EQ(content.rows[1].word, "a  b");
  EXPECT_THAT(content.rows[1].vector, ElementsAre(3, 4));
  EXPECT_EQ(content.rows[1].place, 4u);
}

TEST(TextReaderTest, GzipIsReadByItsContent) {
  const TempFile file(Gzip("a 1 2\nb 3 4"));
  const Content content = ReadAll(file.path());
  ASSERT_TRUE(content.error.ok()) << content.error;
  EXPECT_EQ(content.rows.size(), 2u);
}

TEST(TextReaderTest, TruncatedAndCorruptGzip) {
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
  // What is unpacked before the fault shows may be no rows.
  EXPECT_FALSE(ReadText(broken).error.ok());
  broken = packed;
  broken[packed.size() - 8] ^= 1;  // of the checksum
  const TempFile damaged(broken);
  const Content second = ReadAll(damaged.path());
  EXPECT_TRUE(absl::IsDataLoss(second.error)) << second.error;
  EXPECT_THAT(std::string(second.error.message()), HasSubstr("gzip data is corrupt"));
}

TEST(TextReaderTest, HeaderAndItsCount) {
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

TEST(TextReaderTest, DimensionsComeFromMostLines) {
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

TEST(TextReaderTest, BadRowsNameLineReasonExpectedFound) {
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

TEST(TextReaderTest, ReadingGoesOnBehindABadRow) {
  const TempFile file("a 1 2\nb x 2\nc 3 4\n");
  const auto reader = OpenVectorReader(file.path(), {.format = "glove"});
  ASSERT_TRUE(reader.ok());
  VectorRow row;
  EXPECT_TRUE(*(*reader)->Next(row));
  EXPECT_TRUE(absl::IsInvalidArgument((*reader)->Next(row).status()));
  EXPECT_TRUE(*(*reader)->Next(row));
  EXPECT_EQ(row.word, "c");
  EXPECT_FALSE(*(*reader)->Next(row));
  EXPECT_EQ((*reader)->bytes_read(), (*reader)->total_bytes());
}

TEST(TextReaderTest, ATooLongLineIsPassedOver) {
  const TempFile file("a 1 2\n" + std::string(3'000'000, '1') + " 2\nc 3 4\n");
  const auto reader = OpenVectorReader(file.path(), {.format = "glove"});
  ASSERT_TRUE(reader.ok()) << reader.status();
  VectorRow row;
  EXPECT_TRUE(*(*reader)->Next(row));
  const absl::Status error = (*reader)->Next(row).status();
  EXPECT_TRUE(absl::IsInvalidArgument(error));
  EXPECT_THAT(std::string(error.message()),
              HasSubstr(":2: the line is too long (expected at most"));
  EXPECT_TRUE(*(*reader)->Next(row));
  EXPECT_EQ(row.place, 3u);
}

TEST(TextReaderTest, FilesThatAreNoText) {
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
  EXPECT_THAT(ErrorOf(std::string_view("a\0b 1 2\n", 8), {.format = "text"}),
              HasSubstr("NUL bytes"));
  EXPECT_THAT(ErrorOf(std::string_view("a\0b 1 2\n", 8)), HasSubstr("name its format"));
  EXPECT_THAT(std::string(ReadAll("/dev/zero").error.message()), HasSubstr("is a device"));
  EXPECT_THAT(ErrorOf("\x93NUMPY\x01", {.format = "glove"}), HasSubstr("seems to be npy"));
  EXPECT_THAT(ErrorOf("[{\"word\": \"a\", \"vector\": [1]}]"), HasSubstr("JSON array"));
  EXPECT_THAT(ErrorOf("a 1 2\n", {.format = "nothing"}), HasSubstr("unknown format 'nothing'"));
}

TEST(TextReaderTest, ManyLinesAcrossBuffers) {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += "word" + std::to_string(i) + " 0.25 -1e-3 3\r\n";
  const Content content = ReadText(text);
  ASSERT_TRUE(content.error.ok()) << content.error;
  ASSERT_EQ(content.rows.size(), 60'000u);
  EXPECT_EQ(content.rows[59'999].word, "word59999");
  EXPECT_EQ(content.rows[59'999].place, 60'000u);
  EXPECT_THAT(content.rows[31'234].vector, ElementsAre(0.25f, -1e-3f, 3.f));
}

std::string Zstd(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

TEST(TextReaderTest, ZstdAndPackedPiecesInARow) {
  EXPECT_EQ(ReadText(Zstd("a 1 2\nb 3 4")).rows.size(), 2u);
  EXPECT_EQ(ReadText(Zstd("a 1 2\nb 3") + Zstd(" 4\nc 5 6\n")).rows.size(), 3u);
  const std::string first = Gzip("a 1 2\nb 3");
  EXPECT_EQ(ReadText(first + Gzip(" 4\nc 5 6\n")).rows.size(), 3u);
  EXPECT_EQ(ReadText(Gzip("a 1 2\nb 3 4\n") + std::string(700, '\0')).rows.size(), 2u);
  // What follows isn't passed over: it may be the next piece, damaged.
  std::string broken = first + Gzip(" 4\nc 5 6\n");
  broken[first.size() + 1] ^= 1;
  EXPECT_THAT(ErrorOf(broken), HasSubstr("gzip data is corrupt"));
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "w" + std::to_string(i) + " 1 2\n";
  const std::string packed = Zstd(text);
  const Content cut = ReadText(packed.substr(0, packed.size() - 9));
  EXPECT_TRUE(absl::IsDataLoss(cut.error)) << cut.error;
  EXPECT_THAT(std::string(cut.error.message()), HasSubstr("zstd data is truncated"));
}

// Separators are blanks and tabs alone: all else that Unicode calls space is part of a word.
TEST(TextReaderTest, OtherWhiteSpaceBelongsToWords) {
  for (const std::string space : {"\u00A0", "\u2003", "\u3000", "\u0085", "\u2028", "\v", "\f"}) {
    const Content content = ReadText("a" + space + "b 1 2\n" + space + " 3 4\nc 5 6\n");
    ASSERT_TRUE(content.error.ok()) << content.error;
    ASSERT_EQ(content.rows.size(), 3u);
    EXPECT_EQ(content.rows[0].word, "a" + space + "b");
    EXPECT_EQ(content.rows[1].word, space);
  }
}

TEST(TextReaderTest, WordsWithAnotherEncoding) {
  const std::string text = "caf\xE9 1 2\nna\xEF\xBFve 3 4\nx 5 6\n";
  EXPECT_THAT(ErrorOf(text), HasSubstr(":1: word 'caf\\xe9' is not valid UTF-8"));
  const Content latin = ReadText(text, {.words = {.encoding = TextEncoding::kLatin1}});
  ASSERT_TRUE(latin.error.ok()) << latin.error;
  EXPECT_EQ(latin.rows[0].word, "caf\u00E9");
  EXPECT_EQ(latin.rows[1].word, "na\u00EF\u00BFve");
  // As Python's "replace": each maximal part of an ill-formed sequence is one U+FFFD.
  const Content replaced = ReadText(text, {.words = {.on_bad_utf8 = OnBadUtf8::kReplace}});
  ASSERT_TRUE(replaced.error.ok()) << replaced.error;
  EXPECT_EQ(replaced.rows[0].word, "caf\uFFFD");
  EXPECT_EQ(replaced.rows[1].word, "na\uFFFDve");
  const Content skipped = ReadText(text, {.words = {.on_bad_utf8 = OnBadUtf8::kSkip}});
  EXPECT_TRUE(IsToLeaveOut(skipped.error));
}

TEST(TextReaderTest, Repairs) {
  const auto repaired = [](std::string text) {
    EXPECT_TRUE(WordRules{.on_bad_utf8 = OnBadUtf8::kReplace}.ToUtf8(text).ok());
    return text;
  };
  // The examples of Unicode 15, table 3-8 to 3-11, and a whole character cut at each byte.
  EXPECT_EQ(repaired("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\x41");
  EXPECT_EQ(repaired("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\x41");
  EXPECT_EQ(repaired("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\x41\uFFFD\uFFFD\x42");
  EXPECT_EQ(repaired("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), "\uFFFD\uFFFD\uFFFD\uFFFD\x41");
  for (const std::string whole : {"\u00E9", "\u20AC", "\U0001F600"}) {
    EXPECT_EQ(repaired(whole), whole);
    for (size_t cut = 1; cut < whole.size(); ++cut) {
      EXPECT_EQ(repaired("a" + whole.substr(0, cut) + "b"), "a\uFFFDb");
    }
  }
}

TEST(TextReaderTest, Lowercases) { EXPECT_EQ(Lowercase("GRÖSSE ÀÉ ЖЯ"), "grösse àé жя"); }

TEST(TextReaderTest, AWordThatEndsInANumberIsTold) {
  const TempFile file("a 1 2\nb 3 4\ncat 0.5 1 2\n");
  const auto reader = OpenVectorReader(file.path(), {});
  ASSERT_TRUE(reader.ok()) << reader.status();
  VectorRow row;
  while (*(*reader)->Next(row)) {
  }
  EXPECT_EQ(row.word, "cat 0.5");
  EXPECT_THAT((*reader)->Doubts(), AllOf(HasSubstr("'cat 0.5'"), HasSubstr(":3")));
}

TEST(TextReaderTest, Csv) {
  const Content content = ReadText(
      "word,Object,Animal\r\ncat,0,1\r\n\"New "
      "\"\"York\"\"\",1,0\n\"two\nlines\",-.5,1e-3\n,,5,6\n");
  ASSERT_TRUE(content.error.ok()) << content.error;
  ASSERT_EQ(content.rows.size(), 4u);
  EXPECT_EQ(content.rows[1].word, "New \"York\"");
  EXPECT_EQ(content.rows[2].word, "two\nlines");
  EXPECT_EQ(content.rows[2].place, 4u);
  EXPECT_EQ(content.rows[3].word, ",");
  EXPECT_EQ(content.rows[3].place, 6u);
  EXPECT_THAT(content.rows[2].vector, ElementsAre(-.5f, 1e-3f));
  const TempFile file("word,Object,Animal\ncat,0,1\n");
  EXPECT_THAT((*OpenVectorReader(file.path(), {}))->dimension_names(),
              ElementsAre("Object", "Animal"));
  EXPECT_THAT(ErrorOf("a,1,2\nb,1\n"), HasSubstr(":2: the line has too few fields"));
  EXPECT_THAT(ErrorOf("a,1,2\nb,1,x\n", {.dimensions = 2}), HasSubstr("found 'x'"));
  // Columns that are numbered, as pandas writes a matrix; blanks around a word are its own.
  for (const std::string header : {",0,1\n", "word,0,1\n"}) {
    const Content numbered = ReadText(header + "cat,3,4\n cat ,5,6\n");
    ASSERT_TRUE(numbered.error.ok()) << numbered.error;
    ASSERT_EQ(numbered.rows.size(), 2u);
    EXPECT_EQ(numbered.rows[0].word, "cat");
    EXPECT_EQ(numbered.rows[1].word, " cat ");
  }
  // A first line that can't be a header of these rows is a bad row.
  for (const std::string line : {"cat\n", "the,,\n", "cat,abc,def,ghi\n"}) {
    EXPECT_THAT(ErrorOf(line + "dog,1,2\nbird,3,4\n"), HasSubstr(":1: ")) << line;
  }
  EXPECT_EQ(ReadText("word,x,y\ncat,1,2").rows.size(), 1u);
  EXPECT_THAT(ErrorOf("word,x,y\na,1,2\n\"open,1,2\nb,1,2\n"),
              HasSubstr(":3: a quote that begins in this line isn't closed"));
  // A comma is a word of GloVe's, too.
  EXPECT_EQ(ReadText(", 1 2\n. 3 4\n").rows[0].word, ",");
}

// Words may hold control characters, and then a text isn't a binary file.
TEST(TextReaderTest, ControlCharactersInWords) {
  const Content content = ReadText(
      "2 3\n\x01"
      "a 0.1 0.2 0.3\nb 1 2 3\n");
  ASSERT_TRUE(content.error.ok()) << content.error;
  ASSERT_EQ(content.rows.size(), 2u);
  EXPECT_EQ(content.rows[0].word,
            "\x01"
            "a");
  EXPECT_EQ(ReadText("GGUFx 1 2\nb 3 4\n").rows.size(), 2u);
  EXPECT_EQ(ReadText("IxFI 1 2\nb 3 4\n").rows.size(), 2u);
}

// One wide row among many short lines, all of which are bad.
TEST(TextReaderTest, ShortLinesWhereRowsAreWide) {
  std::string text = "wide";
  for (uint32_t i = 0; i < 65'536; ++i) text += " 1";
  text += "\n";
  for (int i = 0; i < 3'000; ++i) text += "a\n";
  const TempFile file(text);
  const auto reader = OpenVectorReader(file.path(), {});
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->dimensions(), 65'536u);
  VectorRow row;
  EXPECT_TRUE(*(*reader)->Next(row));
  for (int i = 0; i < 3'000; ++i) {
    EXPECT_TRUE(absl::IsInvalidArgument((*reader)->Next(row).status()));
  }
  EXPECT_FALSE(*(*reader)->Next(row));
}

TEST(TextReaderTest, JsonLines) {
  const Content content = ReadText(
      "{\"word\": \"cat\", \"vector\": [1, -2.5e-1]}\n"
      "{\"vector\":[3,4],\"id\":{\"vector\":[1]},\"word\":\"\\u00e9\\n\"}\n");
  ASSERT_TRUE(content.error.ok()) << content.error;
  ASSERT_EQ(content.rows.size(), 2u);
  EXPECT_EQ(content.rows[1].word, "\u00E9\n");
  EXPECT_THAT(content.rows[1].vector, ElementsAre(3, 4));
  const std::string good = "{\"word\": \"a\", \"vector\": [1, 2]}\n";
  const auto second = [&good](std::string_view line) { return ErrorOf(good + std::string(line)); };
  EXPECT_THAT(second("{\"word\": \"b\", \"vector\": [1]}"), HasSubstr("(expected 2, found 1)"));
  EXPECT_THAT(second("{\"word\": \"b\", \"vector\": [1, NaN]}"),
              AllOf(HasSubstr(":2: "), HasSubstr("not JSON")));
  EXPECT_THAT(second("{\"word\": \"b\", \"vector\": [1, \"2\"]}"),
              HasSubstr("value 2 of 2 is a text (expected a number)"));
  EXPECT_THAT(second("{\"word\": \"b\", \"vector\": [1, 1e300]}"), HasSubstr("range of fp32"));
  EXPECT_THAT(second("{\"word\": 5, \"vector\": [1, 2]}"),
              HasSubstr("member \"word\" is a number"));
  EXPECT_THAT(second("{\"vector\": [1, 2]}"), HasSubstr("no member \"word\""));
  EXPECT_THAT(second("{\"word\": \"b\"}"), HasSubstr("no member \"vector\""));
  EXPECT_THAT(second("7"), HasSubstr("(expected an object)"));
  EXPECT_THAT(second("{\"word\": \"b\", \"vector\": [1, 2]"), HasSubstr("not JSON"));
  // Numbers are rounded once, from their text.
  EXPECT_EQ(ReadText("{\"x\": 1, \"word\": \"a\", \"vector\": [1.00000005960464477540]}\n")
                .rows[0]
                .vector[0],
            ReadText("a 1.00000005960464477540\n").rows[0].vector[0]);
}

TEST(TextReaderTest, TheProjectorsPair) {
  const TempFile words("label\tcount\ncat\t3\nNew York\t4\n");
  const TempFile vectors("1\t2\n3\t4\n");
  const Content content = ReadAll(vectors.path(), {.vocabulary = words.path()});
  ASSERT_TRUE(content.error.ok()) << content.error;
  ASSERT_EQ(content.rows.size(), 2u);
  EXPECT_EQ(content.rows[1].word, "New York");
  EXPECT_THAT(content.rows[1].vector, ElementsAre(3, 4));
  const TempFile few("one\n");
  EXPECT_THAT(std::string(ReadAll(vectors.path(), {.vocabulary = few.path()}).error.message()),
              HasSubstr(":2: there are only 1 words from"));
  const TempFile many("one\ntwo\nthree\n");
  EXPECT_THAT(std::string(ReadAll(vectors.path(), {.vocabulary = many.path()}).error.message()),
              HasSubstr("holds 2 rows, but there are more words"));
}

// Whatever the threads do, rows come in the order of the file, and an error after all before it.
TEST(TextReaderTest, OrderOnManyThreads) {
  std::string text;
  for (int i = 0; i < 30'000; ++i) {
    text += i % 7'000 == 6'999 ? "bad x y\n" : "w" + std::to_string(i) + " 1 2\n";
  }
  const TempFile file(text);
  for (const size_t threads : {1, 2, 7}) {
    const auto reader = OpenVectorReader(file.path(), {.threads = threads});
    ASSERT_TRUE(reader.ok()) << reader.status();
    VectorRow row;
    for (uint64_t line = 1; line <= 30'000; ++line) {
      const absl::StatusOr<bool> more = (*reader)->Next(row);
      EXPECT_EQ(row.place, line);
      EXPECT_EQ(more.ok(), line % 7'000 != 0);
    }
    EXPECT_FALSE(*(*reader)->Next(row));
  }
  // Left in the middle.
  const auto reader = OpenVectorReader(file.path(), {.threads = 3});
  VectorRow row;
  EXPECT_TRUE(*(*reader)->Next(row));
}

TEST(TextReaderTest, AWaitIsEndedWhenInterrupted) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string text = "a 1 2\n";
  ASSERT_EQ(write(ends[1], text.data(), text.size()), 6);
  std::atomic<bool> interrupted = false;
  const std::string path = "/proc/self/fd/" + std::to_string(ends[0]);
  std::string long_text;
  for (int i = 0; i < 1'000; ++i) long_text += "b 1 2\n";
  ASSERT_EQ(write(ends[1], long_text.data(), long_text.size()),
            static_cast<ssize_t>(long_text.size()));
  const auto reader = OpenVectorReader(path, {.interrupted = [&] { return interrupted.load(); }});
  ASSERT_TRUE(reader.ok()) << reader.status();
  VectorRow row;
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(*(*reader)->Next(row));
  interrupted = true;
  // The last row may still come.
  absl::StatusOr<bool> more = (*reader)->Next(row);
  if (more.ok()) more = (*reader)->Next(row);
  EXPECT_TRUE(absl::IsCancelled(more.status())) << more.status();
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace vectable
