// The binary formats of vectors, each file built here byte by byte from its format's description.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/formats/open_reader.h"
#include "client/formats/vector_reader.h"
#include "client/formats/word_text.h"
#include "tests/client/temp_file.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace vectable {
namespace {

using absl::StatusCode;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pointwise;

using Matrix = std::vector<std::vector<float>>;

// ---- Numbers as bytes ----

std::string Le(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

std::string F64(double value) { return Le(std::bit_cast<uint64_t>(value), 8); }
std::string F32(double value) { return Le(std::bit_cast<uint32_t>(static_cast<float>(value)), 4); }
// Of a value that binary16 holds exactly and that isn't subnormal.
std::string F16(double value) {
  if (value == 0) return Le(0, 2);
  int exponent = 0;
  const double mantissa = std::frexp(std::abs(value), &exponent);  // 0.5 to 1
  const uint64_t sign = value < 0 ? 0x8000 : 0;
  return Le(sign | static_cast<uint64_t>(exponent + 14) << 10 |
                static_cast<uint64_t>((2 * mantissa - 1) * 1024),
            2);
}
// Of a value that bfloat16 holds exactly.
std::string Bf16(double value) { return F32(value).substr(2); }
std::string Byte(double value) { return std::string(1, static_cast<char>(std::lround(value))); }

using Encode = std::string (*)(double);

std::string Row(const std::vector<float>& row, Encode encode = F32) {
  std::string bytes;
  for (const float value : row) bytes += encode(value);
  return bytes;
}

std::string Rows(const Matrix& rows, Encode encode = F32) {
  std::string bytes;
  for (const std::vector<float>& row : rows) bytes += Row(row, encode);
  return bytes;
}

std::string Columns(const Matrix& rows, Encode encode = F32) {
  std::string bytes;
  for (size_t column = 0; column < rows[0].size(); ++column) {
    for (const std::vector<float>& row : rows) bytes += encode(row[column]);
  }
  return bytes;
}

// The same numbers in the other byte order.
std::string Swapped(std::string bytes, size_t size) {
  for (auto at = bytes.begin(); at != bytes.end(); at += static_cast<std::ptrdiff_t>(size)) {
    std::reverse(at, at + static_cast<std::ptrdiff_t>(size));
  }
  return bytes;
}

const Matrix kTwoByThree = {{1, -2, 3}, {0.5, 8, -16}};

// ---- Files ----

// `header` is Python's text of the dictionary.
std::string NpyOf(const std::string& header, const std::string& data, int version = 1) {
  const size_t length_bytes = version == 1 ? 2 : 4;
  std::string text = header;
  while ((8 + length_bytes + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' +
         Le(text.size(), length_bytes) + text + data;
}

std::string Npy(const std::string& descr, const std::string& shape, const std::string& data,
                bool fortran = false, int version = 1) {
  return NpyOf("{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                   ", 'shape': " + shape + ", }",
               data, version);
}

std::string Fvecs(const Matrix& rows) {
  std::string bytes;
  for (const std::vector<float>& row : rows) bytes += Le(row.size(), 4) + Row(row);
  return bytes;
}

std::string Bvecs(const Matrix& rows) {
  std::string bytes;
  for (const std::vector<float>& row : rows) bytes += Le(row.size(), 4) + Row(row, Byte);
  return bytes;
}

std::string Fbin(const Matrix& rows) {
  return Le(rows.size(), 4) + Le(rows[0].size(), 4) + Rows(rows);
}

std::string Faiss(const Matrix& rows) {
  const size_t dimensions = rows[0].size();
  return "IxFI" + Le(dimensions, 4) + Le(rows.size(), 8) + Le(1 << 20, 8) + Le(1 << 20, 8) +
         Le(1, 1) + Le(0, 4) + Le(rows.size() * dimensions, 8) + Rows(rows);
}

struct Named {
  std::string word;
  std::vector<float> vector;
};

// `after` stands behind each vector.
std::string Word2vec(const std::vector<Named>& rows, const std::string& after = "") {
  std::string bytes =
      std::to_string(rows.size()) + " " + std::to_string(rows[0].vector.size()) + "\n";
  for (const Named& row : rows) bytes += row.word + " " + Row(row.vector) + after;
  return bytes;
}

struct FasttextModel {
  uint64_t buckets = 0;
  uint64_t min_gram = 0;
  uint64_t max_gram = 0;
  std::vector<std::string> words = {};
  std::vector<std::string> labels = {};
  Matrix matrix = {};  // of the words, then of the buckets
  bool quantised = false;
};

// Up to the end of its input matrix, which is all that the vectors of words need.
std::string Fasttext(const FasttextModel& model) {
  std::string bytes = Le(793'712'314, 4) + Le(12, 4);
  const uint64_t dimensions = model.matrix[0].size();
  // dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn, lrUpdateRate.
  for (const uint64_t argument : std::vector<uint64_t>{
           dimensions, 5, 5, 1, 5, 1, 2, 1, model.buckets, model.min_gram, model.max_gram, 100}) {
    bytes += Le(argument, 4);
  }
  bytes += F64(1e-4);
  const size_t entries = model.words.size() + model.labels.size();
  bytes += Le(entries, 4) + Le(model.words.size(), 4) + Le(model.labels.size(), 4);
  bytes += Le(1000, 8) + Le(UINT64_MAX, 8);  // tokens; nothing is pruned
  for (const std::string& word : model.words) bytes += word + '\0' + Le(7, 8) + Le(0, 1);
  for (const std::string& label : model.labels) bytes += label + '\0' + Le(7, 8) + Le(1, 1);
  bytes += Le(model.quantised ? 1 : 0, 1);
  return bytes + Le(model.matrix.size(), 8) + Le(dimensions, 8) + Rows(model.matrix);
}

// What stands behind the input matrix: the output matrix, which nothing needs.
std::string FasttextOutput(const Matrix& matrix) {
  return Le(0, 1) + Le(matrix.size(), 8) + Le(matrix[0].size(), 8) + Rows(matrix);
}

struct Tensor {
  std::string name;
  std::string type;
  std::vector<uint64_t> shape;
  std::string data;
};

std::string Safetensors(const std::vector<Tensor>& tensors) {
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}";
  std::string data;
  for (const Tensor& tensor : tensors) {
    std::string shape;
    for (const uint64_t size : tensor.shape) {
      shape += (shape.empty() ? "" : ",") + std::to_string(size);
    }
    header += ",\"" + tensor.name + "\":{\"dtype\":\"" + tensor.type + "\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(data.size()) + ",";
    data += tensor.data;
    header += std::to_string(data.size()) + "]}";
  }
  header += "}";
  return Le(header.size(), 8) + header + data;
}

Tensor FloatTensor(const std::string& name, const Matrix& rows) {
  return {name, "F32", {rows.size(), rows[0].size()}, Rows(rows)};
}

std::string GgufText(const std::string& text) { return Le(text.size(), 8) + text; }

// A file with the tensor token_embd.weight and, unless there are none, tokens.
std::string Gguf(uint32_t type, uint64_t rows, uint64_t dimensions, const std::string& data,
                 const std::vector<std::string>& tokens) {
  constexpr uint32_t kText = 8;
  constexpr uint32_t kArray = 9;
  std::string bytes = "GGUF" + Le(3, 4) + Le(1, 8) + Le(tokens.empty() ? 1 : 2, 8);
  bytes += GgufText("general.architecture") + Le(kText, 4) + GgufText("llama");
  if (!tokens.empty()) {
    bytes +=
        GgufText("tokenizer.ggml.tokens") + Le(kArray, 4) + Le(kText, 4) + Le(tokens.size(), 8);
    for (const std::string& token : tokens) bytes += GgufText(token);
  }
  bytes += GgufText("token_embd.weight") + Le(2, 4) + Le(dimensions, 8) + Le(rows, 8) +
           Le(type, 4) + Le(0, 8);
  bytes.resize((bytes.size() + 31) / 32 * 32);
  return bytes + data;
}

// ---- Reading ----

struct Content {
  uint32_t dimensions = 0;
  std::vector<VectorRow> rows;
  std::vector<absl::Status> bad;  // rows that were passed over
  absl::Status error;             // what ended it
  std::string doubts;
  std::string description;

  std::vector<std::string> words() const {
    std::vector<std::string> words;
    for (const VectorRow& row : rows) words.push_back(row.word);
    return words;
  }
  Matrix vectors() const {
    Matrix vectors;
    for (const VectorRow& row : rows) vectors.push_back(row.vector);
    return vectors;
  }
};

Content ReadAll(const std::string& path, const ReadOptions& options = {}) {
  constexpr size_t kMostBad = 100;
  Content content;
  const auto reader = OpenVectorReader(path, options);
  content.error = reader.status();
  if (!reader.ok()) return content;
  content.dimensions = (*reader)->dimensions();
  content.description = (*reader)->Description();
  VectorRow row;
  while (content.bad.size() < kMostBad) {
    const absl::StatusOr<bool> more = (*reader)->Next(row);
    if (absl::IsInvalidArgument(more.status())) {
      content.bad.push_back(more.status());
      continue;
    }
    content.error = more.status();
    if (!more.ok() || !*more) break;
    content.rows.push_back(row);
  }
  content.doubts = (*reader)->Doubts();
  return content;
}

class BinaryFormatsTest : public ::testing::Test {
 protected:
  std::string PathOf(const std::string& name) const { return dir_.path() + "/" + name; }

  std::string Save(const std::string& name, std::string_view bytes) const {
    std::ofstream(PathOf(name), std::ios::binary) << bytes;
    return PathOf(name);
  }

  Content Read(const std::string& name, std::string_view bytes,
               const ReadOptions& options = {}) const {
    return ReadAll(Save(name, bytes), options);
  }

  absl::Status ErrorOf(const std::string& name, std::string_view bytes,
                       const ReadOptions& options = {}) const {
    return Read(name, bytes, options).error;
  }

 private:
  const TempDir dir_;
};

// ---- npy ----

using NpyTest = BinaryFormatsTest;

TEST_F(NpyTest, Versions) {
  for (const int version : {1, 2, 3}) {
    SCOPED_TRACE(version);
    const Content content = Read("v.npy", Npy("<f4", "(2, 3)", Rows(kTwoByThree), false, version));
    ASSERT_THAT(content.error, IsOk());
    EXPECT_EQ(content.dimensions, 3u);
    EXPECT_EQ(content.vectors(), kTwoByThree);
    EXPECT_THAT(content.words(), ElementsAre("0", "1"));
  }
  EXPECT_THAT(ErrorOf("v.npy", Npy("<f4", "(2, 3)", Rows(kTwoByThree), false, 4)),
              StatusIs(StatusCode::kInvalidArgument, "version 4.0"));
}

TEST_F(NpyTest, TypesAndByteOrders) {
  struct Type {
    std::string descr;
    Encode encode;
    size_t bytes;
    Matrix rows;
  };
  const Matrix signed_rows = {{-128, 0}, {127, 5}};
  const Matrix unsigned_rows = {{255, 0}, {128, 5}};
  const std::vector<Type> types = {
      {"<f2", F16, 2, kTwoByThree},  {">f2", F16, 2, kTwoByThree},    {"<f4", F32, 4, kTwoByThree},
      {">f4", F32, 4, kTwoByThree},  {"<f8", F64, 8, kTwoByThree},    {">f8", F64, 8, kTwoByThree},
      {"|i1", Byte, 1, signed_rows}, {"|u1", Byte, 1, unsigned_rows},
  };
  for (const Type& type : types) {
    for (const bool fortran : {false, true}) {
      SCOPED_TRACE(type.descr + (fortran ? " in Fortran's order" : ""));
      std::string data = fortran ? Columns(type.rows, type.encode) : Rows(type.rows, type.encode);
      if (type.descr[0] == '>') data = Swapped(data, type.bytes);
      const std::string shape = "(2, " + std::to_string(type.rows[0].size()) + ")";
      const Content content = Read("v.npy", Npy(type.descr, shape, data, fortran));
      ASSERT_THAT(content.error, IsOk());
      EXPECT_EQ(content.vectors(), type.rows);
    }
  }
}

TEST_F(NpyTest, ManyRowsInBothOrders) {
  // More than the readers take at once.
  Matrix rows(3000, std::vector<float>(200));
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < rows[i].size(); ++j) rows[i][j] = static_cast<float>(i * 200 + j);
  }
  const Content by_rows = Read("c.npy", Npy("<f4", "(3000, 200)", Rows(rows)));
  ASSERT_THAT(by_rows.error, IsOk());
  EXPECT_TRUE(by_rows.vectors() == rows);
  EXPECT_EQ(by_rows.words().back(), "2999");
  const Content by_columns = Read("f.npy", Npy("<f4", "(3000, 200)", Columns(rows), true));
  ASSERT_THAT(by_columns.error, IsOk());
  EXPECT_TRUE(by_columns.vectors() == rows);
}

