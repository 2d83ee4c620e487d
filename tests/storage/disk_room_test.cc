#include "storage/disk_room.h"

#include <sys/stat.h>

#include <filesystem>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace vectable {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kMoreThanAnyDisk = uint64_t{1} << 62;

class DiskRoomTest : public testing::Test {
 protected:
  // What the reserve takes on the disk.
  uint64_t Reserved() const {
    struct stat file {};
    if (stat((folder_.path() + "/RESERVE").c_str(), &file) != 0) return 0;
    return static_cast<uint64_t>(file.st_blocks) * 512;
  }

  TempDir folder_;
};

TEST_F(DiskRoomTest, HoldsTheReserveBackAndGivesItUp) {
  DiskRoom room(folder_.path(), 3 * kMiB);
  EXPECT_GE(Reserved(), 3 * kMiB);
  EXPECT_THAT(room.CheckGrowth(kMiB), IsOk());
  EXPECT_THAT(room.MakeRoom(kMiB), IsOk());
  EXPECT_GE(Reserved(), 3 * kMiB);
  EXPECT_TRUE(room.Has(kMiB));

  EXPECT_THAT(room.CheckGrowth(kMoreThanAnyDisk),
              StatusIs(absl::StatusCode::kResourceExhausted, folder_.path()));
  EXPECT_GE(Reserved(), 3 * kMiB);  // growth is no reason
  EXPECT_FALSE(room.Has(kMoreThanAnyDisk));
  EXPECT_THAT(room.MakeRoom(kMoreThanAnyDisk),
              StatusIs(absl::StatusCode::kResourceExhausted, "is full"));
  EXPECT_EQ(Reserved(), 0U);

  // It is made anew before anything grows.
  EXPECT_THAT(room.CheckGrowth(kMiB), IsOk());
  EXPECT_GE(Reserved(), 3 * kMiB);
}

TEST_F(DiskRoomTest, TakesOverTheReserveOfAnEarlierRun) {
  { DiskRoom room(folder_.path(), 2 * kMiB); }
  EXPECT_GE(Reserved(), 2 * kMiB);
  DiskRoom room(folder_.path(), 2 * kMiB);
  EXPECT_GE(Reserved(), 2 * kMiB);
  EXPECT_THAT(room.CheckGrowth(1), IsOk());
}

TEST_F(DiskRoomTest, NoReserveIsFine) {
  DiskRoom room(folder_.path(), 0);
  EXPECT_EQ(Reserved(), 0U);
  EXPECT_THAT(room.CheckGrowth(kMiB), IsOk());
  EXPECT_THAT(room.MakeRoom(kMiB), IsOk());
}

}  // namespace
}  // namespace vectable
