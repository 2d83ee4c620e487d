#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/storage/store_fixture.h"

namespace vectable {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class StoreRowsTest : public StoreTest {
 protected:
  void SetUp() override {
    options_.sync = false;
    StoreTest::SetUp();
    record_ = Create("t");
  }
  uint32_t id() const { return record_.table_id; }

  // The rows of these words, "-" where there is none.
  std::vector<std::string> CodesByWord(const std::vector<std::string_view>& words) {
    const auto rows = store().GetByWords(id(), words);
    EXPECT_THAT(rows, IsOk());
    std::vector<std::string> codes;
    for (const auto& row : *rows) codes.push_back(row ? row->codes : "-");
    return codes;
  }
  std::vector<std::optional<uint64_t>> IdsByWord(const std::vector<std::string_view>& words) {
    const auto ids = store().FindWords(id(), words);
    EXPECT_THAT(ids, IsOk());
    return *ids;
  }
  std::vector<RowIdState> States(const std::vector<uint64_t>& row_ids) {
    const auto states = store().FindRowIds(id(), row_ids);
    EXPECT_THAT(states, IsOk());
    return *states;
  }
  std::vector<std::string> Words(std::string_view prefix, std::optional<std::string_view> after) {
    const auto rows = Drain(store().ScanWords(id(), prefix, after, false));
    EXPECT_THAT(rows, IsOk());
    std::vector<std::string> words;
    for (const Row& row : *rows) {
      words.push_back(row.word);
      EXPECT_EQ(row.codes, "");
    }
    return words;
  }

  TableRecord record_;
};

TEST_F(StoreRowsTest, WritesAreFoundByWordAndById) {
  ASSERT_THAT(PutRows(store(), record_, {{0, "cat", "c0"}, {1, "dog", "c1"}, {9, "New York", ""}}),
              IsOk());
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(IdsByWord({"dog", "cow", "cat", "dog", "New York"}),
                ElementsAre(1, std::nullopt, 0, 1, 9));
    EXPECT_THAT(CodesByWord({"dog", "cow", "cat", "dog", "New York", "New"}),
                ElementsAre("c1", "-", "c0", "c1", "", "-"));
    const auto rows = store().GetByRowIds(id(), std::vector<uint64_t>{1, 5, 1});
    ASSERT_THAT(rows, IsOk());
    EXPECT_EQ((*rows)[0]->word, "dog");
    EXPECT_EQ((*rows)[0]->row_id, 1U);
    EXPECT_EQ((*rows)[1], std::nullopt);
    EXPECT_EQ((*rows)[2]->codes, "c1");
    ASSERT_THAT(Tables(), ElementsAre(record_));
    EXPECT_EQ(record_.rows, 3U);
    EXPECT_EQ(record_.next_row_id, 10U);
    Reopen();
  }
}

TEST_F(StoreRowsTest, AWordThatSeveralCommitsOfAWriteTouchKeepsTheLast) {
  const std::vector<Row> first = {{0, "z", "z0"}, {1, "cat", "c1"}, {2, "a", "a2"}};
  const std::vector<Row> gone = {{1, "cat", ""}, {2, "a", ""}};
  const std::vector<Row> again = {{3, "cat", "c3"}, {0, "z", "z1"}};
  TableRecord after = record_;
  after.rows = 2;
  after.next_row_id = 4;
  after.applied_sequence = 3;
  const std::vector<Commit> commits = {MakeCommit(1, RowChange::Kind::kPut, first),
                                       MakeCommit(2, RowChange::Kind::kErase, gone),
                                       MakeCommit(3, RowChange::Kind::kPut, again)};
  ASSERT_THAT(store().Write(after, commits, 0), IsOk());
  record_ = after;
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(IdsByWord({"a", "cat", "z"}), ElementsAre(std::nullopt, 3, 0));
    EXPECT_THAT(CodesByWord({"a", "cat", "z"}), ElementsAre("-", "c3", "z1"));
    EXPECT_THAT(States({0, 1, 2, 3}), ElementsAre(RowIdState::kLive, RowIdState::kDeleted,
                                                  RowIdState::kDeleted, RowIdState::kLive));
    Reopen();
  }
}