TEST_F(NpyTest, OtherShapesAreRefused) {
  EXPECT_THAT(ErrorOf("v.npy", Npy("<f4", "(3,)", Row({1, 2, 3}))),
              StatusIs(StatusCode::kInvalidArgument, "found (3))"));
  EXPECT_THAT(ErrorOf("v.npy", Npy("<f4", "(1, 2, 3)", Rows(kTwoByThree))),
              StatusIs(StatusCode::kInvalidArgument, "found (1, 2, 3))"));
  EXPECT_THAT(ErrorOf("v.npy", Npy("<f4", "(2, 0)", "")),
              StatusIs(StatusCode::kInvalidArgument, "expected 1 to 65536, found 0"));
  EXPECT_THAT(ErrorOf("v.npy", Npy("<f4", "(2, 10000000)", Row({1, 2}))),
              StatusIs(StatusCode::kInvalidArgument, "expected 1 to 65536, found 10000000"));
  EXPECT_THAT(ErrorOf("v.npy", Npy("<f4", "(0, 3)", "")),
              StatusIs(StatusCode::kInvalidArgument, "holds no rows"));
}

TEST_F(NpyTest, AHeaderThatPromisesPetabytesIsRefusedAtOnce) {
  const std::string data = Rows(kTwoByThree);
  const std::string bytes = Npy("<f4", "(1000000000000000, 100)", data);
  const uint64_t expected = 400'000'000'000'000'000 + (bytes.size() - data.size());
  EXPECT_THAT(ErrorOf("v.npy", bytes),
              StatusIs(StatusCode::kDataLoss, "expected " + std::to_string(expected) + ", found " +
                                                  std::to_string(bytes.size())));
  // Packed, the file's end tells.
  const Content packed = Read("v.npy.gz", Gzip(bytes));
  EXPECT_THAT(packed.error, StatusIs(StatusCode::kDataLoss, "expected 1000000000000000 rows"));
  EXPECT_THAT(packed.rows, IsEmpty());
  // Not even the number of bytes fits.
  EXPECT_THAT(ErrorOf("v.npy", Npy("<f4", "(18000000000000000000, 100)", data)), Not(IsOk()));
}

