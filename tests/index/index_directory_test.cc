#include "index/index_directory.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace vectable {
namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::set<std::string> NamesIn(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

class IndexDirectoryTest : public testing::Test {
 protected:
  static IndexManifest SomeManifest() {
    IndexManifest manifest;
    manifest.table_created = 1'700'000'000'123'456;
    manifest.covered = 300;
    manifest.written = 301;
    manifest.segments.push_back({7, {0, 1, 200, 4'294'967'294}});
    manifest.segments.push_back({12, {}});
    return manifest;
  }
  std::string ManifestPath() const { return directory_.path() + "/MANIFEST"; }
  void Touch(const std::string& name) const { WriteFile(directory_.path() + "/" + name, "x"); }
  absl::StatusCode CodeOfManifest(const std::string& bytes) const {
    WriteFile(ManifestPath(), bytes);
    return directory_.ReadManifest().status().code();
  }

  const TempDir folder_;
  IndexDirectory directory_{IndexFolderOf(folder_.path(), 4)};
};

TEST_F(IndexDirectoryTest, IsNamedAfterItsTable) {
  EXPECT_EQ(directory_.path(), folder_.path() + "/t4");
  EXPECT_EQ(directory_.PathOf(17), folder_.path() + "/t4/17.segment");
}

TEST_F(IndexDirectoryTest, AFolderThatIsNotThereHasNoManifest) {
  const auto manifest = directory_.ReadManifest();
  ASSERT_THAT(manifest, IsOk());
  EXPECT_FALSE(*manifest);
  EXPECT_THAT(directory_.Remove(), IsOk());
}

TEST_F(IndexDirectoryTest, AManifestIsReadAsItWasWritten) {
  ASSERT_THAT(directory_.WriteManifest({}), IsOk());
  ASSERT_THAT(directory_.WriteManifest(SomeManifest()), IsOk());
  const auto read = directory_.ReadManifest();
  ASSERT_THAT(read, IsOk());
  ASSERT_TRUE(*read);
  const IndexManifest& manifest = **read;
  EXPECT_EQ(manifest.table_created, 1'700'000'000'123'456);
  EXPECT_EQ(manifest.covered, 300U);
  EXPECT_EQ(manifest.written, 301U);
  ASSERT_EQ(manifest.segments.size(), 2U);
  EXPECT_EQ(manifest.segments[0].file, 7U);
  EXPECT_THAT(manifest.segments[0].dead, ElementsAre(0, 1, 200, 4'294'967'294));
  EXPECT_EQ(manifest.segments[1].file, 12U);
  EXPECT_THAT(manifest.segments[1].dead, IsEmpty());
}

TEST_F(IndexDirectoryTest, TheBytesOfAManifestStayAsTheyAre) {
  IndexManifest manifest;
  manifest.table_created = 0x0102030405060708;
  manifest.covered = 300;
  manifest.written = 301;
  manifest.segments.push_back({7, {2, 5, 205}});
  ASSERT_THAT(directory_.WriteManifest(manifest), IsOk());
  const std::string bytes = ReadFile(ManifestPath());
  const std::string body(
      "VTINDEX\n"
      "\x01\0\0\0"                        // format version
      "\x08\x07\x06\x05\x04\x03\x02\x01"  // table_created
      "\xac\x02\xad\x02"                  // covered, written
      "\x01\x07\x03\x02\x03\xc8\x01",     // one segment: file 7, 3 dead: 2, 3 and 200 more
      8 + 4 + 8 + 4 + 7);
  ASSERT_EQ(bytes.size(), body.size() + 8);
  EXPECT_EQ(bytes.substr(0, body.size()), body);
  // XXH3 of the body, little-endian.
  EXPECT_EQ(bytes.substr(body.size()), "W\xb0\xbd\xec?\xc1\xd5\xb6");
}

TEST_F(IndexDirectoryTest, EveryChangedByteIsNoticed) {
  ASSERT_THAT(directory_.WriteManifest(SomeManifest()), IsOk());
  const std::string bytes = ReadFile(ManifestPath());
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int flip : {1, 0x80}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      const absl::StatusCode code = CodeOfManifest(damaged);
      const bool in_version = i >= 8 && i < 12;
      EXPECT_TRUE(code == absl::StatusCode::kDataLoss ||
                  (in_version && code == absl::StatusCode::kFailedPrecondition))
          << "byte " << i << ": " << absl::StatusCodeToString(code);
    }
  }
  EXPECT_EQ(CodeOfManifest(bytes), absl::StatusCode::kOk);
}

TEST_F(IndexDirectoryTest, EveryTruncationIsNoticed) {
  ASSERT_THAT(directory_.WriteManifest(SomeManifest()), IsOk());
  const std::string bytes = ReadFile(ManifestPath());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(CodeOfManifest(bytes.substr(0, size)), absl::StatusCode::kDataLoss) << size;
  }
  EXPECT_EQ(CodeOfManifest(bytes + '\0'), absl::StatusCode::kDataLoss);
}

TEST_F(IndexDirectoryTest, ANewerVersionIsRefusedByName) {
  ASSERT_THAT(directory_.WriteManifest(SomeManifest()), IsOk());
  std::string bytes = ReadFile(ManifestPath());
  bytes[8] = 9;
  WriteFile(ManifestPath(), bytes);
  EXPECT_THAT(directory_.ReadManifest(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                  "format version 9; this program knows 1"));
}

TEST_F(IndexDirectoryTest, AManifestLeavesOnlyTheFilesThatItNames) {
  ASSERT_THAT(directory_.NewFile(), IsOk());
  for (const char* name : {"7.segment", "8.segment", "12.segment", "12.segment.new",
                           "13.segment.new", "MANIFEST.new", "x.segment"}) {
    Touch(name);
  }
  ASSERT_THAT(directory_.WriteManifest(SomeManifest()), IsOk());
  EXPECT_THAT(NamesIn(directory_.path()),
              UnorderedElementsAre("MANIFEST", "7.segment", "12.segment"));
}

TEST_F(IndexDirectoryTest, AManifestThatCannotBeWrittenLeavesTheOldOne) {
  ASSERT_THAT(directory_.WriteManifest(SomeManifest()), IsOk());
  Touch("7.segment");
  fs::create_directory(directory_.path() + "/MANIFEST.new");
  EXPECT_FALSE(directory_.WriteManifest({}).ok());
  EXPECT_EQ((*directory_.ReadManifest())->covered, 300U);
  EXPECT_TRUE(fs::exists(directory_.PathOf(7)));
}

TEST_F(IndexDirectoryTest, ANewFileHasANumberThatNoFileHas) {
  EXPECT_EQ(*directory_.NewFile(), 1U);
  EXPECT_EQ(*directory_.NewFile(), 2U);
  for (const char* name : {"3.segment", "41.segment", "99.segment.new", "x.segment"}) Touch(name);
  EXPECT_EQ(*IndexDirectory(directory_.path()).NewFile(), 42U);
}

TEST_F(IndexDirectoryTest, NumbersGoOnAfterFilesWereRemoved) {
  const uint64_t first = *directory_.NewFile();
  WriteFile(directory_.PathOf(first), "x");
  ASSERT_THAT(directory_.WriteManifest({}), IsOk());
  EXPECT_FALSE(fs::exists(directory_.PathOf(first)));
  EXPECT_GT(*directory_.NewFile(), first);
}

TEST_F(IndexDirectoryTest, RemoveTakesTheFolderAndNothingElse) {
  IndexDirectory other(IndexFolderOf(folder_.path(), 40));
  ASSERT_THAT(other.WriteManifest(SomeManifest()), IsOk());
  ASSERT_THAT(directory_.WriteManifest(SomeManifest()), IsOk());
  Touch("7.segment");
  ASSERT_THAT(directory_.Remove(), IsOk());
  EXPECT_THAT(NamesIn(folder_.path()), ElementsAre("t40"));
  EXPECT_TRUE(*other.ReadManifest());
  ASSERT_THAT(directory_.NewFile(), IsOk());
  EXPECT_FALSE(*directory_.ReadManifest());
}

TEST_F(IndexDirectoryTest, IndexesOfTablesThatAreGoneAreRemoved) {
  for (const uint32_t id : {1U, 2U, 12U}) {
    ASSERT_THAT(IndexDirectory(IndexFolderOf(folder_.path(), id)).WriteManifest({}), IsOk());
  }
  WriteFile(folder_.path() + "/other", "x");
  RemoveOtherIndexes(folder_.path(), {2, 3});
  EXPECT_THAT(NamesIn(folder_.path()), ElementsAre("other", "t2"));
  RemoveOtherIndexes(folder_.path() + "/missing", {2});
  EXPECT_THAT(NamesIn(folder_.path()), ElementsAre("other", "t2"));
}

}  // namespace
}  // namespace vectable
