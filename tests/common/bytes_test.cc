#include "common/bytes.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

using std::string_literals::operator""s;

std::string Varint(uint64_t value) {
  std::string out;
  PutVarint(out, value);
  return out;
}

TEST(BytesTest, WritersFixTheByteOrder) {
  std::string out;
  PutU8(out, 0xFE);
  PutU32Le(out, 0x01020304);
  PutU32Be(out, 0x01020304);
  PutU64Le(out, 0x0102030405060708);
  PutU64Be(out, 0x0102030405060708);
  PutString(out, "ab");
  PutFloatsLe(out, std::vector<float>{1.0F, -2.0F});
  EXPECT_EQ(out,
            "\xFE\x04\x03\x02\x01\x01\x02\x03\x04\x08\x07\x06\x05\x04\x03\x02\x01"
            "\x01\x02\x03\x04\x05\x06\x07\x08\x02"
            "ab\x00\x00\x80\x3F\x00\x00\x00\xC0"s);
}

TEST(BytesTest, ReadsBackWhatWasWritten) {
  std::string out;
  PutU8(out, 200);
  PutU32Le(out, 0xFFFFFFFE);
  PutU64Le(out, 0x8000000000000001);
  PutU32Be(out, 7);
  PutU64Be(out, std::numeric_limits<uint64_t>::max());
  PutString(out, "");
  PutString(out, "a\0b"s);
  ByteReader reader(out);
  EXPECT_EQ(*reader.U8(), 200);
  EXPECT_EQ(*reader.U32Le(), 0xFFFFFFFE);
  EXPECT_EQ(*reader.U64Le(), 0x8000000000000001);
  EXPECT_EQ(*reader.U32Be(), 7U);
  EXPECT_EQ(*reader.U64Be(), std::numeric_limits<uint64_t>::max());
  EXPECT_THAT(reader.ExpectEnd(), StatusIs(absl::StatusCode::kDataLoss, "5 bytes too many"));
  EXPECT_EQ(*reader.String(), "");
  EXPECT_EQ(*reader.String(), "a\0b"s);
  EXPECT_THAT(reader.ExpectEnd(), IsOk());
}

TEST(BytesTest, BigEndianSortsAsTheNumbersDo) {
  std::string small, large;
  PutU64Be(small, 0xFF);
  PutU64Be(large, 0x100);
  EXPECT_LT(small, large);
}

TEST(BytesTest, FloatsKeepTheirBits) {
  const std::vector<float> values = {0.0F, -0.0F, 1e-45F, 3.4e38F, -INFINITY, 0.1F};
  std::string out;
  PutFloatsLe(out, values);
  std::vector<float> back(values.size());
  CopyFloatsLe(out, back);
  EXPECT_EQ(back, values);
  EXPECT_TRUE(std::signbit(back[1]));
  CopyFloatsLe({}, {});
}

class VarintTest : public testing::TestWithParam<std::pair<uint64_t, std::string>> {};

TEST_P(VarintTest, RoundTrip) {
  const auto& [value, bytes] = GetParam();
  EXPECT_EQ(Varint(value), bytes);
  ByteReader reader(bytes);
  EXPECT_EQ(*reader.Varint(), value);
  EXPECT_THAT(reader.ExpectEnd(), IsOk());
}

INSTANTIATE_TEST_SUITE_P(
    Borders, VarintTest,
    testing::Values(std::pair(0, "\x00"s), std::pair(1, "\x01"s), std::pair(127, "\x7F"s),
                    std::pair(128, "\x80\x01"s), std::pair(300, "\xAC\x02"s),
                    std::pair(16383, "\xFF\x7F"s), std::pair(16384, "\x80\x80\x01"s),
                    std::pair(uint64_t{1} << 63, std::string(9, '\x80') + '\x01'),
                    std::pair(~uint64_t{0}, std::string(9, '\xFF') + '\x01')));

TEST(BytesTest, VarintThatOverflowsIsDataLoss) {
  for (const std::string& bytes :
       {std::string(9, '\xFF') + '\x02', std::string(9, '\xFF') + '\x7F', std::string(10, '\x80'),
        std::string(11, '\x80') + '\x01', std::string(30, '\xFF')}) {
    ByteReader reader(bytes);
    EXPECT_THAT(reader.Varint(), StatusIs(absl::StatusCode::kDataLoss, "bad varint"));
  }
}

TEST(BytesTest, VarintUpToHasALimit) {
  const std::string bytes = Varint(300) + Varint(300);
  ByteReader reader(bytes);
  EXPECT_EQ(*reader.VarintUpTo(300), 300U);
  EXPECT_THAT(reader.VarintUpTo(299),
              StatusIs(absl::StatusCode::kDataLoss, "number 300 before byte 4 exceeds 299"));
}

// A kind of value: its bytes, and how it is read.
struct Readable {
  std::string name;
  std::string bytes;
  std::function<absl::Status(ByteReader&)> read;
};

class TruncationTest : public testing::TestWithParam<Readable> {};

TEST_P(TruncationTest, EveryPrefixIsDataLossAndTheWholeIsRead) {
  const Readable& value = GetParam();
  for (size_t length = 0; length < value.bytes.size(); ++length) {
    // A copy of its own, so that a read past the end is seen by the address sanitizer.
    const std::vector<char> cut(value.bytes.begin(), value.bytes.begin() + length);
    ByteReader reader({cut.data(), cut.size()});
    EXPECT_EQ(value.read(reader).code(), absl::StatusCode::kDataLoss) << length;
  }
  ByteReader reader(value.bytes);
  EXPECT_THAT(value.read(reader), IsOk());
  EXPECT_THAT(reader.ExpectEnd(), IsOk());
}

INSTANTIATE_TEST_SUITE_P(
    All, TruncationTest,
    testing::Values(Readable{"U8", "a", [](ByteReader& r) { return r.U8().status(); }},
                    Readable{"U32Le", "abcd", [](ByteReader& r) { return r.U32Le().status(); }},
                    Readable{"U64Le", "abcdefgh", [](ByteReader& r) { return r.U64Le().status(); }},
                    Readable{"U32Be", "abcd", [](ByteReader& r) { return r.U32Be().status(); }},
                    Readable{"U64Be", "abcdefgh", [](ByteReader& r) { return r.U64Be().status(); }},
                    Readable{"Varint", Varint(~uint64_t{0}),
                             [](ByteReader& r) { return r.Varint().status(); }},
                    Readable{"Bytes", "abcde", [](ByteReader& r) { return r.Bytes(5).status(); }},
                    Readable{"String", Varint(130) + std::string(130, 'x'),
                             [](ByteReader& r) { return r.String().status(); }}),
    [](const auto& test) { return test.param.name; });

TEST(BytesTest, AStringAsLongAsMemoryIsDataLoss) {
  const std::string bytes = Varint(~uint64_t{0}) + "abc";
  ByteReader reader(bytes);
  EXPECT_THAT(reader.String(), StatusIs(absl::StatusCode::kDataLoss, "exceeds 13"));
}

}  // namespace
}  // namespace vectable