TEST_F(NpyTest, OtherTypesAreRefused) {
  for (const std::string type : {"<i8", "<c8", "<i2", "|b1", "|O", "<U5"}) {
    EXPECT_THAT(ErrorOf("v.npy", Npy(type, "(1, 2)", std::string(16, '\1'))),
                StatusIs(StatusCode::kInvalidArgument, "found '" + type + "'"));
  }
  EXPECT_THAT(
      ErrorOf("v.npy", NpyOf("{'descr': [('a', '<f4'), ('b', '<f4')], 'fortran_order': False, "
                             "'shape': (2,), }",
                             std::string(16, '\1'))),
      StatusIs(StatusCode::kInvalidArgument, "array of records"));
}

TEST_F(NpyTest, BrokenHeadersAreRefused) {
  for (const std::string header :
       {"", "[]", "{'descr': '<f4'}", "{'descr' '<f4'}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1, 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)} and more"}) {
    EXPECT_THAT(ErrorOf("v.npy", NpyOf(header, Row({1, 2}))),
                StatusIs(StatusCode::kInvalidArgument, PathOf("v.npy") + ": bad .npy header"));
  }
}

TEST_F(NpyTest, ANumberBeyondFp32IsABadRow) {
  const std::string data = F64(1) + F64(2) + F64(3) + F64(1e300) + F64(5) + F64(6);
  const Content content = Read("v.npy", Npy("<f8", "(3, 2)", data));
  EXPECT_THAT(content.error, IsOk());
  ASSERT_EQ(content.bad.size(), 1u);
  EXPECT_THAT(content.bad[0],
              StatusIs(StatusCode::kInvalidArgument, PathOf("v.npy") + ": row 2: value 2 of 2"));
  EXPECT_EQ(content.vectors(), (Matrix{{1, 2}, {5, 6}}));
  EXPECT_THAT(content.words(), ElementsAre("0", "2"));
}

TEST_F(NpyTest, WordsBesideOrNamedOrNumbers) {
  const std::string path = Save("v.npy", Npy("<f4", "(2, 3)", Rows(kTwoByThree)));
  EXPECT_THAT(ReadAll(path).words(), ElementsAre("0", "1"));
  Save("v.words.txt", "the\nNew York\n");
  const Content beside = ReadAll(path);
  EXPECT_THAT(beside.words(), ElementsAre("the", "New York"));
  EXPECT_THAT(beside.description, HasSubstr("v.words.txt"));
  const std::string other = Save("other.txt", "un\ndeux");
  EXPECT_THAT(ReadAll(path, {.vocabulary = other}).words(), ElementsAre("un", "deux"));
  EXPECT_THAT(ReadAll(path, {.vocabulary = PathOf("none.txt")}).error,
              StatusIs(StatusCode::kNotFound, PathOf("none.txt")));
}

TEST_F(NpyTest, AnotherNumberOfWordsIsRefusedBeforeAnyRow) {
  const std::string path = Save("v.npy", Npy("<f4", "(2, 3)", Rows(kTwoByThree)));
  Save("v.words.txt", "the\n");
  const Content fewer = ReadAll(path);
  EXPECT_THAT(fewer.error, StatusIs(StatusCode::kFailedPrecondition, "expected 2, found 1"));
  EXPECT_THAT(fewer.rows, IsEmpty());
  Save("v.words.txt", "the\na\nof\n");
  const Content more = ReadAll(path);
  EXPECT_THAT(more.error, StatusIs(StatusCode::kFailedPrecondition, "expected 2, found 3"));
  EXPECT_THAT(more.rows, IsEmpty());
  // Blank lines at the end are no words.
  Save("v.words.txt", "the\na\n\n\n");
  EXPECT_THAT(ReadAll(path).words(), ElementsAre("the", "a"));
}

TEST_F(NpyTest, Packed) {
  const Content content = Read("v.npy.gz", Gzip(Npy("<f4", "(2, 3)", Rows(kTwoByThree))));
  ASSERT_THAT(content.error, IsOk());
  EXPECT_EQ(content.vectors(), kTwoByThree);
  EXPECT_THAT(ErrorOf("f.npy.gz", Gzip(Npy("<f4", "(2, 3)", Columns(kTwoByThree), true))),
              StatusIs(StatusCode::kInvalidArgument, "fortran_order"));
}

TEST_F(NpyTest, ForcedToAnotherFormat) {
  const std::string bytes = Npy("<f4", "(2, 3)", Rows(kTwoByThree));
  EXPECT_THAT(ErrorOf("v.npy", bytes, {.format = "glove"}),
              StatusIs(StatusCode::kInvalidArgument, "isn't glove, but seems to be npy"));
  EXPECT_THAT(ErrorOf("v.fvecs", Fvecs(kTwoByThree), {.format = "npy"}),
              StatusIs(StatusCode::kInvalidArgument, "is no .npy file"));
}

// ---- Truncated and too long files ----

struct Sample {
  std::string format;
  std::string bytes;
  size_t rows;
  size_t row_bytes = 0;  // where a file may end behind any row
  bool streams = true;   // whether it may be packed
};

std::vector<Sample> Samples() {
  const Matrix small = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  return {
      {"npy", Npy("<f4", "(2, 3)", Rows(kTwoByThree)), 2},
      {"fvecs", Fvecs(kTwoByThree), 2, 16},
      {"bvecs", Bvecs(small), 3, 8},
      {"fbin", Fbin(kTwoByThree), 2},
      {"faiss", Faiss(kTwoByThree), 2},
      {"word2vec-bin", Word2vec({{"the", {1, 2}}, {"of", {3, 4}}, {"a", {5, 6}}}), 3},
      {"fasttext-bin",
       Fasttext({.words = {"the", "of"}, .matrix = kTwoByThree}) + FasttextOutput({{1, 2, 3}}), 2,
       0, false},
      {"safetensors", Safetensors({FloatTensor("table", kTwoByThree)}), 2, 0, false},
      {"gguf", Gguf(0, 2, 3, Rows(kTwoByThree), {"the", "of"}), 2, 0, false},
  };
}

// A part of a sample is never taken for the whole.
void ExpectCut(const Content& content, const Sample& sample, size_t bytes,
               const std::string& path) {
  for (const absl::Status& bad : content.bad) {
    EXPECT_THAT(std::string(bad.message()), HasSubstr(path));
  }
  if (!content.error.ok()) {
    EXPECT_THAT(std::string(content.error.message()), HasSubstr(path));
    return;
  }
  const bool whole_rows = sample.row_bytes > 0 && bytes % sample.row_bytes == 0;
  EXPECT_TRUE(whole_rows) << "no error";
  EXPECT_LT(content.rows.size(), sample.rows);
}

