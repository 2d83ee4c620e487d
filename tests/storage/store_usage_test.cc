// What a store says it takes against what lies on the disk.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/storage/store_fixture.h"
#include "tests/support/directory_bytes.h"

namespace vectable {
namespace {

class StoreUsageTest : public StoreTest {
 protected:
  StoreUsage Usage() {
    const auto usage = store().Usage();
    EXPECT_THAT(usage, IsOk());
    return usage.ok() ? *usage : StoreUsage();
  }

  struct Settled {
    StoreUsage usage;
    uint64_t files = 0;  // bytes, by DirectoryBytes
  };
  // What the store says and what is there, once no file comes or goes in the background.
  Settled Settle() {
    for (int i = 0; i < 1000; ++i) {
      const uint64_t before = DirectoryBytes(options_.directory);
      const StoreUsage usage = Usage();
      if (DirectoryBytes(options_.directory) == before) return {usage, before};
    }
    ADD_FAILURE() << "the files don't settle";
    return {};
  }

  // Checks that the parts add up to what is there.
  StoreUsage CheckSum() {
    const auto [usage, files] = Settle();
    uint64_t sum = usage.write_ahead_log + usage.mutation_log + usage.catalogue +
                   usage.obsolete_files + usage.other_files;
    for (const auto& [id, table] : usage.tables) sum += table.disk();
    EXPECT_EQ(sum, usage.directory);
    EXPECT_EQ(usage.directory, files);
    return usage;
  }

  // Writes `count` rows whose codes have `bytes` bytes.
  void Fill(TableRecord& table, uint64_t count, size_t bytes) {
    std::vector<Row> rows;
    for (uint64_t i = 0; i < count; ++i) {
      rows.push_back({table.next_row_id + i, absl::StrCat("w", table.next_row_id + i),
                      std::string(bytes, static_cast<char>('a' + i % 26))});
    }
    ASSERT_THAT(PutRows(store(), table, rows), IsOk());
    written_.insert(written_.end(), rows.begin(), rows.end());
  }

  std::vector<Row> written_;
};

TEST_F(StoreUsageTest, AnEmptyStoreAddsUp) {
  EXPECT_TRUE(CheckSum().tables.empty());
  const TableRecord table = Create("t");
  const StoreUsage usage = CheckSum();
  ASSERT_EQ(usage.tables.size(), 1U);
  EXPECT_EQ(usage.tables.at(table.table_id).disk(), 0U);
}

TEST_F(StoreUsageTest, EachByteIsInThePartItBelongsTo) {
  TableRecord small = Create("small");
  Fill(small, 2000, 400);
  StoreUsage usage = CheckSum();
  EXPECT_GE(usage.write_ahead_log, 2000U * 400);
  EXPECT_EQ(usage.tables.at(small.table_id).disk(), 0U);
  EXPECT_GE(usage.tables.at(small.table_id).memtables, 2000U * 400);

  TableRecord large = Create("large");
  Fill(large, 300, 4000);
  ASSERT_THAT(store().Flush(), IsOk());
  usage = CheckSum();
  const TableUsage& of_small = usage.tables.at(small.table_id);
  const TableUsage& of_large = usage.tables.at(large.table_id);
  EXPECT_GE(of_small.row_files, 2000U * 400);
  EXPECT_EQ(of_small.blob_files, 0U);
  EXPECT_GT(of_small.word_files, 0U);
  EXPECT_GE(of_large.blob_files, 300U * 4000);
  EXPECT_LT(of_large.row_files, 300U * 400);
  EXPECT_GT(usage.mutation_log, 0U);
  EXPECT_GT(usage.catalogue, 0U);
  EXPECT_GE(usage.memtables, of_small.memtables + of_large.memtables);
}

TEST_F(StoreUsageTest, AddsUpAfterDeletesCompactionAndADrop) {
  for (const size_t bytes : {400, 4000}) {
    TableRecord table = Create(absl::StrCat("t", bytes));
    written_.clear();
    Fill(table, 1000, bytes);
    ASSERT_THAT(store().Flush(), IsOk());
    const uint64_t full = CheckSum().tables.at(table.table_id).disk();
    ASSERT_THAT(EraseRows(store(), table, {written_.begin(), written_.begin() + 900}), IsOk());
    ASSERT_THAT(store().Flush(), IsOk());
    const TableUsage before = CheckSum().tables.at(table.table_id);
    EXPECT_GE(before.disk(), full);
    EXPECT_GT(before.reclaimable, 0U);

    ASSERT_THAT(store().Compact(table.table_id), IsOk());
    const TableUsage after = CheckSum().tables.at(table.table_id);
    EXPECT_LT(after.disk(), full / 5);
    EXPECT_GT(before.reclaimable, full / 2);
    EXPECT_LT(after.reclaimable, full / 100);  // the marks of deleted rows stay
    EXPECT_EQ(AllRows(store(), table.table_id).size(), 100U);

    ASSERT_THAT(store().DropTable(table.table_id), IsOk());
    const StoreUsage dropped = CheckSum();
    EXPECT_FALSE(dropped.tables.contains(table.table_id));
    Reopen();
    CheckSum();
  }
}

TEST_F(StoreUsageTest, ALinkedFileCountsOnceAndAStrangerIsNamed) {
  TableRecord table = Create("t");
  Fill(table, 1000, 400);
  ASSERT_THAT(store().Flush(), IsOk());
  const uint64_t of_table = CheckSum().tables.at(table.table_id).disk();
  std::filesystem::create_directory(options_.directory + "/links");
  std::error_code gone;  // a file may be removed in the background
  for (const auto& entry : std::filesystem::directory_iterator(rocks_path())) {
    if (entry.path().extension() != ".sst") continue;
    std::filesystem::create_hard_link(
        entry.path(), options_.directory + "/links/" + entry.path().filename().string(), gone);
  }
  // What is there under both names.
  const auto linked_bytes = [this] {
    uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(options_.directory + "/links")) {
      if (entry.hard_link_count() == 2) bytes += entry.file_size();
    }
    return bytes;
  };
  uint64_t twice = linked_bytes();
  Settled linked = Settle();
  for (; twice != linked_bytes(); linked = Settle()) twice = linked_bytes();
  EXPECT_GT(twice, 0U);
  EXPECT_EQ(linked.usage.directory, linked.files - twice);
  EXPECT_EQ(linked.usage.tables.at(table.table_id).disk(), of_table);

  std::ofstream(options_.directory + "/stranger.txt") << std::string(1'000'000, 'x');
  EXPECT_GE(Settle().usage.other_files, 1'000'000U);
}

}  // namespace
}  // namespace vectable
