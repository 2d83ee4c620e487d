#include "index/growing_segment.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/index/index_model.h"

namespace vectable {
namespace {

class GrowingSegmentTest : public testing::Test {
 protected:
  GrowingSegment segment_{Metric::kCosine, {Precision::kFp32, 2}};
};

TEST_F(GrowingSegmentTest, HoldsWhatWasAppended) {
  segment_.Append(7, "cat", Fp32Codes({3, 4}));
  segment_.Append(9, "dog", Fp32Codes({1, 0}));
  EXPECT_EQ(segment_.slots(), 2U);
  EXPECT_EQ(segment_.FindWord("dog", 2, 1), 1U);
  EXPECT_EQ(segment_.FindRowId(7, 2, 1), 0U);
  EXPECT_EQ(segment_.FindWord("cow", 2, 1), kNoSlot);
  EXPECT_EQ(segment_.FindRowId(0, 2, 1), kNoSlot);
  const RowBlock block = segment_.Block(0, 2);
  std::vector<float> scratch;
  EXPECT_EQ(block.rows(), 2U);
  EXPECT_EQ(block.word(0), "cat");
  EXPECT_EQ(block.row_id(1), 9U);
  EXPECT_EQ(block.squared_norm(0), 25.0);
  EXPECT_EQ(block.Vector(0, scratch)[1], 4.0F);
  // The unit vector is 0.6, 0.8.
  const RowColumns& columns = block.columns();
  int8_t codes[2];
  JoinCodes(columns.coarse.row(0), columns.fine.row(0), 2, codes);
  EXPECT_EQ(codes[0], 95);
  EXPECT_EQ(codes[1], 127);
  EXPECT_FLOAT_EQ(columns.coarse.scale(0), 0.8F / 127);
  EXPECT_NEAR(columns.fine.error(0), 0.6 - 95 * 0.8 / 127, 1e-7);
  // 95 and 127 lie in 80 to 95 and 112 to 127, whose middles stand for them.
  EXPECT_NEAR(columns.coarse.error(0), std::hypot(0.6 - 87.5 * 0.8 / 127, 0.8 - 119.5 * 0.8 / 127),
              1e-6);
}

TEST_F(GrowingSegmentTest, SlotsNotPublishedAreNotSeen) {
  segment_.Append(0, "cat", Fp32Codes({1, 0}));
  EXPECT_EQ(segment_.FindWord("cat", 0, 1), kNoSlot);
  EXPECT_EQ(segment_.FindRowId(0, 0, 1), kNoSlot);
  EXPECT_EQ(segment_.FindWord("cat", 1, 1), 0U);
}

TEST_F(GrowingSegmentTest, ADeathIsSeenFromItsVersionOn) {
  segment_.Append(0, "cat", Fp32Codes({1, 0}));
  segment_.MarkDead(0, 5);
  EXPECT_EQ(segment_.FindWord("cat", 1, 4), 0U);
  EXPECT_EQ(segment_.FindWord("cat", 1, 5), kNoSlot);
  EXPECT_EQ(segment_.FindRowId(0, 1, 4), 0U);
  EXPECT_EQ(segment_.FindRowId(0, 1, 6), kNoSlot);
  EXPECT_EQ(segment_.FindLiveRowId(0), kNoSlot);
  EXPECT_EQ(segment_.dead_slots(), 1U);
  EXPECT_TRUE(segment_.IsLive(0, 4));
  EXPECT_FALSE(segment_.IsLive(0, 5));
}

TEST_F(GrowingSegmentTest, EveryVersionOfAWordReplacedOftenIsFound) {
  constexpr uint32_t kTimes = 500;
  for (uint32_t i = 0; i < kTimes; ++i) {
    if (i > 0) segment_.MarkDead(i - 1, i + 1);
    segment_.Append(3, "cat", Fp32Codes({1, static_cast<float>(i)}));
  }
  // Slot i came in version i + 1.
  for (uint32_t i = 0; i < kTimes; ++i) {
    EXPECT_EQ(segment_.FindWord("cat", i + 1, i + 1), i);
    EXPECT_EQ(segment_.FindRowId(3, i + 1, i + 1), i);
  }
  EXPECT_EQ(segment_.FindLiveRowId(3), kTimes - 1);
}

TEST_F(GrowingSegmentTest, AWordDeletedAndAddedAgainHasAnotherId) {
  segment_.Append(0, "cat", Fp32Codes({1, 0}));  // version 1
  segment_.MarkDead(0, 2);
  segment_.Append(1, "dog", Fp32Codes({1, 0}));  // version 3
  segment_.Append(2, "cat", Fp32Codes({0, 1}));
  EXPECT_EQ(segment_.FindWord("cat", 1, 1), 0U);
  EXPECT_EQ(segment_.FindWord("cat", 1, 2), kNoSlot);
  EXPECT_EQ(segment_.FindWord("cat", 3, 3), 2U);
  EXPECT_EQ(segment_.FindRowId(0, 3, 3), kNoSlot);
  EXPECT_EQ(segment_.FindRowId(2, 3, 3), 2U);
}

TEST_F(GrowingSegmentTest, WordsOfAnyLengthAreKept) {
  const std::vector<std::string> words = {"a", std::string(4096, 'b'), std::string(100'000, 'c'),
                                          std::string("nul\0nul", 7), "d"};
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string passing = words[i];
    segment_.Append(i, passing, Fp32Codes({1, 0}));
  }
  for (uint32_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(segment_.FindWord(words[i], words.size(), 1), i);
  }
}

TEST(GrowingSegmentRoomTest, FillsUpInChunksThatDoNotMove) {
  const auto segment =
      std::make_unique<GrowingSegment>(Metric::kDot, VectorCodec(Precision::kFp32, 1));
  segment->Append(0, "first", Fp32Codes({42}));
  const char* const first = segment->Columns(0).codes;
  uint64_t row_id = 1;
  for (; !segment->full(); ++row_id) {
    segment->Append(row_id, absl::StrCat("w", row_id), Fp32Codes({1}));
  }
  EXPECT_EQ(segment->slots(), row_id);
  EXPECT_EQ(segment->slots() % segment->block_rows(), 0U);
  EXPECT_EQ(segment->Columns(0).codes, first);
  EXPECT_EQ(VectorOf({Precision::kFp32, 1}, first), Vector{42});
  const auto last = static_cast<uint32_t>(row_id - 1);
  EXPECT_EQ(segment->FindWord(absl::StrCat("w", last), row_id, 1), last);
  EXPECT_EQ(segment->FindRowId(last, row_id, 1), last);
}

}  // namespace
}  // namespace vectable
