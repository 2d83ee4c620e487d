#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/storage/store_fixture.h"

namespace vectable {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class StoreLogTest : public StoreTest {
 protected:
  void SetUp() override {
    options_.sync = false;  // hundreds of commits
    StoreTest::SetUp();
    record_ = Create("t");
  }

  // Commits one row and trims the log.
  void Put(uint64_t trim_through) {
    const uint64_t row_id = record_.next_row_id;
    ASSERT_THAT(PutRows(store(), record_, {{row_id, absl::StrCat("w", row_id), "c"}}, trim_through),
                IsOk());
  }
  std::vector<uint64_t> Sequences(uint64_t after = 0, size_t max = 10'000) {
    const auto entries = store().ReadLog(record_.table_id, after, max);
    EXPECT_THAT(entries, IsOk());
    std::vector<uint64_t> sequences;
    for (const LogEntry& entry : *entries) sequences.push_back(entry.sequence);
    return sequences;
  }

  TableRecord record_;
};

TEST_F(StoreLogTest, KeepsKindAndRowsOfEachMutation) {
  const std::vector<Row> rows = {{7, "a", "c"}, {3, "b", "c"}};
  ASSERT_THAT(PutRows(store(), record_, rows), IsOk());
  ASSERT_THAT(EraseRows(store(), record_, {rows[1]}), IsOk());
  Reopen();
  const auto entries = store().ReadLog(record_.table_id, 0, 10);
  ASSERT_THAT(entries, IsOk());
  ASSERT_EQ(entries->size(), 2U);
  EXPECT_EQ((*entries)[0].kind, RowChange::Kind::kPut);
  EXPECT_THAT((*entries)[0].row_ids, ElementsAre(7, 3));
  EXPECT_EQ((*entries)[1].kind, RowChange::Kind::kErase);
  EXPECT_THAT((*entries)[1].row_ids, ElementsAre(3));
}

TEST_F(StoreLogTest, ReadsAfterASequenceAndUpToANumber) {
  for (int i = 0; i < 6; ++i) Put(0);
  EXPECT_THAT(Sequences(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(Sequences(4), ElementsAre(5, 6));
  EXPECT_THAT(Sequences(1, 2), ElementsAre(2, 3));
  EXPECT_THAT(Sequences(6), IsEmpty());
  EXPECT_THAT(Sequences(0, 0), IsEmpty());
}

TEST_F(StoreLogTest, TablesHaveLogsOfTheirOwn) {
  TableRecord other = Create("other");
  Put(0);
  ASSERT_THAT(PutRows(store(), other, {{0, "x", "c"}}), IsOk());
  EXPECT_THAT(Sequences(), ElementsAre(1));
  ASSERT_THAT(PutRows(store(), other, {{1, "y", "c"}}, 1), IsOk());
  EXPECT_THAT(Sequences(), ElementsAre(1));
  ASSERT_THAT(store().DropTable(other.table_id), IsOk());
  EXPECT_THAT(Sequences(), ElementsAre(1));
}

TEST_F(StoreLogTest, TrimsOneByOne) {
  for (int i = 0; i < 5; ++i) Put(0);
  Put(3);
  EXPECT_THAT(Sequences(), ElementsAre(4, 5, 6));
  Put(2);  // a lower number than before changes nothing
  EXPECT_THAT(Sequences(), ElementsAre(4, 5, 6, 7));
  Put(8);  // its own entry too
  EXPECT_THAT(Sequences(), IsEmpty());
  Put(8);
  EXPECT_THAT(Sequences(), ElementsAre(9));
}

TEST_F(StoreLogTest, TrimsALongRange) {
  for (int i = 0; i < 700; ++i) Put(0);
  Put(699);
  EXPECT_THAT(Sequences(), ElementsAre(700, 701));
  Reopen();
  EXPECT_THAT(Sequences(), ElementsAre(700, 701));
  Put(700);
  EXPECT_THAT(Sequences(), ElementsAre(701, 702));
}

TEST_F(StoreLogTest, TrimsAfterAReopen) {
  for (int i = 0; i < 10; ++i) Put(i < 4 ? 0 : 2);
  Reopen();
  Put(9);
  EXPECT_THAT(Sequences(), ElementsAre(10, 11));
}

}  // namespace
}  // namespace vectable
