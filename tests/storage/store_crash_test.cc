// A crash is a copy of the directory of an open store: what is in memory alone isn't in it.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/storage/store_fixture.h"

namespace vectable {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kCommits = 100;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class StoreCrashTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    record_ = Create("t");
    for (uint64_t i = 0; i < kCommits; ++i) {
      ASSERT_THAT(PutRows(store(), record_, {RowOf(i)}), IsOk());
    }
    Crash();
  }

  static Row RowOf(uint64_t i) { return {i, absl::StrCat("w", i), std::string(1000, 'c')}; }

  // Goes on with a copy of the store as it lies on the disk now; the store itself is closed after.
  void Crash() {
    options_.directory = temp_path() + "/copy";
    fs::copy(temp_path() + "/data", options_.directory, fs::copy_options::recursive);
    Close();
    for (const auto& entry : fs::directory_iterator(rocks_path())) {
      if (entry.path().extension() == ".log" && entry.file_size() > 0) log_ = entry.path();
    }
    log_bytes_ = ReadFile(log_);
    ASSERT_GT(log_bytes_.size(), kCommits * 1000);
  }

  void WriteLog(const std::string& bytes) {
    std::ofstream(log_, std::ios::binary | std::ios::trunc) << bytes;
  }

  // The copy must hold the first commits, whole, and nothing else; returns their number.
  uint64_t CheckPrefix() {
    const std::vector<TableRecord> tables = Tables();
    if (tables.size() != 1) {
      ADD_FAILURE() << tables.size() << " tables";
      return 0;
    }
    const uint64_t rows = tables[0].rows;
    EXPECT_EQ(tables[0].next_row_id, rows);
    EXPECT_EQ(tables[0].applied_sequence, rows);
    std::vector<Row> expected;
    for (uint64_t i = 0; i < rows; ++i) expected.push_back(RowOf(i));
    EXPECT_EQ(AllRows(store(), tables[0].table_id), expected);
    EXPECT_EQ(store().ReadLog(tables[0].table_id, 0, 10 * kCommits)->size(), rows);
    return rows;
  }

  TableRecord record_;
  std::string log_;        // the copy's write-ahead log
  std::string log_bytes_;  // as it was at the crash
};

TEST_F(StoreCrashTest, SyncedRowsAreThereWithoutAFlush) {
  Open();
  EXPECT_EQ(CheckPrefix(), kCommits);
  Reopen();
  EXPECT_EQ(CheckPrefix(), kCommits);
}

TEST_F(StoreCrashTest, ALogCutShortAtItsEndGivesAPrefixOfTheCommits) {
  const std::string untouched = temp_path() + "/untouched";
  fs::copy(options_.directory, untouched, fs::copy_options::recursive);
  uint64_t fewest = kCommits;
  for (const size_t cut : {1, 7, 100, 600, 1000, 20'000, 32'768, 50'000}) {
    SCOPED_TRACE(cut);
    Close();
    fs::remove_all(options_.directory);
    fs::copy(untouched, options_.directory, fs::copy_options::recursive);
    WriteLog(log_bytes_.substr(0, log_bytes_.size() - cut));
    Open();
    const uint64_t rows = CheckPrefix();
    EXPECT_LT(rows, kCommits);
    EXPECT_LE(rows, fewest);
    EXPECT_GT(rows, 0U);
    fewest = rows;
  }
}

TEST_F(StoreCrashTest, AFlippedByteInTheMiddleOfTheLogIsDataLoss) {
  const size_t middle = log_bytes_.size() / 2;
  for (const size_t at : {middle, middle + 1, middle + 333, middle / 2}) {
    std::string damaged = log_bytes_;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    WriteLog(damaged);
    EXPECT_THAT(TryReopen(), StatusIs(absl::StatusCode::kDataLoss, options_.directory)) << at;
  }
  // A refused open harms nothing.
  WriteLog(log_bytes_);
  Open();
  EXPECT_EQ(CheckPrefix(), kCommits);
}

}  // namespace
}  // namespace vectable