using CutFilesTest = BinaryFormatsTest;

TEST_F(CutFilesTest, EveryCutIsNoticed) {
  for (const Sample& sample : Samples()) {
    SCOPED_TRACE(sample.format);
    const ReadOptions options{.format = sample.format};
    const Content whole = Read("whole", sample.bytes, options);
    ASSERT_THAT(whole.error, IsOk());
    ASSERT_EQ(whole.rows.size(), sample.rows);
    ASSERT_THAT(whole.bad, IsEmpty());
    for (size_t bytes = 1; bytes < sample.bytes.size(); ++bytes) {
      SCOPED_TRACE(bytes);
      const Content cut = Read("cut", std::string_view(sample.bytes).substr(0, bytes), options);
      ExpectCut(cut, sample, bytes, PathOf("cut"));
    }
  }
}

TEST_F(CutFilesTest, EveryCutIsNoticedInsideOfGzip) {
  for (const Sample& sample : Samples()) {
    if (!sample.streams) continue;
    SCOPED_TRACE(sample.format);
    const ReadOptions options{.format = sample.format};
    const Content whole = Read("whole.gz", Gzip(sample.bytes), options);
    ASSERT_THAT(whole.error, IsOk());
    ASSERT_EQ(whole.rows.size(), sample.rows);
    for (size_t bytes = 1; bytes < sample.bytes.size(); ++bytes) {
      SCOPED_TRACE(bytes);
      const Content cut =
          Read("cut.gz", Gzip(std::string_view(sample.bytes).substr(0, bytes)), options);
      ExpectCut(cut, sample, bytes, PathOf("cut.gz"));
    }
  }
}

TEST_F(CutFilesTest, EveryCutOfAGzipFileIsNoticed) {
  for (const Sample& sample : Samples()) {
    if (!sample.streams) continue;
    SCOPED_TRACE(sample.format);
    const std::string packed = Gzip(sample.bytes);
    for (size_t bytes = 1; bytes < packed.size(); ++bytes) {
      SCOPED_TRACE(bytes);
      const Content cut =
          Read("cut.gz", std::string_view(packed).substr(0, bytes), {.format = sample.format});
      ASSERT_THAT(cut.error, Not(IsOk()));
      EXPECT_THAT(std::string(cut.error.message()), HasSubstr(PathOf("cut.gz")));
    }
  }
}

TEST_F(CutFilesTest, BytesBehindTheLastRow) {
  for (const Sample& sample : Samples()) {
    const std::string& format = sample.format;
    if (format != "npy" && format != "fbin" && format != "faiss" && format != "word2vec-bin") {
      continue;
    }
    SCOPED_TRACE(format);
    for (const std::string more : {"x", "\n\nx", "more than a row of bytes, and then some"}) {
      EXPECT_THAT(ErrorOf("long", sample.bytes + more, {.format = format}),
                  StatusIs(StatusCode::kDataLoss, PathOf("long")));
      EXPECT_THAT(ErrorOf("long.gz", Gzip(sample.bytes + more), {.format = format}),
                  StatusIs(StatusCode::kDataLoss, PathOf("long.gz")));
    }
    const absl::Status breaks = ErrorOf("long", sample.bytes + "\n\r\n", {.format = format});
    EXPECT_EQ(breaks.ok(), format == "word2vec-bin") << breaks;
  }
}

// ---- fvecs, bvecs, fbin and FAISS ----

using VecsTest = BinaryFormatsTest;

TEST_F(VecsTest, AreToldByTheirContent) {
  const Content fvecs = Read("v.data", Fvecs(kTwoByThree));
  ASSERT_THAT(fvecs.error, IsOk());
  EXPECT_EQ(fvecs.vectors(), kTwoByThree);
  EXPECT_THAT(fvecs.description, HasSubstr("fvecs"));

  const Matrix bytes = {{0, 1, 128, 255}, {7, 8, 9, 10}};
  const Content bvecs = Read("v.bvecs", Bvecs(bytes));
  ASSERT_THAT(bvecs.error, IsOk());
  EXPECT_EQ(bvecs.vectors(), bytes);
  EXPECT_THAT(bvecs.description, HasSubstr("bvecs"));

  const Content fbin = Read("v.data", Fbin(kTwoByThree));
  ASSERT_THAT(fbin.error, IsOk());
  EXPECT_EQ(fbin.vectors(), kTwoByThree);
  EXPECT_THAT(fbin.description, HasSubstr("fbin"));

  const Content faiss = Read("v.data", Faiss(kTwoByThree));
  ASSERT_THAT(faiss.error, IsOk());
  EXPECT_EQ(faiss.vectors(), kTwoByThree);
  EXPECT_THAT(faiss.description, HasSubstr("FAISS"));
}

TEST_F(VecsTest, PackedFvecsAreToldByTheirContent) {
  const Content content = Read("v.data.gz", Gzip(Fvecs(kTwoByThree)));
  ASSERT_THAT(content.error, IsOk());
  EXPECT_EQ(content.vectors(), kTwoByThree);
}

TEST_F(VecsTest, TheEndingTellsFilesThatLackTheirEnd) {
  const std::string bytes = Fvecs(kTwoByThree);
  EXPECT_THAT(ErrorOf("v.fvecs", std::string_view(bytes).substr(0, bytes.size() - 1)),
              StatusIs(StatusCode::kDataLoss, "ends within a row"));
  EXPECT_THAT(ErrorOf("v.data", std::string_view(bytes).substr(0, bytes.size() - 1)),
              StatusIs(StatusCode::kInvalidArgument, "--format"));
}

TEST_F(VecsTest, ARowOfOtherDimensions) {
  // 12 bytes and 24: a whole number of rows like the first.
  const std::string bytes = Fvecs({{1, 2}, {1, 2, 3, 4, 5}});
  for (const std::string& path : {Save("v.fvecs", bytes), Save("v.fvecs.gz", Gzip(bytes))}) {
    const Content content = ReadAll(path, {.format = "fvecs"});
    EXPECT_THAT(content.error, StatusIs(StatusCode::kDataLoss, "expected 2, found 5"));
    EXPECT_THAT(std::string(content.error.message()), HasSubstr(path));
    EXPECT_EQ(content.vectors(), (Matrix{{1, 2}}));
  }
}

TEST_F(VecsTest, ImpossibleDimensions) {
  for (const uint64_t dimensions : {0, 10'000'000}) {
    const std::string found = "expected 1 to 65536, found " + std::to_string(dimensions);
    const std::string size = Le(dimensions, 4);
    EXPECT_THAT(ErrorOf("v", size + Row({1, 2}), {.format = "fvecs"}),
                StatusIs(StatusCode::kInvalidArgument, found));
    EXPECT_THAT(ErrorOf("v", Le(2, 4) + size + Row({1, 2}), {.format = "fbin"}),
                StatusIs(StatusCode::kInvalidArgument, found));
    std::string faiss = Faiss(kTwoByThree);
    faiss.replace(4, 4, size);
    EXPECT_THAT(ErrorOf("v", faiss), StatusIs(StatusCode::kInvalidArgument, found));
  }
}

