#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/storage/raw_rocks.h"
#include "tests/storage/store_fixture.h"

namespace vectable {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class StoreTablesTest : public StoreTest {
 protected:
  std::vector<std::string> FamiliesOnDisk() {
    Close();
    std::vector<std::string> families = RawRocks(rocks_path()).families();
    Open();
    return families;
  }
};

TEST_F(StoreTablesTest, ANewStoreIsEmpty) {
  EXPECT_THAT(Tables(), IsEmpty());
  Reopen();
  EXPECT_THAT(Tables(), IsEmpty());
}

TEST_F(StoreTablesTest, CreatedTablesSurviveAReopen) {
  TableRecord wanted{.table_id = 0,
                     .name = "toy",
                     .dimensions = 2,
                     .precision = Precision::kInt8,
                     .metric = Metric::kDot,
                     .dimension_names = {"Object", "Animal"},
                     .created_unix_micros = 1234567};
  const auto toy = store().CreateTable(wanted);
  ASSERT_THAT(toy, IsOk());
  wanted.table_id = toy->table_id;
  EXPECT_EQ(*toy, wanted);
  const TableRecord other = Create("other");
  EXPECT_GT(other.table_id, toy->table_id);
  EXPECT_THAT(Tables(), ElementsAre(*toy, other));
  Reopen();
  EXPECT_THAT(Tables(), ElementsAre(*toy, other));
  ASSERT_THAT(store().Flush(), IsOk());
  Reopen();
  EXPECT_THAT(Tables(), ElementsAre(*toy, other));
}

TEST_F(StoreTablesTest, RenameChangesTheNameAlone) {
  TableRecord record = Create("old");
  ASSERT_THAT(PutRows(store(), record, {{0, "cat", "codes"}}), IsOk());
  record.name = "new";
  ASSERT_THAT(store().RenameTable(record, std::nullopt), IsOk());
  EXPECT_THAT(Tables(), ElementsAre(record));
  Reopen();
  EXPECT_THAT(Tables(), ElementsAre(record));
  EXPECT_THAT(AllRows(store(), record.table_id), ElementsAre(Row{0, "cat", "codes"}));
}

TEST_F(StoreTablesTest, RenameMayReplaceATable) {
  TableRecord old = Create("live");
  TableRecord fresh = Create("import");
  ASSERT_THAT(PutRows(store(), old, {{0, "cat", "old"}}), IsOk());
  ASSERT_THAT(PutRows(store(), fresh, {{0, "cat", "new"}}), IsOk());
  fresh.name = "live";
  ASSERT_THAT(store().RenameTable(fresh, old.table_id), IsOk());
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(Tables(), ElementsAre(fresh));
    EXPECT_THAT(AllRows(store(), fresh.table_id), ElementsAre(Row{0, "cat", "new"}));
    EXPECT_THAT(store().ScanRows(old.table_id, 0, std::nullopt),
                StatusIs(absl::StatusCode::kNotFound, "no table with id"));
    Reopen();
  }
}

TEST_F(StoreTablesTest, ADroppedTableIsGoneAndItsIdIsNotUsedAgain) {
  TableRecord first = Create("a");
  ASSERT_THAT(PutRows(store(), first, {{0, "cat", "codes"}}), IsOk());
  ASSERT_THAT(store().DropTable(first.table_id), IsOk());
  EXPECT_THAT(Tables(), IsEmpty());
  EXPECT_THAT(FamiliesOnDisk(), UnorderedElementsAre("default", "log"));
  const TableRecord second = Create("a");
  EXPECT_GT(second.table_id, first.table_id);
  EXPECT_THAT(AllRows(store(), second.table_id), IsEmpty());
  EXPECT_THAT(*store().ReadLog(second.table_id, 0, 10), IsEmpty());
}

TEST_F(StoreTablesTest, UnknownIdsAreNotFound) {
  TableRecord record = Create("a");
  TableRecord unknown = record;
  unknown.table_id = 77;
  const std::vector<std::string_view> words = {"cat"};
  const std::vector<uint64_t> ids = {0};
  const std::vector<absl::Status> statuses = {
      store().RenameTable(unknown, std::nullopt),
      store().RenameTable(record, 77),
      store().DropTable(77),
      store().Write(unknown, {}, 0),
      store().FindWords(77, words).status(),
      store().FindRowIds(77, ids).status(),
      store().GetByWords(77, words).status(),
      store().GetByRowIds(77, ids).status(),
      store().ScanRows(77, 0, std::nullopt).status(),
      store().ScanWords(77, "", std::nullopt, true).status(),
      store().ReadLog(77, 0, 10).status()};
  for (size_t i = 0; i < statuses.size(); ++i) {
    EXPECT_THAT(statuses[i], StatusIs(absl::StatusCode::kNotFound, "77")) << i;
  }
  Reopen();
  EXPECT_THAT(Tables(), ElementsAre(record));
}

// Bytes of the files that hold rows.
uint64_t RowFileBytes(const std::string& path) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const auto extension = entry.path().extension();
    if (extension == ".sst" || extension == ".blob") bytes += entry.file_size();
  }
  return bytes;
}

TEST_F(StoreTablesTest, DroppingATableFreesItsDisk) {
  TableRecord record = Create("wide");
  std::vector<Row> rows;
  for (uint64_t i = 0; i < 500; ++i) {
    rows.push_back({i, absl::StrCat("w", i), std::string(4000, 'c')});
  }
  ASSERT_THAT(PutRows(store(), record, rows), IsOk());
  ASSERT_THAT(store().Flush(), IsOk());
  EXPECT_GT(RowFileBytes(rocks_path()), 2'000'000U);
  ASSERT_THAT(store().DropTable(record.table_id), IsOk());
  EXPECT_LT(RowFileBytes(rocks_path()), 50'000U);
}

}  // namespace
}  // namespace vectable