// More words than are looked up at once, in every order, some of them unknown.
TEST_F(StoreRowsTest, ManyWordsInAnyOrder) {
  std::vector<Row> rows;
  for (uint64_t i = 0; i < 1'000; ++i) {
    rows.push_back({i, absl::StrCat("w", i * 7919 % 1'000), absl::StrCat("c", i)});
  }
  ASSERT_THAT(PutRows(store(), record_, {rows.begin(), rows.begin() + 500}), IsOk());
  ASSERT_THAT(PutRows(store(), record_, {rows.begin() + 500, rows.end()}), IsOk());
  std::vector<std::string> unknown;
  for (size_t i = 0; i < rows.size(); ++i) unknown.push_back(absl::StrCat("x", i));
  for (int round = 0; round < 2; ++round) {
    std::vector<std::string_view> asked;
    for (size_t i = 0; i < rows.size(); ++i) {
      asked.push_back(rows[i].word);
      asked.push_back(unknown[i]);
    }
    const auto ids = IdsByWord(asked);
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(ids[2 * i], rows[i].row_id);
      EXPECT_EQ(ids[2 * i + 1], std::nullopt);
    }
    EXPECT_THAT(AllRows(store(), id()), testing::ElementsAreArray(rows));
    EXPECT_EQ(Words("", std::nullopt).size(), rows.size());
    Reopen();
  }
}

TEST_F(StoreRowsTest, NothingIsAskedNothingIsGiven) {
  EXPECT_THAT(IdsByWord({}), IsEmpty());
  EXPECT_THAT(CodesByWord({}), IsEmpty());
  EXPECT_THAT(States({}), IsEmpty());
}

TEST_F(StoreRowsTest, ErasedRowsLeaveAMarkAndTheirWordIsFree) {
  const std::vector<Row> cat = {{0, "cat", "c0"}};
  ASSERT_THAT(PutRows(store(), record_, {cat[0], {1, "dog", "c1"}}), IsOk());
  ASSERT_THAT(EraseRows(store(), record_, cat), IsOk());
  EXPECT_THAT(States({0, 1, 2}),
              ElementsAre(RowIdState::kDeleted, RowIdState::kLive, RowIdState::kUnused));
  EXPECT_THAT(IdsByWord({"cat"}), ElementsAre(std::nullopt));
  EXPECT_THAT(CodesByWord({"cat"}), ElementsAre("-"));
  EXPECT_EQ((*store().GetByRowIds(id(), std::vector<uint64_t>{0}))[0], std::nullopt);
  EXPECT_THAT(AllRows(store(), id()), ElementsAre(Row{1, "dog", "c1"}));

  ASSERT_THAT(PutRows(store(), record_, {{2, "cat", "again"}}), IsOk());
  Reopen();
  EXPECT_THAT(IdsByWord({"cat"}), ElementsAre(2));
  EXPECT_THAT(States({0, 2}), ElementsAre(RowIdState::kDeleted, RowIdState::kLive));
  EXPECT_THAT(Words("", std::nullopt), ElementsAre("cat", "dog"));
}

TEST_F(StoreRowsTest, CommitsOfOneWriteAreAppliedInOrder) {
  TableRecord after = record_;
  after.rows = 1;
  after.next_row_id = 2;
  after.applied_sequence = 3;
  const std::vector<Row> first = {{0, "cat", "c0"}, {1, "dog", "c1"}};
  const std::vector<Row> erased = {{0, "cat", ""}};
  const std::vector<Row> replaced = {{1, "dog", "newer"}};
  const std::vector<Commit> commits = {MakeCommit(1, RowChange::Kind::kPut, first),
                                       MakeCommit(2, RowChange::Kind::kErase, erased),
                                       MakeCommit(3, RowChange::Kind::kPut, replaced)};
  ASSERT_THAT(store().Write(after, commits, 0), IsOk());
  EXPECT_THAT(AllRows(store(), id()), ElementsAre(Row{1, "dog", "newer"}));
  EXPECT_THAT(Tables(), ElementsAre(after));
  EXPECT_EQ(store().ReadLog(id(), 0, 10)->size(), 3U);
}

class StoreWideRowsTest : public StoreRowsTest, public testing::WithParamInterface<size_t> {};

TEST_P(StoreWideRowsTest, ValuesOfAnySizeComeBackWhole) {
  std::vector<Row> rows;
  for (uint64_t i = 0; i < 20; ++i) {
    rows.push_back({i, absl::StrCat("w", i + 10), std::string(GetParam(), static_cast<char>(i))});
  }
  ASSERT_THAT(PutRows(store(), record_, rows), IsOk());
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(AllRows(store(), id()), rows);
    EXPECT_EQ(*Drain(store().ScanWords(id(), "", std::nullopt, true)), rows);
    EXPECT_THAT(CodesByWord({"w15"}), ElementsAre(std::string(GetParam(), 5)));
    ASSERT_THAT(store().Flush(), IsOk());
    Reopen();
  }
}

// From 1 KiB on values lie in files of their own; 4,000 bytes are 1,000 dimensions.
INSTANTIATE_TEST_SUITE_P(Sizes, StoreWideRowsTest, testing::Values(1, 1000, 1100, 4000, 262144));

TEST_F(StoreRowsTest, ScansByIdKeepToTheirRange) {
  std::vector<Row> rows;
  for (const uint64_t row_id : {0, 1, 255, 256, 70000}) {
    rows.push_back({row_id, absl::StrCat("w", row_id), "c"});
  }
  ASSERT_THAT(PutRows(store(), record_, rows), IsOk());
  const auto scan = [&](uint64_t begin, std::optional<uint64_t> end) {
    const auto found = Drain(store().ScanRows(id(), begin, end));
    std::vector<uint64_t> row_ids;
    for (const Row& row : *found) row_ids.push_back(row.row_id);
    return row_ids;
  };
  EXPECT_THAT(scan(0, std::nullopt), ElementsAre(0, 1, 255, 256, 70000));
  EXPECT_THAT(scan(1, 256), ElementsAre(1, 255));
  EXPECT_THAT(scan(2, 255), IsEmpty());
  EXPECT_THAT(scan(256, 256), IsEmpty());
  EXPECT_THAT(scan(300, 200), IsEmpty());
  EXPECT_THAT(scan(0, 0), IsEmpty());
  EXPECT_THAT(scan(70000, ~uint64_t{0}), ElementsAre(70000));
  EXPECT_THAT(scan(70001, std::nullopt), IsEmpty());
}

TEST_F(StoreRowsTest, ScansByWordKeepToPrefixAndAfter) {
  std::vector<Row> rows;
  for (const char* word : {"a", "ab", "abc", "ac", "b", "\xC3\xA9", "\xF0\x9F\x98\x80"}) {
    rows.push_back({rows.size(), word, "c"});
  }
  ASSERT_THAT(PutRows(store(), record_, rows), IsOk());
  EXPECT_THAT(Words("", std::nullopt),
              ElementsAre("a", "ab", "abc", "ac", "b", "\xC3\xA9", "\xF0\x9F\x98\x80"));
  EXPECT_THAT(Words("a", std::nullopt), ElementsAre("a", "ab", "abc", "ac"));
  EXPECT_THAT(Words("ab", std::nullopt), ElementsAre("ab", "abc"));
  EXPECT_THAT(Words("a", "ab"), ElementsAre("abc", "ac"));
  EXPECT_THAT(Words("a", "abb"), ElementsAre("abc", "ac"));
  EXPECT_THAT(Words("ab", "a"), ElementsAre("ab", "abc"));
  EXPECT_THAT(Words("a", "b"), IsEmpty());
  EXPECT_THAT(Words("", "b"), ElementsAre("\xC3\xA9", "\xF0\x9F\x98\x80"));
  EXPECT_THAT(Words("x", std::nullopt), IsEmpty());
  EXPECT_THAT(Words("", "\xFF"), IsEmpty());
}

TEST_F(StoreRowsTest, ACursorKeepsItsMoment) {
  std::vector<Row> rows;
  for (uint64_t i = 0; i < 50; ++i) {
    rows.push_back({i, absl::StrCat("w", i + 10), std::string(1500, 'o')});
  }
  ASSERT_THAT(PutRows(store(), record_, rows), IsOk());
  const TableRecord before = record_;
  auto by_id = store().ScanRows(id(), 0, std::nullopt);
  auto by_word = store().ScanWords(id(), "", std::nullopt, true);
  ASSERT_THAT(by_id, IsOk());
  ASSERT_THAT(by_word, IsOk());
  ASSERT_TRUE(*(*by_id)->Next());

  std::vector<Row> newer = rows;
  for (Row& row : newer) row.codes = "new";
  ASSERT_THAT(PutRows(store(), record_, newer), IsOk());
  ASSERT_THAT(EraseRows(store(), record_, {newer[3]}), IsOk());
  ASSERT_THAT(PutRows(store(), record_, {{50, "w00", "added"}}), IsOk());
  ASSERT_THAT(store().Flush(), IsOk());
  ASSERT_THAT(store().DropTable(id()), IsOk());

  EXPECT_EQ((*by_id)->table(), before);
  EXPECT_EQ((*by_word)->table(), before);
  EXPECT_EQ((*by_id)->row().word, "w10");
  EXPECT_EQ(*Drain(std::move(by_id)), std::vector<Row>(rows.begin() + 1, rows.end()));
  EXPECT_EQ(*Drain(std::move(by_word)), rows);
}

}  // namespace
}  // namespace vectable