TEST_F(VecsTest, WordsOfPackedRowsAreCountedAtTheEnd) {
  const std::string path = Save("v.fvecs.gz", Gzip(Fvecs(kTwoByThree)));
  const std::string words = Save("words.txt", "the\nof\n");
  EXPECT_THAT(ReadAll(path, {.vocabulary = words}).words(), ElementsAre("the", "of"));
  Save("words.txt", "the\n");
  EXPECT_THAT(ReadAll(path, {.vocabulary = words}).error,
              StatusIs(StatusCode::kFailedPrecondition, "only 1 words"));
  Save("words.txt", "the\nof\na\n");
  EXPECT_THAT(ReadAll(path, {.vocabulary = words}).error,
              StatusIs(StatusCode::kDataLoss, "expected 2, found more"));
}

TEST_F(VecsTest, FaissOfOtherKindsAndCounts) {
  std::string hnsw = Faiss(kTwoByThree);
  hnsw.replace(0, 4, "IHNf");
  EXPECT_THAT(ErrorOf("v", hnsw, {.format = "faiss"}),
              StatusIs(StatusCode::kInvalidArgument, "found IHNf"));
  std::string other = Faiss(kTwoByThree);
  other.replace(37, 8, Le(5, 8));
  EXPECT_THAT(ErrorOf("v", other), StatusIs(StatusCode::kDataLoss, "expected 6, found 5"));
}

// ---- word2vec's binary format ----

using Word2vecBinaryTest = BinaryFormatsTest;

// Numbers whose bytes, 20 20 0A 3F and 0A 20 0A 3F, are blanks and line breaks among others.
constexpr float kBlankBytes = std::bit_cast<float>(0x3F0A2020U);
constexpr float kBreakBytes = std::bit_cast<float>(0x3F0A200AU);

TEST_F(Word2vecBinaryTest, WithAndWithoutLineBreaks) {
  for (const std::string after : {"", "\n", "\r\n"}) {
    SCOPED_TRACE(after.size());
    const Content content =
        Read("v.bin", Word2vec({{"the", {1, 2}}, {"New_York", {3, 4}}, {"a", {5, 6}}}, after));
    ASSERT_THAT(content.error, IsOk());
    EXPECT_EQ(content.dimensions, 2u);
    EXPECT_THAT(content.words(), ElementsAre("the", "New_York", "a"));
    EXPECT_EQ(content.vectors(), (Matrix{{1, 2}, {3, 4}, {5, 6}}));
    EXPECT_EQ(content.rows[2].place, 3u);
  }
}

TEST_F(Word2vecBinaryTest, NumbersWhoseBytesLookLikeText) {
  const Matrix vectors = {{kBlankBytes, kBreakBytes, 1}, {kBreakBytes, 1, kBlankBytes}};
  for (const std::string after : {"", "\n"}) {
    const Content content =
        Read("v.bin", Word2vec({{"the", vectors[0]}, {"of", vectors[1]}}, after));
    ASSERT_THAT(content.error, IsOk());
    EXPECT_THAT(content.words(), ElementsAre("the", "of"));
    EXPECT_EQ(content.vectors(), vectors);
  }
}

TEST_F(Word2vecBinaryTest, AHeaderThatPromisesMoreThanTheFileHolds) {
  const std::string row = "the " + Row({1, 2});
  EXPECT_THAT(ErrorOf("v.bin", "3000000 2\n" + row),
              StatusIs(StatusCode::kDataLoss, "expected 3000000 rows, found room for 2"));
  const Content packed = Read("v.bin.gz", Gzip("3000000 2\n" + row));
  EXPECT_THAT(packed.error, StatusIs(StatusCode::kDataLoss, "expected 3000000, found 1"));
  EXPECT_EQ(packed.rows.size(), 1u);
  // Room for two rows, but only one is there.
  EXPECT_THAT(ErrorOf("v.bin", "2 2\nlonger-than-the-others " + Row({1, 2})),
              StatusIs(StatusCode::kDataLoss, "expected 2, found 1"));
}

TEST_F(Word2vecBinaryTest, BadHeaders) {
  const ReadOptions forced{.format = "word2vec-bin"};
  const std::string row = "the " + Row({1, 2});
  EXPECT_THAT(ErrorOf("v.bin", "0 2\n" + row, forced),
              StatusIs(StatusCode::kInvalidArgument, "holds no rows"));
  EXPECT_THAT(ErrorOf("v.bin", "1 0\n" + row, forced),
              StatusIs(StatusCode::kInvalidArgument, "expected 1 to 65536, found 0"));
  EXPECT_THAT(ErrorOf("v.bin", "1 10000000\n" + row, forced),
              StatusIs(StatusCode::kInvalidArgument, "expected 1 to 65536, found 10000000"));
  EXPECT_THAT(ErrorOf("v.bin", row, forced),
              StatusIs(StatusCode::kInvalidArgument, "doesn't begin with a header"));
  EXPECT_THAT(ErrorOf("v.bin", "-1 2\n" + row, forced),
              StatusIs(StatusCode::kInvalidArgument, "doesn't begin with a header"));
}

TEST_F(Word2vecBinaryTest, ATooLongWordIsABadRow) {
  const Content content =
      Read("v.bin", Word2vec({{"the", {1, 2}}, {std::string(5000, 'x'), {3, 4}}, {"a", {5, 6}}}));
  EXPECT_THAT(content.error, IsOk());
  ASSERT_EQ(content.bad.size(), 1u);
  EXPECT_THAT(std::string(content.bad[0].message()),
              AllOf(HasSubstr(PathOf("v.bin") + ": row 2: "), HasSubstr("has 5000 bytes")));
  EXPECT_THAT(content.words(), ElementsAre("the", "a"));
  EXPECT_EQ(content.vectors(), (Matrix{{1, 2}, {5, 6}}));
}

TEST_F(Word2vecBinaryTest, AWordWithoutEnd) {
  const std::string bytes = "2 1\n" + std::string(3'000'000, 'x');
  EXPECT_THAT(ErrorOf("v.bin", bytes, {.format = "word2vec-bin"}),
              StatusIs(StatusCode::kDataLoss, "no blank ends the row's word"));
}

TEST_F(Word2vecBinaryTest, WordsThatAreNoUtf8) {
  const std::string path =
      Save("v.bin", Word2vec({{"the", {1, 2}}, {"caf\xE9", {3, 4}}, {"a", {5, 6}}}));
  const Content refused = ReadAll(path);
  EXPECT_THAT(refused.error, IsOk());
  ASSERT_EQ(refused.bad.size(), 1u);
  EXPECT_THAT(std::string(refused.bad[0].message()), HasSubstr("row 2: word 'caf\\xe9'"));
  EXPECT_FALSE(IsToLeaveOut(refused.bad[0]));
  EXPECT_THAT(refused.words(), ElementsAre("the", "a"));

  const Content skipped = ReadAll(path, {.words = {.on_bad_utf8 = OnBadUtf8::kSkip}});
  EXPECT_THAT(skipped.error, IsOk());
  ASSERT_EQ(skipped.bad.size(), 1u);
  EXPECT_TRUE(IsToLeaveOut(skipped.bad[0]));
  EXPECT_THAT(skipped.words(), ElementsAre("the", "a"));

  const Content replaced = ReadAll(path, {.words = {.on_bad_utf8 = OnBadUtf8::kReplace}});
  EXPECT_THAT(replaced.bad, IsEmpty());
  EXPECT_THAT(replaced.words(), ElementsAre("the", "caf\xEF\xBF\xBD", "a"));

  const Content latin = ReadAll(path, {.words = {.encoding = TextEncoding::kLatin1}});
  EXPECT_THAT(latin.bad, IsEmpty());
  EXPECT_THAT(latin.words(), ElementsAre("the", "caf\xC3\xA9", "a"));
}

