// Golden bytes: what is written here is on disk in users' directories and never changes.
#include "storage/key_format.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

std::string Hex(const std::string& bytes) { return absl::BytesToHexString(bytes); }

TableRecord GoldenTable() {
  return {.table_id = 7,
          .name = "toy",
          .dimensions = 2,
          .precision = Precision::kInt8,
          .metric = Metric::kEuclidean,
          .dimension_names = {"Object", "Animal"},
          .created_unix_micros = 0x0102030405060708,
          .rows = 3,
          .next_row_id = 0x1122334455667788,
          .applied_sequence = 9};
}

constexpr char kGoldenTableHex[] =
    "01"                               // version
    "03746f79"                         // name
    "02000000"                         // dimensions
    "04"                               // precision
    "03"                               // metric
    "0807060504030201"                 // created
    "02064f626a65637406416e696d616c";  // dimension names

TEST(KeyFormatTest, FamilyNames) {
  EXPECT_EQ(kLogFamily, "log");
  EXPECT_EQ(RowsFamilyName(12), "t12.rows");
  EXPECT_EQ(WordsFamilyName(4294967295), "t4294967295.words");
}

TEST(KeyFormatTest, CatalogueKeys) {
  EXPECT_EQ(kFormatKey, "format");
  EXPECT_EQ(kNextTableIdKey, "next_table_id");
  EXPECT_EQ(Hex(TableKey(0x01020304)), "7461626c652f01020304");
  EXPECT_EQ(Hex(CountersKey(0x01020304)), "636f756e746572732f01020304");
  EXPECT_EQ(*DecodeTableKey(TableKey(0xFFFFFFFE)), 0xFFFFFFFE);
  EXPECT_EQ(Hex(EncodeU32(0x01020304)), "04030201");
  EXPECT_EQ(*DecodeU32(EncodeU32(0x01020304)), 0x01020304U);
}

TEST(KeyFormatTest, Table) {
  const TableRecord table = GoldenTable();
  const std::string bytes = EncodeTable(table);
  EXPECT_EQ(Hex(bytes), kGoldenTableHex);
  TableRecord decoded = table;
  decoded.name = "other";
  decoded.dimensions = 9;
  decoded.precision = Precision::kFp16;
  decoded.metric = Metric::kDot;
  decoded.dimension_names = {"left", "over"};
  decoded.created_unix_micros = 0;
  ASSERT_THAT(DecodeTable(bytes, decoded), IsOk());
  EXPECT_EQ(decoded, table);
}

TEST(KeyFormatTest, TableWithoutDimensionNames) {
  TableRecord table;
  table.name = "g";
  table.dimensions = 300;
  table.created_unix_micros = -1;
  const std::string bytes = EncodeTable(table);
  EXPECT_EQ(Hex(bytes), "0101672c0100000101ffffffffffffffff00");
  TableRecord decoded;
  ASSERT_THAT(DecodeTable(bytes, decoded), IsOk());
  EXPECT_EQ(decoded, table);
}

TEST(KeyFormatTest, Counters) {
  const std::string bytes = EncodeCounters(GoldenTable());
  EXPECT_EQ(Hex(bytes),
            "01"
            "0300000000000000"
            "8877665544332211"
            "0900000000000000");
  TableRecord decoded;
  ASSERT_THAT(DecodeCounters(bytes, decoded), IsOk());
  EXPECT_EQ(decoded.rows, 3U);
  EXPECT_EQ(decoded.next_row_id, 0x1122334455667788U);
  EXPECT_EQ(decoded.applied_sequence, 9U);
}

TEST(KeyFormatTest, Row) {
  EXPECT_EQ(Hex(RowKey(0x0102030405060708)), "0102030405060708");
  EXPECT_EQ(*DecodeRowKey(RowKey(kMaxRowId)), kMaxRowId);
  std::string bytes;
  EncodeRow(bytes, "cat", std::string("\x00\x00\x80\x3F", 4));
  EXPECT_EQ(Hex(bytes),
            "0100"
            "03636174"
            "040000803f");
  const auto row = DecodeRow(bytes);
  ASSERT_THAT(row, IsOk());
  EXPECT_FALSE(row->deleted);
  EXPECT_EQ(row->word, "cat");
  EXPECT_EQ(Hex(std::string(row->codes)), "0000803f");
}

TEST(KeyFormatTest, DeletedRow) {
  EXPECT_EQ(Hex(EncodeDeletedRow()), "0101");
  const auto row = DecodeRow(EncodeDeletedRow());
  ASSERT_THAT(row, IsOk());
  EXPECT_TRUE(row->deleted);
}

TEST(KeyFormatTest, WordValue) {
  EXPECT_EQ(Hex(EncodeWordValue(0x0102030405060708)), "0807060504030201");
  EXPECT_EQ(*DecodeWordValue(EncodeWordValue(kMaxRowId)), kMaxRowId);
}

TEST(KeyFormatTest, Log) {
  const std::string key = LogKey(0x01020304, 0x1112131415161718);
  EXPECT_EQ(Hex(key), "010203041112131415161718");
  EXPECT_EQ(*DecodeLogKey(key, 0x01020304), 0x1112131415161718U);
  EXPECT_THAT(DecodeLogKey(key, 5), StatusIs(absl::StatusCode::kDataLoss, "another table"));

  Commit commit{.sequence = 4, .kind = RowChange::Kind::kErase, .changes = {}};
  // Differences of 5, 1, -6, zigzagged: 10, 2, 11; then kMaxRowId.
  for (const uint64_t id : {5, 6, 0}) commit.changes.push_back({id, "w", ""});
  commit.changes.push_back({kMaxRowId, "w", ""});
  const std::string bytes = EncodeLogEntry(commit);
  EXPECT_EQ(Hex(bytes),
            "01"
            "02"
            "04"
            "0a"
            "02"
            "0b"
            "feffffffffffffffff01");
  const auto entry = DecodeLogEntry(bytes);
  ASSERT_THAT(entry, IsOk());
  EXPECT_EQ(entry->kind, RowChange::Kind::kErase);
  EXPECT_THAT(entry->row_ids, testing::ElementsAre(5, 6, 0, kMaxRowId));
}

TEST(KeyFormatTest, KeysSortByNumber) {
  EXPECT_LT(RowKey(255), RowKey(256));
  EXPECT_LT(LogKey(1, ~uint64_t{0}), LogKey(2, 0));
  EXPECT_LT(LogKey(1, 255), LogKey(1, 256));
}

}  // namespace
}  // namespace vectable
