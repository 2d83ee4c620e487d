#include "storage/directory_lock.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace vectable {
namespace {

TEST(DirectoryLockTest, MakesTheDirectoryAndHoldsIt) {
  const TempDir temp;
  const std::string path = temp.path() + "/a/b";
  auto first = DirectoryLock::Acquire(path);
  ASSERT_THAT(first, IsOk());
  EXPECT_TRUE(std::filesystem::is_directory(path));
  EXPECT_THAT(DirectoryLock::Acquire(path),
              StatusIs(absl::StatusCode::kFailedPrecondition, "in use by another vectable-server"));
  // The same directory by another name.
  EXPECT_THAT(DirectoryLock::Acquire(temp.path() + "/a/../a/b/."),
              StatusIs(absl::StatusCode::kFailedPrecondition, "in use"));
  first->reset();
  EXPECT_THAT(DirectoryLock::Acquire(path), IsOk());
}

TEST(DirectoryLockTest, ARefusedLockLeavesTheFirstInForce) {
  const TempDir temp;
  const auto first = DirectoryLock::Acquire(temp.path());
  ASSERT_THAT(first, IsOk());
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(DirectoryLock::Acquire(temp.path()),
                StatusIs(absl::StatusCode::kFailedPrecondition, temp.path()));
  }
}

TEST(DirectoryLockTest, PathsThatCannotBeADirectory) {
  const TempDir temp;
  const std::string file = temp.path() + "/file";
  std::ofstream(file) << "text";
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(DirectoryLock::Acquire(file), StatusIs(kInvalid, "can't be made"));
  EXPECT_THAT(DirectoryLock::Acquire(file + "/under"), StatusIs(kInvalid, "can't be made"));
  EXPECT_THAT(DirectoryLock::Acquire(temp.path() + "/" + std::string(300, 'n')),
              StatusIs(kInvalid, "can't be made"));
  EXPECT_THAT(DirectoryLock::Acquire(""), StatusIs(kInvalid, "name is empty"));
}

TEST(DirectoryLockTest, AnUnwritableLockFileIsSaid) {
  const TempDir temp;
  std::filesystem::create_directory(temp.path() + "/LOCK");
  EXPECT_THAT(DirectoryLock::Acquire(temp.path()),
              StatusIs(absl::StatusCode::kInternal, "isn't writable"));
}

}  // namespace
}  // namespace vectable