// ---- fastText's models ----

using FasttextBinaryTest = BinaryFormatsTest;

std::vector<std::string> Characters(const std::string& text) {
  std::vector<std::string> characters;
  for (const char c : text) {
    const bool begins = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (begins || characters.empty()) characters.emplace_back();
    characters.back() += c;
  }
  return characters;
}

// FNV-1a of 32 bits, but bytes from 0x80 on are extended by their sign, as fastText has it.
uint32_t FasttextHash(const std::string& text) {
  uint64_t hash = 2'166'136'261;
  for (const char c : text) {
    uint64_t byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) byte |= 0xFFFFFF00;
    hash = (hash ^ byte) * 16'777'619 % (uint64_t{1} << 32);
  }
  return static_cast<uint32_t>(hash);
}

// The mean of the word's row and of those of its n-grams.
std::vector<float> FasttextMean(const FasttextModel& model, size_t word) {
  std::vector<size_t> rows = {word};
  const std::vector<std::string> characters = Characters("<" + model.words[word] + ">");
  for (size_t begin = 0; begin < characters.size(); ++begin) {
    std::string gram;
    for (size_t end = begin; end < characters.size(); ++end) {
      gram += characters[end];
      const size_t length = end - begin + 1;
      if (length < model.min_gram || length > model.max_gram) continue;
      if (gram == "<" || gram == ">") continue;
      rows.push_back(model.words.size() + FasttextHash(gram) % model.buckets);
    }
  }
  std::vector<float> mean;
  for (size_t i = 0; i < model.matrix[0].size(); ++i) {
    double sum = 0;
    for (const size_t row : rows) sum += model.matrix[row][i];
    mean.push_back(static_cast<float>(sum / static_cast<double>(rows.size())));
  }
  return mean;
}

TEST_F(FasttextBinaryTest, WithoutNGrams) {
  const FasttextModel model{
      .words = {"</s>", "the"}, .labels = {"__label__good", "__label__bad"}, .matrix = kTwoByThree};
  const Content content = Read("v.bin", Fasttext(model) + FasttextOutput({{1, 2, 3}}));
  ASSERT_THAT(content.error, IsOk());
  EXPECT_EQ(content.dimensions, 3u);
  EXPECT_THAT(content.words(), ElementsAre("</s>", "the"));
  EXPECT_EQ(content.vectors(), kTwoByThree);
}

TEST_F(FasttextBinaryTest, NGramsAreInTheMean) {
  for (const uint64_t min_gram : {1, 2}) {
    SCOPED_TRACE(min_gram);
    FasttextModel model{.buckets = 7,
                        .min_gram = min_gram,
                        .max_gram = 3,
                        .words = {"</s>", "the", "a",
                                  "n\xC3\xA9"
                                  "e",
                                  "\xE6\x97\xA5\xE6\x9C\xAC"},
                        .matrix = {}};
    // Powers of two, so that each bucket shows in the mean.
    for (size_t row = 0; row < model.words.size() + model.buckets; ++row) {
      model.matrix.push_back({static_cast<float>(1 << row), -static_cast<float>(row)});
    }
    const Content content = Read("v.bin", Fasttext(model) + FasttextOutput({{1, 2}}));
    ASSERT_THAT(content.error, IsOk());
    ASSERT_EQ(content.words(), model.words);
    // The end of a sentence has no n-grams.
    EXPECT_EQ(content.rows[0].vector, model.matrix[0]);
    for (size_t word = 1; word < model.words.size(); ++word) {
      SCOPED_TRACE(model.words[word]);
      EXPECT_THAT(content.rows[word].vector,
                  Pointwise(FloatNear(1e-3F), FasttextMean(model, word)));
    }
  }
}

TEST_F(FasttextBinaryTest, ModelsThatAreRefused) {
  const FasttextModel model{.words = {"a", "b"}, .matrix = kTwoByThree};
  FasttextModel quantised = model;
  quantised.quantised = true;
  EXPECT_THAT(ErrorOf("v.ftz", Fasttext(quantised)),
              StatusIs(StatusCode::kInvalidArgument, "quantised"));
  std::string old = Fasttext(model);
  old.replace(4, 4, Le(11, 4));
  EXPECT_THAT(ErrorOf("v.bin", old),
              StatusIs(StatusCode::kInvalidArgument, "expected 12, found 11"));
  for (const uint64_t dimensions : {0, 10'000'000}) {
    std::string bytes = Fasttext(model);
    bytes.replace(8, 4, Le(dimensions, 4));
    EXPECT_THAT(ErrorOf("v.bin", bytes),
                StatusIs(StatusCode::kInvalidArgument, "found " + std::to_string(dimensions)));
  }
  std::string many = Fasttext(model);
  many.replace(64, 8, Le(2'000'000'000, 4) + Le(2'000'000'000, 4));
  EXPECT_THAT(ErrorOf("v.bin", many),
              StatusIs(StatusCode::kInvalidArgument, "more words than the file can hold"));
  EXPECT_THAT(ErrorOf("v.bin.gz", Gzip(Fasttext(model))),
              StatusIs(StatusCode::kInvalidArgument, "plain file alone"));
}

TEST_F(FasttextBinaryTest, ABadWordIsPassedOver) {
  const FasttextModel model{.words = {"a\xFF", "b"}, .matrix = kTwoByThree};
  const Content content = Read("v.bin", Fasttext(model) + FasttextOutput({{1, 2, 3}}));
  EXPECT_THAT(content.error, IsOk());
  ASSERT_EQ(content.bad.size(), 1u);
  EXPECT_THAT(std::string(content.bad[0].message()), HasSubstr(PathOf("v.bin") + ": row 1"));
  EXPECT_EQ(content.vectors(), (Matrix{kTwoByThree[1]}));
}

// ---- safetensors ----

using SafetensorsReaderTest = BinaryFormatsTest;

TEST_F(SafetensorsReaderTest, Types) {
  const Matrix small = {{1, -2, 3}, {0, 127, -128}};
  const std::vector<std::pair<std::string, Encode>> types = {
      {"F64", F64}, {"F32", F32}, {"F16", F16}, {"BF16", Bf16}, {"I8", Byte}};
  for (const auto& [type, encode] : types) {
    SCOPED_TRACE(type);
    const Content content =
        Read("m.safetensors", Safetensors({{"table", type, {2, 3}, Rows(small, encode)}}));
    ASSERT_THAT(content.error, IsOk());
    EXPECT_EQ(content.vectors(), small);
    EXPECT_THAT(content.words(), ElementsAre("0", "1"));
    EXPECT_THAT(content.description, HasSubstr("table (" + type + ")"));
  }
  EXPECT_THAT(
      ErrorOf("m.safetensors", Safetensors({{"table", "I64", {1, 2}, Le(1, 8) + Le(2, 8)}})),
      StatusIs(StatusCode::kInvalidArgument, "expected F64, F32, F16, BF16, I8 and U8, found I64"));
}

