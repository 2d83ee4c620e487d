// Writers, readers and changes of the catalogue side by side; also for the thread sanitizer.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "tests/storage/store_fixture.h"

namespace vectable {
namespace {

constexpr uint64_t kCommits = 150;

class StoreThreadsTest : public StoreTest {
 protected:
  void SetUp() override {
    options_.sync = false;
    StoreTest::SetUp();
  }

  // Each commit puts two rows, so that half a commit would be seen.
  void Write(TableRecord record) {
    for (uint64_t i = 0; i < kCommits; ++i) {
      const uint64_t id = record.next_row_id;
      ASSERT_THAT(PutRows(store(), record,
                          {{id, absl::StrCat("a", id), std::string(1200, 'c')},
                           {id + 1, absl::StrCat("b", id), "short"}},
                          record.applied_sequence / 2),
                  IsOk());
    }
  }

  void CreateAndDrop() {
    for (int i = 0; i < 12; ++i) {
      TableRecord record = Create(absl::StrCat("passing", i));
      ASSERT_THAT(PutRows(store(), record, {{0, "cat", "codes"}}), IsOk());
      record.name += "-renamed";
      ASSERT_THAT(store().RenameTable(record, std::nullopt), IsOk());
      ASSERT_THAT(store().DropTable(record.table_id), IsOk());
    }
  }

  void Read(const std::vector<uint32_t>& table_ids) {
    for (int round = 0; !done_ || round < 3; ++round) {
      const auto tables = store().Tables();
      ASSERT_THAT(tables, IsOk());
      ASSERT_GE(tables->size(), table_ids.size());
      for (const uint32_t id : table_ids) {
        auto cursor = store().ScanRows(id, 0, std::nullopt);
        ASSERT_THAT(cursor, IsOk());
        const TableRecord record = (*cursor)->table();
        ASSERT_EQ(record.rows, 2 * record.applied_sequence);
        ASSERT_EQ(Drain(std::move(cursor))->size(), record.rows);
        const std::vector<std::string_view> words = {"a0", "b0"};
        const auto rows = store().GetByWords(id, words);
        ASSERT_THAT(rows, IsOk());
        ASSERT_EQ((*rows)[0].has_value(), (*rows)[1].has_value());
        ASSERT_THAT(store().ReadLog(id, 0, 1000), IsOk());
      }
    }
  }

  std::atomic<bool> done_{false};
};

TEST_F(StoreThreadsTest, EachSeesWholeCommits) {
  const std::vector<TableRecord> records = {Create("one"), Create("two")};
  const std::vector<uint32_t> ids = {records[0].table_id, records[1].table_id};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) readers.emplace_back([&] { Read(ids); });
  std::vector<std::thread> writers;
  for (const TableRecord& record : records) writers.emplace_back([this, record] { Write(record); });
  writers.emplace_back([this] { CreateAndDrop(); });
  for (std::thread& writer : writers) writer.join();
  done_ = true;
  for (std::thread& reader : readers) reader.join();
  Reopen();
  for (const TableRecord& record : Tables()) {
    EXPECT_EQ(record.rows, 2 * kCommits);
    EXPECT_EQ(AllRows(store(), record.table_id).size(), 2 * kCommits);
  }
  EXPECT_THAT(Tables(), testing::SizeIs(2));
}

}  // namespace
}  // namespace vectable
