#include <random>
#include <string>

#include "gtest/gtest.h"
#include "sizing/gguf_header.h"
#include "sizing/model_file.h"
#include "tests/common/test_seed.h"
#include "tests/sizing/file_writers.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

constexpr auto kGgufInvalid = absl::StatusCode::kInvalidArgument;

constexpr uint32_t kGgufU32 = 4, kGgufString = 8, kGgufArray = 9;
constexpr uint32_t kF32Type = 0, kQ4Type = 2, kQ4KType = 12;

std::string StringArray(const std::vector<std::string>& texts) {
  std::string bytes = LittleEndian(kGgufString, 4) + LittleEndian(texts.size(), 8);
  for (const std::string& text : texts) bytes += GgufWriter::String(text);
  return bytes;
}

GgufWriter TinyGguf() {
  GgufWriter file;
  file.Pair("general.architecture", kGgufString, GgufWriter::String("llama"));
  file.Pair("general.name", kGgufString, GgufWriter::String("Tiny"));
  file.Pair("llama.block_count", kGgufU32, LittleEndian(1, 4));
  file.Pair("tokenizer.ggml.tokens", kGgufArray, StringArray({"a", "bc", "", "def"}));
  file.Pair("tokenizer.ggml.scores", kGgufArray,
            LittleEndian(6, 4) + LittleEndian(4, 8) + std::string(16, '\0'));
  file.Add("token_embd.weight", kQ4KType, {256, 10}, 10 * 144);
  file.Add("blk.0.attn_q.weight", kQ4Type, {256, 4}, 4 * 8 * 18);
  file.Add("blk.0.attn_norm.weight", kF32Type, {256}, 1'024);
  file.Add("blk.0.ffn_up.weight", kQ4Type, {256, 2}, 2 * 8 * 18);
  file.Add("blk.0.ffn_gate_inp.weight", kF32Type, {256, 2}, 2'048);
  file.Add("output_norm.weight", kF32Type, {256}, 1'024);
  file.Add("output.weight", kQ4KType, {256, 10}, 10 * 144);
  file.Add("rope_freqs.weight", kF32Type, {64}, 256);
  return file;
}

TEST(GgufTest, PartsAndTypes) {
  const FileFolder folder;
  const ModelReport report = *ReportModelFile(TinyGguf().WriteTo(folder, "tiny.gguf"), {});
  EXPECT_EQ(report.name, "Tiny (llama)");
  EXPECT_EQ(report.parts->embedding, 2'560U);
  EXPECT_EQ(report.parts->attention, 1'024U);
  EXPECT_EQ(report.parts->mlp, 512 + 512U);
  EXPECT_EQ(report.parts->norm, 512U);
  EXPECT_EQ(report.parts->head, 2'560U);
  EXPECT_EQ(report.parts->other, 0U);
  EXPECT_EQ(report.total, 2'560 + 1'024 + 1'024 + 512 + 2'560U);
  const TensorSummary& file = *report.tensors;
  EXPECT_EQ(file.format, "GGUF v3");
  EXPECT_EQ(file.buffers.elements, 64U);
  EXPECT_EQ(file.types.at("Q4_K").elements, 5'120U);
  EXPECT_EQ(file.types.at("Q4_K").bytes, 2'880U);  // 4.5 bits each
  EXPECT_EQ(file.types.at("Q4_0").bytes, 6 * 8 * 18U);
  EXPECT_EQ(file.header_bytes, TinyGguf().header().size());
  // Version 2 differs in nothing that matters here.
  const std::string second = TinyGguf().header(2);
  EXPECT_THAT(ReadGgufHeader(folder.Write("v2.gguf", second, second.size() + 65'536)), IsOk());
}

TEST(GgufTest, TheShapeIsntRead) {
  const FileFolder folder;
  const std::string path = TinyGguf().WriteTo(folder, "tiny.gguf");
  folder.Write("config.json", "{}");
  EXPECT_THAT(ReportModelFile(path, {.context = 9}),
              StatusIs(kGgufInvalid, "a config.json beside a GGUF file isn't read; give it alone"));
  EXPECT_THAT(ReportModelFile(path, {}), IsOk());
}

TEST(GgufTest, APartIsNotTheWhole) {
  const FileFolder folder;
  struct Integer {
    uint32_t type;
    size_t bytes;
  };
  for (const Integer integer :
       {Integer{0, 1}, {1, 1}, {2, 2}, {3, 2}, {4, 4}, {5, 4}, {10, 8}, {11, 8}}) {
    GgufWriter part = TinyGguf();
    part.Pair("split.no", integer.type, LittleEndian(1, integer.bytes));
    part.Pair("split.count", integer.type, LittleEndian(3, integer.bytes));
    EXPECT_THAT(ReportModelFile(part.WriteTo(folder, "part.gguf"), {}),
                StatusIs(kGgufInvalid, "part 2 of a GGUF model split into 3; it can't be counted"))
        << integer.type;
  }
  // The first part may hold no tensor at all.
  GgufWriter first;
  first.Pair("split.count", 2, LittleEndian(2, 2));
  EXPECT_THAT(ReportModelFile(first.WriteTo(folder, "first.gguf"), {}),
              StatusIs(kGgufInvalid, "part 1 of a GGUF model split into 2"));
  GgufWriter whole = TinyGguf();
  whole.Pair("split.no", 2, LittleEndian(0, 2)).Pair("split.count", 2, LittleEndian(1, 2));
  EXPECT_THAT(ReportModelFile(whole.WriteTo(folder, "whole.gguf"), {}), IsOk());
  GgufWriter negative;
  negative.Pair("split.count", 3, LittleEndian(0xFFFF, 2));
  EXPECT_THAT(ReportModelFile(negative.WriteTo(folder, "negative.gguf"), {}),
              StatusIs(kGgufInvalid, "key 'split.count': a negative number"));
  GgufWriter text;
  text.Pair("split.count", kGgufString, GgufWriter::String("3"));
  EXPECT_THAT(ReportModelFile(text.WriteTo(folder, "text.gguf"), {}),
              StatusIs(kGgufInvalid, "key 'split.count': type 8 isn't a whole number's"));
}

TEST(GgufTest, BlockSizes) {
  struct Case {
    const char* name;
    uint32_t number;
    double bits;
  };
  const Case cases[] = {{"F32", 0, 32},          {"F16", 1, 16},      {"Q4_0", 2, 4.5},
                        {"Q4_1", 3, 5},          {"Q5_0", 6, 5.5},    {"Q5_1", 7, 6},
                        {"Q8_0", 8, 8.5},        {"Q2_K", 10, 2.625}, {"Q3_K", 11, 3.4375},
                        {"Q4_K", 12, 4.5},       {"Q5_K", 13, 5.5},   {"Q6_K", 14, 6.5625},
                        {"IQ2_XXS", 16, 2.0625}, {"IQ4_NL", 20, 4.5}, {"IQ4_XS", 23, 4.25},
                        {"BF16", 30, 16},        {"MXFP4", 39, 4.25}};
  for (const Case& one : cases) {
    const GgmlType* type = FindGgmlType(one.number);
    ASSERT_NE(type, nullptr) << one.name;
    EXPECT_STREQ(type->name, one.name);
    EXPECT_EQ(8.0 * type->block_bytes / type->block_elements, one.bits) << one.name;
  }
  EXPECT_EQ(FindGgmlType(4), nullptr);  // removed from the format
  EXPECT_EQ(FindGgmlType(4'000), nullptr);
}

TEST(GgufTest, BadHeadersAreOneClearLine) {
  const FileFolder folder;
  const auto read = [&folder](const std::string& bytes, uint64_t size = 0) {
    return ReadGgufHeader(folder.Write("bad.gguf", bytes, size));
  };
  const std::string counts = LittleEndian(0, 8) + LittleEndian(1, 8);
  const std::string start = "GGUF" + LittleEndian(3, 4);
  EXPECT_THAT(read(""), StatusIs(kGgufInvalid, "needs 4 bytes at byte 0, but the file has 0"));
  EXPECT_THAT(read("GGML" + LittleEndian(3, 4)),
              StatusIs(kGgufInvalid, "doesn't begin with 'GGUF'"));
  EXPECT_THAT(read("GGUF" + LittleEndian(1, 4)), StatusIs(kGgufInvalid, "version 1 isn't read"));
  EXPECT_THAT(read("GGUF" + std::string("\0\0\0\3", 4)), StatusIs(kGgufInvalid, "big-endian"));
  EXPECT_THAT(read(start + LittleEndian(UINT64_MAX, 8)),
              StatusIs(kGgufInvalid, "the limit is 1000000"));
  EXPECT_THAT(read(start + LittleEndian(1, 8) + LittleEndian(1 << 20, 8)),
              StatusIs(kGgufInvalid, "1048576 keys; the limit is 65536"));
  EXPECT_THAT(read(start + counts + LittleEndian(UINT64_MAX, 8)),
              StatusIs(kGgufInvalid, "a key of 18446744073709551615 bytes; the limit is 65535"));
  const std::string key = GgufWriter::String("k");
  EXPECT_THAT(read(start + counts + key + LittleEndian(13, 4)),
              StatusIs(kGgufInvalid, "key 'k': unknown type 13"));
  EXPECT_THAT(
      read(start + counts + key + LittleEndian(kGgufString, 4) + LittleEndian(1ULL << 40, 8)),
      StatusIs(kGgufInvalid, "key 'k': the header needs 1099511627776 bytes"));
  EXPECT_THAT(read(start + counts + key + LittleEndian(kGgufArray, 4) +
                   LittleEndian(kGgufString, 4) + LittleEndian(9'000'000, 8)),
              StatusIs(kGgufInvalid, "key 'k': the header needs 8 bytes"));
  EXPECT_THAT(read(start + counts + key + LittleEndian(kGgufArray, 4) +
                   LittleEndian(kGgufString, 4) + LittleEndian(UINT64_MAX, 8)),
              StatusIs(kGgufInvalid, "texts or arrays; the limit is 10000000"));
  EXPECT_THAT(read(start + counts + key + LittleEndian(kGgufArray, 4) + LittleEndian(kGgufU32, 4) +
                   LittleEndian(UINT64_MAX, 8)),
              StatusIs(absl::StatusCode::kOutOfRange, "key 'k': an array's bytes don't fit"));
  std::string nested;
  for (int i = 0; i < 100; ++i) nested += LittleEndian(kGgufArray, 4) + LittleEndian(1, 8);
  EXPECT_THAT(read(start + counts + key + LittleEndian(kGgufArray, 4) + nested),
              StatusIs(kGgufInvalid, "arrays nested deeper than 8 levels"));
  // An array of bytes that reaches into a large file's weights: the header's limit ends it.
  EXPECT_THAT(read(start + counts + key + LittleEndian(kGgufArray, 4) + LittleEndian(0, 4) +
                       LittleEndian(1ULL << 30, 8),
                   10'000'000'000),
              StatusIs(kGgufInvalid, "the header is over 268435456 bytes, the limit"));
  EXPECT_THAT(read(GgufWriter().Pair("general.alignment", kGgufU32, LittleEndian(0, 4)).header()),
              StatusIs(kGgufInvalid, "alignment 0"));
}

TEST(GgufTest, BadTensorsAreNamed) {
  const FileFolder folder;
  const auto read = [&folder](const GgufWriter& file) {
    return ReadGgufHeader(file.WriteTo(folder, "bad.gguf"));
  };
  EXPECT_THAT(read(GgufWriter().Add("t", 4, {32}, 32)),
              StatusIs(kGgufInvalid, "'t': unknown type 4"));
  EXPECT_THAT(read(GgufWriter().Add("t", kF32Type, {1, 1, 1, 1, 1}, 4)),
              StatusIs(kGgufInvalid, "5 dimensions; the limit is 4"));
  EXPECT_THAT(read(GgufWriter().Add("t", kQ4Type, {33}, 32)),
              StatusIs(kGgufInvalid, "rows of 33 elements aren't whole Q4_0 blocks of 32"));
  EXPECT_THAT(read(GgufWriter().Add("t", kF32Type, {1ULL << 40, 1ULL << 40}, 32)),
              StatusIs(absl::StatusCode::kOutOfRange, "tensor 't': its elements don't fit"));
  EXPECT_THAT(read(GgufWriter().Add("t", kF32Type, {1'000}, 32)),
              StatusIs(kGgufInvalid, "4000 bytes from 0 pass the end of the file"));
  EXPECT_THAT(read(GgufWriter().Add("a", kF32Type, {16}, 32).Add("b", kF32Type, {16}, 64)),
              StatusIs(kGgufInvalid, "tensor 'b': its bytes from 32 overlap another tensor's"));
  EXPECT_THAT(read(GgufWriter().Add("a", kF32Type, {8}, 32).Add("a", kF32Type, {8}, 32)),
              StatusIs(kGgufInvalid, "tensor 'a': the header names it twice"));
  EXPECT_THAT(ReportModelFile(GgufWriter().WriteTo(folder, "empty.gguf"), {}),
              StatusIs(kGgufInvalid, "names no tensor"));
}

TEST(GgufTest, RandomDamage) {
  std::mt19937_64 random(TestSeed());
  const FileFolder folder;
  const std::string whole = TinyGguf().header();
  for (int i = 0; i < 1'000; ++i) {
    std::string bytes = whole;
    const int flips = static_cast<int>(random() % 4);
    for (int flip = 0; flip < flips; ++flip) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    }
    if (random() % 3 == 0) bytes.resize(random() % bytes.size());
    const absl::StatusOr<ModelReport> report =
        ReportModelFile(folder.Write("m.gguf", bytes, bytes.size() + random() % 20'000), {});
    if (report.ok()) continue;
    ASSERT_EQ(std::string(report.status().message()).find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace vectable
