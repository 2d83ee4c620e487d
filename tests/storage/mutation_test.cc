#include "storage/mutation.h"

#include <string>

#include "absl/strings/escaping.h"
#include "common/limits.h"
#include "gtest/gtest.h"
#include "tests/storage/mutations.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

struct Golden {
  std::string name;
  Mutation mutation;
  std::string hex;
};

class MutationTest : public testing::TestWithParam<Golden> {};

TEST_P(MutationTest, GoldenBytesAndBack) {
  const std::string bytes = EncodeMutation(GetParam().mutation);
  EXPECT_EQ(absl::BytesToHexString(bytes), GetParam().hex);
  const auto decoded = DecodeMutation(bytes);
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(*decoded, GetParam().mutation);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, MutationTest,
    testing::Values(Golden{"Upsert", Upsert({"x", "yz"}, "ABCD", UpsertMode::kInsertOnly),
                           "010102"
                           "0201780279"
                           "7a"
                           "00"
                           "0441424344"},
                    Golden{"UpsertWithIds",
                           Upsert({"a", "b", "c", "d"}, "ABCD", UpsertMode::kUpsert,
                                  {std::nullopt, 0, kMaxRowId, 300}),
                           "010101"
                           "0401610162"
                           "01630164"
                           "01"
                           "0001"
                           "80808080808080808001"
                           "ad02"
                           "0441424344"},
                    Golden{"UpdateOnly", Upsert({"w"}, "", UpsertMode::kUpdateOnly),
                           "010103"
                           "010177"
                           "00"
                           "00"},
                    Golden{"DeleteWords", DeleteWords({"cat", ""}),
                           "0102"
                           "0203636174"
                           "00"},
                    Golden{"DeleteRowIds", DeleteRowIds({0, 128, kMaxRowId}),
                           "0103"
                           "03"
                           "00"
                           "8001"
                           "ffffffffffffffff7f"}),
    [](const auto& test) { return test.param.name; });

TEST(MutationTest, CodesOfARow) {
  const Mutation mutation = Upsert({"x", "y", "z"}, "aabbcc");
  EXPECT_EQ(mutation.CodesOf(0), "aa");
  EXPECT_EQ(mutation.CodesOf(2), "cc");
}

TEST(MutationTest, WhatNoEncoderMakesIsDataLoss) {
  for (const std::string hex : {"00010100",  // version 0
                                "0100",      // kind 0
                                "0104",      // kind 4
                                "01010401017700"
                                "00",                // mode 4
                                "0101000101770000",  // mode 0
                                "01010101017702"
                                "0000",  // id marker 2
                                "0101010000"
                                "00",  // no words
                                "01010102017801790003"
                                "414243",      // 3 bytes for 2 rows
                                "0102016177",  // a count beyond the end
                                "010300"
                                "00",                             // bytes too many
                                "010301ffffffffffffffffff01"}) {  // an id above the greatest
    EXPECT_THAT(DecodeMutation(absl::HexStringToBytes(hex)),
                StatusIs(absl::StatusCode::kDataLoss, ""))
        << hex;
  }
}

}  // namespace
}  // namespace vectable
