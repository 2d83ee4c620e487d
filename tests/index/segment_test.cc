#include "index/segment.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/index/index_model.h"

namespace vectable {
namespace {

class SegmentTest : public testing::Test {
 protected:
  Segment segment_{Metric::kCosine, {Precision::kFp32, 2}};
};

TEST_F(SegmentTest, HoldsWhatWasAppended) {
  segment_.Append(7, "cat", Fp32Codes({3, 4}));
  segment_.Append(9, "dog", Fp32Codes({1, 0}));
  EXPECT_EQ(segment_.slots(), 2U);
  EXPECT_EQ(segment_.FindWord("dog", 2, 1), 1U);
  EXPECT_EQ(segment_.FindRowId(7, 2, 1), 0U);
  EXPECT_EQ(segment_.FindWord("cow", 2, 1), kNoSlot);
  EXPECT_EQ(segment_.FindRowId(0, 2, 1), kNoSlot);
  const Chunk& chunk = segment_.chunk_of(0);
  std::vector<float> scratch;
  EXPECT_EQ(chunk.word(0), "cat");
  EXPECT_EQ(chunk.row_id(1), 9U);
  EXPECT_EQ(chunk.squared_norm(0), 25.0);
  EXPECT_EQ(chunk.Vector(0, scratch)[1], 4.0F);
  EXPECT_EQ(chunk.SearchVectors(1, scratch)[0], 0.6F);
  EXPECT_EQ(chunk.min_row_id(), 7U);
  EXPECT_EQ(chunk.max_row_id(), 9U);
}

TEST_F(SegmentTest, SlotsNotPublishedAreNotSeen) {
  segment_.Append(0, "cat", Fp32Codes({1, 0}));
  EXPECT_EQ(segment_.FindWord("cat", 0, 1), kNoSlot);
  EXPECT_EQ(segment_.FindRowId(0, 0, 1), kNoSlot);
  EXPECT_EQ(segment_.FindWord("cat", 1, 1), 0U);
}

TEST_F(SegmentTest, ADeathIsSeenFromItsVersionOn) {
  segment_.Append(0, "cat", Fp32Codes({1, 0}));
  segment_.MarkDead(0, 5);
  EXPECT_EQ(segment_.FindWord("cat", 1, 4), 0U);
  EXPECT_EQ(segment_.FindWord("cat", 1, 5), kNoSlot);
  EXPECT_EQ(segment_.FindRowId(0, 1, 4), 0U);
  EXPECT_EQ(segment_.FindRowId(0, 1, 6), kNoSlot);
  EXPECT_EQ(segment_.FindLiveRowId(0), kNoSlot);
  EXPECT_EQ(segment_.dead_slots(), 1U);
  EXPECT_TRUE(segment_.chunk(0).has_dead());
}

TEST_F(SegmentTest, EveryVersionOfAWordReplacedOftenIsFound) {
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

TEST_F(SegmentTest, AWordDeletedAndAddedAgainHasAnotherId) {
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

TEST_F(SegmentTest, WordsOfAnyLengthAreKept) {
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

TEST(SegmentRoomTest, FillsUpInChunksThatDoNotMove) {
  const auto segment = std::make_unique<Segment>(Metric::kDot, VectorCodec(Precision::kFp32, 1));
  segment->Append(0, "first", Fp32Codes({42}));
  const char* const first = segment->chunk(0).codes(0);
  uint64_t row_id = 1;
  for (; !segment->full(); ++row_id) {
    segment->Append(row_id, absl::StrCat("w", row_id), Fp32Codes({1}));
  }
  EXPECT_EQ(segment->slots(), row_id);
  EXPECT_EQ(segment->slots() % segment->chunk_rows(), 0U);
  EXPECT_EQ(segment->chunk(0).codes(0), first);
  EXPECT_EQ(VectorOf({Precision::kFp32, 1}, first), Vector{42});
  const auto last = static_cast<uint32_t>(row_id - 1);
  EXPECT_EQ(segment->FindWord(absl::StrCat("w", last), row_id, 1), last);
  EXPECT_EQ(segment->FindRowId(last, row_id, 1), last);
}

}  // namespace
}  // namespace vectable
