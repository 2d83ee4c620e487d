#include "index/slot_map.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace vectable {
namespace {

// A map whose slots hold numbers, with a hash that the test chooses.
class NumberMap {
 public:
  explicit NumberMap(size_t max_keys) : map_(max_keys) {}

  uint32_t Find(uint64_t hash, uint64_t key) const {
    return map_.Find(hash, [&](uint32_t slot) { return keys_[slot] == key; });
  }
  // Gives the key a new slot and returns the slot before.
  uint32_t Set(uint64_t hash, uint64_t key) {
    uint32_t previous = kNoSlot - 1;
    keys_.push_back(key);
    map_.Set(
        hash, static_cast<uint32_t>(keys_.size() - 1),
        [&](uint32_t slot) { return keys_[slot] == key; },
        [&](uint32_t before) {
          previous = before;
          visible_early_ = visible_early_ || Find(hash, key) == keys_.size() - 1;
        });
    return previous;
  }
  bool visible_early() const { return visible_early_; }

 private:
  std::vector<uint64_t> keys_;
  SlotMap map_;
  bool visible_early_ = false;
};

class SlotMapTest : public testing::TestWithParam<uint64_t> {
 protected:
  // Hashes that all differ, all agree, or agree in groups, as the parameter says.
  static uint64_t Hash(uint64_t key) { return GetParam() == 0 ? ~uint64_t{0} : key / GetParam(); }
};

TEST_P(SlotMapTest, FindsTheLastSlotOfEachKeyUpToItsRoom) {
  constexpr uint64_t kKeys = 1000;
  NumberMap map(kKeys);
  EXPECT_EQ(map.Find(Hash(1), 1), kNoSlot);
  for (uint64_t key = 0; key < kKeys; ++key) EXPECT_EQ(map.Set(Hash(key), key), kNoSlot);
  for (uint64_t key = 0; key < kKeys; ++key) EXPECT_EQ(map.Set(Hash(key), key), key);
  for (uint64_t key = 0; key < kKeys; ++key) EXPECT_EQ(map.Find(Hash(key), key), kKeys + key);
  EXPECT_EQ(map.Find(Hash(kKeys), kKeys), kNoSlot);
  EXPECT_FALSE(map.visible_early());
}

INSTANTIATE_TEST_SUITE_P(Hashes, SlotMapTest, testing::Values(0, 1, 7));

TEST(SlotMapRoomTest, OneKey) {
  NumberMap map(1);
  EXPECT_EQ(map.Set(5, 42), kNoSlot);
  EXPECT_EQ(map.Find(5, 42), 0U);
  EXPECT_EQ(map.Find(5, 43), kNoSlot);
}

}  // namespace
}  // namespace vectable