TEST_F(SafetensorsReaderTest, ANumberBeyondFp32IsABadRow) {
  const std::string data = F64(1) + F64(-1e300) + F64(3);
  const Content content = Read("m.safetensors", Safetensors({{"t", "F64", {3, 1}, data}}));
  EXPECT_THAT(content.error, IsOk());
  EXPECT_EQ(content.bad.size(), 1u);
  EXPECT_EQ(content.vectors(), (Matrix{{1}, {3}}));
}

TEST_F(SafetensorsReaderTest, TheTableIsFound) {
  const Matrix table = {{1, 2}, {3, 4}};
  const Matrix other = {{9, 9}, {9, 9}};
  const Tensor norm = {"model.norm.weight", "F32", {2}, Row({1, 1})};
  // A single matrix, whatever its name.
  EXPECT_EQ(Read("m.safetensors", Safetensors({norm, FloatTensor("x", table)})).vectors(), table);
  // Among several the one that is named as a table of tokens.
  const std::vector<std::vector<std::string>> names = {
      {"model.embed_tokens.weight", "lm_head.weight", "model.layers.0.mlp.up_proj.weight"},
      {"embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight",
       "embeddings.token_type_embeddings.weight"},
      {"wte.weight", "wpe.weight", "h.0.mlp.c_fc.weight"},
  };
  for (const std::vector<std::string>& of_model : names) {
    SCOPED_TRACE(of_model[0]);
    const Content content =
        Read("m.safetensors",
             Safetensors({FloatTensor(of_model[1], other), norm, FloatTensor(of_model[0], table),
                          FloatTensor(of_model[2], other)}));
    ASSERT_THAT(content.error, IsOk());
    EXPECT_EQ(content.vectors(), table);
  }
}

TEST_F(SafetensorsReaderTest, ATensorIsNamed) {
  const Matrix first = {{1, 2}, {3, 4}};
  const std::string path =
      Save("m.safetensors", Safetensors({FloatTensor("first", first),
                                         FloatTensor("second", kTwoByThree),
                                         {"third", "F32", {4}, Row({1, 2, 3, 4})}}));
  const absl::Status unclear = ReadAll(path).error;
  EXPECT_THAT(unclear, StatusIs(StatusCode::kInvalidArgument, "--tensor"));
  EXPECT_THAT(std::string(unclear.message()),
              AllOf(HasSubstr(path), HasSubstr("first (F32 2 x 2)"),
                    HasSubstr("second (F32 2 x 3)"), Not(HasSubstr("third"))));
  EXPECT_EQ(ReadAll(path, {.tensor = "first"}).vectors(), first);
  EXPECT_EQ(ReadAll(path, {.tensor = "second"}).vectors(), kTwoByThree);
  EXPECT_THAT(ReadAll(path, {.tensor = "third"}).error,
              StatusIs(StatusCode::kInvalidArgument, "expected 2 dimensions, found 1"));
  const absl::Status unknown = ReadAll(path, {.tensor = "fourth"}).error;
  EXPECT_THAT(unknown, StatusIs(StatusCode::kNotFound, "no tensor 'fourth'"));
  EXPECT_THAT(std::string(unknown.message()),
              AllOf(HasSubstr("first (F32 2 x 2)"), HasSubstr("second (F32 2 x 3)")));
}

TEST_F(SafetensorsReaderTest, NoMatrix) {
  EXPECT_THAT(ErrorOf("m.safetensors", Safetensors({{"norm", "F32", {2}, Row({1, 1})}})),
              StatusIs(StatusCode::kNotFound, "no matrix"));
  EXPECT_THAT(ErrorOf("m.safetensors.gz", Gzip(Safetensors({FloatTensor("t", kTwoByThree)}))),
              StatusIs(StatusCode::kInvalidArgument, "plain file alone"));
}

TEST_F(SafetensorsReaderTest, WordsFromTheFilesOfTheModel) {
  const std::string path = Save("m.safetensors", Safetensors({FloatTensor("t", {{1}, {2}, {3}})}));
  Save("vocab.txt", "[PAD]\nthe\n##ing\n");
  EXPECT_THAT(ReadAll(path).words(), ElementsAre("[PAD]", "the", "##ing"));

  Save("vocab.json", R"({"the": 1, "of": 2, "!": 0})");
  EXPECT_THAT(ReadAll(path).words(), ElementsAre("!", "the", "of"));

  Save("tokenizer.json",
       R"({"version": "1.0", "truncation": null,
           "added_tokens": [{"id": 2, "content": "<s>", "special": true},
                            {"id": 0, "content": "a", "special": false}],
           "normalizer": {"type": "NFC"},
           "model": {"type": "BPE", "vocab": {"b": 1, "a": 0}, "merges": ["a b"]}})");
  EXPECT_THAT(ReadAll(path).words(), ElementsAre("a", "b", "<s>"));

  Save("tokenizer.json",
       R"({"added_tokens": [],
           "model": {"type": "Unigram", "unk_id": 0,
                     "vocab": [["<unk>", 0.0], ["\u2581a", -2.5], ["b", -3]]}})");
  EXPECT_THAT(ReadAll(path).words(), ElementsAre("<unk>",
                                                 "\xE2\x96\x81"
                                                 "a",
                                                 "b"));
}

TEST_F(SafetensorsReaderTest, RowsWithoutAWordAreLeftOut) {
  const std::string path =
      Save("m.safetensors", Safetensors({FloatTensor("t", {{1}, {2}, {3}, {4}, {5}})}));
  Save("vocab.json", R"({"a": 0, "c": 2})");
  const Content content = ReadAll(path);
  ASSERT_THAT(content.error, IsOk());
  EXPECT_THAT(content.bad, IsEmpty());
  EXPECT_THAT(content.words(), ElementsAre("a", "c"));
  EXPECT_EQ(content.vectors(), (Matrix{{1}, {3}}));
  EXPECT_EQ(content.rows[1].place, 3u);
  EXPECT_THAT(content.doubts, AllOf(HasSubstr("3 rows have no word"), HasSubstr("vocab.json")));
  // Where each row has one there is nothing to say.
  Save("vocab.json", R"({"a": 0, "b": 1, "c": 2, "d": 3, "e": 4})");
  EXPECT_EQ(ReadAll(path).doubts, "");
}

TEST_F(SafetensorsReaderTest, VocabulariesThatDoNotFit) {
  const std::string path = Save("m.safetensors", Safetensors({FloatTensor("t", {{1}, {2}})}));
  const std::string words = Save("words.json", R"({"a": 0, "b": 1, "c": 2})");
  EXPECT_THAT(ReadAll(path, {.vocabulary = words}).error,
              StatusIs(StatusCode::kFailedPrecondition, "expected 2, found 3"));
  Save("words.json", R"({"a": 0, "b": 0})");
  EXPECT_THAT(ReadAll(path, {.vocabulary = words}).error,
              StatusIs(StatusCode::kInvalidArgument, "claimed by the words 'a' and 'b'"));
  Save("words.json", R"({"a": 18446744073709551615})");
  EXPECT_THAT(ReadAll(path, {.vocabulary = words}).error,
              StatusIs(StatusCode::kInvalidArgument, "the limit is"));
  Save("words.json", R"({"a": 0, "b": "one"})");
  EXPECT_THAT(ReadAll(path, {.vocabulary = words}).error,
              StatusIs(StatusCode::kInvalidArgument, "neither a vocabulary"));
}

