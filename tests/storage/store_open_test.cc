#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "storage/key_format.h"
#include "tests/storage/raw_rocks.h"
#include "tests/storage/store_fixture.h"

namespace vectable {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class StoreOpenTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    record_ = Create("t");
    ASSERT_THAT(PutRows(store(), record_, {{0, "cat", "codes"}}), IsOk());
  }

  TableRecord record_;
};

TEST_F(StoreOpenTest, ASecondOpenIsRefusedAndTheFirstGoesOn) {
  EXPECT_THAT(OpenRocksStore(options_).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, options_.directory));
  ASSERT_THAT(PutRows(store(), record_, {{1, "dog", "codes"}}), IsOk());
  EXPECT_THAT(TryReopen(), IsOk());
}

TEST_F(StoreOpenTest, FamiliesThatNoTableNamesAreRemoved) {
  Close();
  {
    RawRocks raw(rocks_path());
    EXPECT_EQ(raw.Get("default", "format"), EncodeU32(kStorageFormatVersion));
    for (const char* name : {"t77.rows", "t77.words", "t1.extra"}) raw.CreateFamily(name);
    raw.Put("t77.rows", "key", "value");
  }
  EXPECT_THAT(TryReopen(), IsOk());
  EXPECT_THAT(RawRocks(rocks_path()).families(),
              UnorderedElementsAre("default", "log", "t1.rows", "t1.words"));
  Open();
  EXPECT_THAT(AllRows(store(), record_.table_id), ElementsAre(Row{0, "cat", "codes"}));
}

TEST_F(StoreOpenTest, ANewerFormatIsRefusedAndNothingIsRemoved) {
  Close();
  {
    RawRocks raw(rocks_path());
    raw.CreateFamily("t77.rows");
    raw.Put("default", "format", EncodeU32(99));
  }
  const absl::Status status = TryReopen();
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kFailedPrecondition, "storage format 99 is newer"));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition, "reads up to 1"));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition, options_.directory));
  {
    RawRocks raw(rocks_path());
    EXPECT_THAT(raw.families(),
                UnorderedElementsAre("default", "log", "t1.rows", "t1.words", "t77.rows"));
    raw.Put("default", "format", EncodeU32(kStorageFormatVersion));
  }
  Open();
  EXPECT_THAT(AllRows(store(), record_.table_id), ElementsAre(Row{0, "cat", "codes"}));
}

TEST_F(StoreOpenTest, ATableWithoutAFamilyIsDataLoss) {
  Close();
  RawRocks(rocks_path()).DropFamily(WordsFamilyName(record_.table_id));
  EXPECT_THAT(TryReopen(),
              StatusIs(absl::StatusCode::kDataLoss, "table id 1 lacks a column family"));
}

struct Garbled {
  std::string family;
  std::string key;
  std::string value;
  absl::StatusCode code;
};

class StoreGarbledTest : public StoreOpenTest, public testing::WithParamInterface<Garbled> {};

TEST_P(StoreGarbledTest, OpenSaysSo) {
  Close();
  RawRocks(rocks_path()).Put(GetParam().family, GetParam().key, GetParam().value);
  EXPECT_THAT(TryReopen(), StatusIs(GetParam().code, options_.directory));
}

INSTANTIATE_TEST_SUITE_P(
    Values, StoreGarbledTest,
    testing::Values(Garbled{"default", "format", "abc", absl::StatusCode::kDataLoss},
                    Garbled{"default", TableKey(1), "\x01garbled", absl::StatusCode::kDataLoss},
                    Garbled{"default", TableKey(1), "\x02newer", absl::StatusCode::kUnimplemented},
                    Garbled{"default", "table/x", "\x01", absl::StatusCode::kDataLoss},
                    Garbled{"default", CountersKey(1), "\x01short", absl::StatusCode::kDataLoss}));

TEST_F(StoreOpenTest, GarbledRowsAreSaidWhereTheyAreRead) {
  Close();
  {
    RawRocks raw(rocks_path());
    raw.Put("t1.rows", RowKey(5), "\x01\x07");
    raw.Put("t1.words", "bad", "abc");
  }
  Open();
  constexpr auto kDataLoss = absl::StatusCode::kDataLoss;
  const uint32_t id = record_.table_id;
  const std::vector<uint64_t> ids = {5};
  const std::vector<std::string_view> words = {"bad"};
  EXPECT_THAT(store().GetByRowIds(id, ids), StatusIs(kDataLoss, "row id 5"));
  EXPECT_THAT(store().FindRowIds(id, ids), StatusIs(kDataLoss, "row id 5"));
  EXPECT_THAT(Drain(store().ScanRows(id, 0, std::nullopt)), StatusIs(kDataLoss, "row id 5"));
  EXPECT_THAT(store().FindWords(id, words), StatusIs(kDataLoss, "word 'bad'"));
  EXPECT_THAT(store().GetByWords(id, words), StatusIs(kDataLoss, "word 'bad'"));
  EXPECT_THAT(Drain(store().ScanWords(id, "b", std::nullopt, true)), StatusIs(kDataLoss, ""));
  EXPECT_THAT(*Drain(store().ScanRows(id, 0, 5)), ElementsAre(Row{0, "cat", "codes"}));
}

// RocksDB by itself would take the second open for that of a new database and remove the tables.
TEST_F(StoreOpenTest, ALostCurrentFileIsDataLossHoweverOftenItIsTried) {
  ASSERT_THAT(store().Flush(), IsOk());
  Close();
  const std::string current = rocks_path() + "/CURRENT";
  std::filesystem::rename(current, temp_path() + "/CURRENT");
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(TryReopen(), StatusIs(absl::StatusCode::kDataLoss, "CURRENT is missing"));
  }
  std::filesystem::rename(temp_path() + "/CURRENT", current);
  Open();
  EXPECT_THAT(AllRows(store(), record_.table_id), ElementsAre(Row{0, "cat", "codes"}));
}

TEST_F(StoreOpenTest, ADamagedManifestIsDataLoss) {
  Close();
  for (const auto& entry : std::filesystem::directory_iterator(rocks_path())) {
    if (!entry.path().filename().string().starts_with("MANIFEST")) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(20);
    file << "damage";
  }
  EXPECT_THAT(TryReopen(), StatusIs(absl::StatusCode::kDataLoss, options_.directory));
}

TEST(StoreDirectoryTest, APathUnderAFileIsInvalid) {
  const TempDir temp;
  RocksStoreOptions options;
  options.directory = temp.path() + "/file/data";
  std::ofstream(temp.path() + "/file") << "text";
  EXPECT_THAT(OpenRocksStore(options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, options.directory));
}

}  // namespace
}  // namespace vectable