// ---- GGUF ----

using GgufReaderTest = BinaryFormatsTest;

TEST_F(GgufReaderTest, TokensAndTheirVectors) {
  const std::vector<std::pair<uint32_t, Encode>> types = {{0, F32}, {1, F16}};
  for (const auto& [type, encode] : types) {
    SCOPED_TRACE(type);
    const Content content =
        Read("m.gguf", Gguf(type, 2, 3, Rows(kTwoByThree, encode), {"<s>", "the"}));
    ASSERT_THAT(content.error, IsOk());
    EXPECT_EQ(content.dimensions, 3u);
    EXPECT_THAT(content.words(), ElementsAre("<s>", "the"));
    EXPECT_EQ(content.vectors(), kTwoByThree);
    EXPECT_EQ(content.doubts, "");
  }
}

TEST_F(GgufReaderTest, WordsFromElsewhere) {
  const std::string data = Rows(kTwoByThree);
  EXPECT_THAT(Read("m.gguf", Gguf(0, 2, 3, data, {})).words(), ElementsAre("0", "1"));
  const std::string words = Save("words.txt", "un\ndeux\n");
  EXPECT_THAT(Read("m.gguf", Gguf(0, 2, 3, data, {"<s>", "the"}), {.vocabulary = words}).words(),
              ElementsAre("un", "deux"));
  // A table may have more rows than tokens, not fewer.
  const Content longer = Read("m.gguf", Gguf(0, 2, 3, data, {"<s>"}));
  EXPECT_THAT(longer.words(), ElementsAre("<s>"));
  EXPECT_THAT(longer.doubts, HasSubstr("1 rows have no word"));
  EXPECT_THAT(ErrorOf("m.gguf", Gguf(0, 2, 3, data, {"<s>", "the", "of"})),
              StatusIs(StatusCode::kFailedPrecondition, "expected 2, found 3"));
}

TEST_F(GgufReaderTest, QuantisedTablesAreRefused) {
  const absl::Status error = ErrorOf("m.gguf", Gguf(2, 2, 32, std::string(36, '\1'), {"a", "b"}));
  EXPECT_THAT(error, StatusIs(StatusCode::kInvalidArgument, "is of type Q4_0, which isn't read"));
  EXPECT_THAT(std::string(error.message()),
              AllOf(HasSubstr(PathOf("m.gguf")), HasSubstr("token_embd.weight")));
}

// ---- HDF5 ----

struct HdfDataset {
  std::string name;
  std::vector<hsize_t> shape;
  hid_t type;
  const void* data;
};

void WriteHdf(const std::string& path, const std::vector<HdfDataset>& datasets) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  for (const HdfDataset& dataset : datasets) {
    const hid_t space =
        H5Screate_simple(static_cast<int>(dataset.shape.size()), dataset.shape.data(), nullptr);
    const hid_t id = H5Dcreate2(file, dataset.name.c_str(), dataset.type, space, H5P_DEFAULT,
                                H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(id, 0);
    ASSERT_GE(H5Dwrite(id, dataset.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, dataset.data), 0);
    H5Dclose(id);
    H5Sclose(space);
  }
  ASSERT_GE(H5Fclose(file), 0);
}

class Hdf5Test : public BinaryFormatsTest {
 protected:
  // The matrix of floats that all tests write, under `name`.
  HdfDataset Floats(const std::string& name) const {
    return {name, {3, 2}, H5T_NATIVE_FLOAT, floats_.data()};
  }
  HdfDataset Integers(const std::string& name) const {
    return {name, {2, 3}, H5T_NATIVE_INT, integers_.data()};
  }
  std::string Write(const std::vector<HdfDataset>& datasets) const {
    WriteHdf(PathOf("v.hdf5"), datasets);
    return PathOf("v.hdf5");
  }

  const Matrix float_rows_ = {{1, -2}, {0.5, 4}, {5, 6}};
  const Matrix integer_rows_ = {{1, 2, 3}, {-4, 5, 6}};

 private:
  const std::vector<float> floats_ = {1, -2, 0.5, 4, 5, 6};
  const std::vector<int> integers_ = {1, 2, 3, -4, 5, 6};
};

TEST_F(Hdf5Test, TrainIsTakenAndOthersByName) {
  const std::string path = Write({Floats("train"), Integers("test")});
  const Content train = ReadAll(path);
  ASSERT_THAT(train.error, IsOk());
  EXPECT_EQ(train.vectors(), float_rows_);
  EXPECT_THAT(train.words(), ElementsAre("0", "1", "2"));
  const Content test = ReadAll(path, {.tensor = "test"});
  ASSERT_THAT(test.error, IsOk());
  EXPECT_EQ(test.vectors(), integer_rows_);
  const absl::Status unknown = ReadAll(path, {.tensor = "neighbors"}).error;
  EXPECT_THAT(unknown, StatusIs(StatusCode::kNotFound, "no dataset 'neighbors'"));
  EXPECT_THAT(std::string(unknown.message()),
              AllOf(HasSubstr(path), HasSubstr("test, train"), HasSubstr("--tensor")));
}

TEST_F(Hdf5Test, ASingleDatasetOfAnotherName) {
  EXPECT_EQ(ReadAll(Write({Floats("embeddings")})).vectors(), float_rows_);
  EXPECT_THAT(ReadAll(Write({Floats("a"), Integers("b")})).error,
              StatusIs(StatusCode::kNotFound, "the file has a, b"));
}

TEST_F(Hdf5Test, OtherDatasetsAreRefused) {
  HdfDataset line = Floats("train");
  line.shape = {6};
  EXPECT_THAT(ReadAll(Write({line})).error,
              StatusIs(StatusCode::kInvalidArgument, "expected 2 dimensions, found 1"));
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 4);
  const std::string characters = "one two zero";
  EXPECT_THAT(ReadAll(Write({{"words", {3, 1}, text, characters.data()}})).error,
              StatusIs(StatusCode::kInvalidArgument, "dataset 'words' holds no numbers"));
  H5Tclose(text);
}

TEST_F(Hdf5Test, EveryCutIsNoticed) {
  std::ifstream in(Write({Floats("train"), Integers("test")}), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  ASSERT_GT(bytes.size(), 100u);
  std::vector<size_t> sizes = {bytes.size() - 1};
  for (size_t size = 1; size < bytes.size(); size += 61) sizes.push_back(size);
  for (const size_t size : sizes) {
    SCOPED_TRACE(size);
    const Content cut =
        Read("cut.hdf5", std::string_view(bytes).substr(0, size), {.format = "hdf5"});
    ASSERT_THAT(cut.error, Not(IsOk()));
    EXPECT_THAT(std::string(cut.error.message()), HasSubstr(PathOf("cut.hdf5")));
  }
  EXPECT_THAT(ErrorOf("v.hdf5.gz", Gzip(bytes)),
              StatusIs(StatusCode::kInvalidArgument, "plain file alone"));
}

}  // namespace
}  // namespace vectable
