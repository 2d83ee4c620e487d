// The catalogue: create, rename, drop, list, limits, reopen.

#include "engine/database.h"

#include "gtest/gtest.h"
#include "tests/support/database_fixture.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

using absl::StatusCode;

class DatabaseTest : public testing::Test {
 protected:
  Database& db() { return fixture_.db(); }
  void Fill(const std::string& table, const std::vector<std::string>& words) {
    const std::vector<float> vector = {1, 2};
    std::vector<RowInput> rows;
    for (const std::string& word : words) rows.push_back({word, vector, std::nullopt});
    ASSERT_THAT(fixture_.table(table)->Upsert(rows, UpsertMode::kUpsert), IsOk());
  }
  uint64_t RowsOf(const std::string& table) { return fixture_.table(table)->Describe().rows; }

  DatabaseFixture fixture_;
};

TEST_F(DatabaseTest, KeepsWhatATableIsThroughAReopen) {
  const TableSpec spec = {"toy", 2, Precision::kFp32, Metric::kEuclidean, {"Object", "Animal"}};
  ASSERT_THAT(db().CreateTable(spec), IsOk());
  Fill("toy", {"cat", "dog", "car"});
  fixture_.Reopen();
  const TableDescription found = fixture_.table("toy")->Describe();
  EXPECT_EQ(found.spec.name, "toy");
  EXPECT_EQ(found.spec.dimensions, 2U);
  EXPECT_EQ(found.spec.metric, Metric::kEuclidean);
  EXPECT_EQ(found.spec.dimension_names, spec.dimension_names);
  EXPECT_EQ(found.rows, 3U);
  EXPECT_EQ(found.parameters, 6U);
  EXPECT_EQ(found.applied_sequence, 1U);
  EXPECT_GT(found.created_unix_micros, 0);
}

TEST_F(DatabaseTest, RefusesBadTables) {
  const auto create = [this](const std::string& name, uint32_t dimensions) {
    return db().CreateTable({name, dimensions, Precision::kFp32, Metric::kCosine, {}}).status();
  };
  EXPECT_THAT(create("", 2), StatusIs(StatusCode::kInvalidArgument, "empty"));
  EXPECT_THAT(create(".hidden", 2), StatusIs(StatusCode::kInvalidArgument, "'.hidden'"));
  EXPECT_THAT(create("a/b", 2), StatusIs(StatusCode::kInvalidArgument, "'a/b'"));
  EXPECT_THAT(create(std::string(129, 'x'), 2), StatusIs(StatusCode::kInvalidArgument, "129"));
  EXPECT_THAT(create("t", 0), StatusIs(StatusCode::kInvalidArgument, "1 to 65536"));
  EXPECT_THAT(create("t", 65537), StatusIs(StatusCode::kInvalidArgument, "65537"));
  EXPECT_THAT(db().CreateTable({"t", 2, Precision::kFp32, Metric::kCosine, {"x"}}),
              StatusIs(StatusCode::kInvalidArgument, "1 dimension names for 2"));
  EXPECT_THAT(db().CreateTable({"t", 2, Precision::kFp32, Metric::kCosine, {"x", "x"}}),
              StatusIs(StatusCode::kInvalidArgument, "twice"));
  EXPECT_TRUE(db().ListTables().empty());
  ASSERT_THAT(create("t", 2), IsOk());
  EXPECT_THAT(create("t", 2), StatusIs(StatusCode::kAlreadyExists, "'t'"));
}

TEST_F(DatabaseTest, NamesNearTables) {
  fixture_.MakeTable("glove", 2);
  EXPECT_THAT(db().FindTable("Glvoe"), StatusIs(StatusCode::kNotFound, "did you mean 'glove'?"));
  EXPECT_THAT(db().DropTable("nothing"), StatusIs(StatusCode::kNotFound, "no table 'nothing'"));
}

TEST_F(DatabaseTest, HoldsTheLimitOfTables) {
  fixture_.limits().max_tables = 2;
  fixture_.Reopen();
  fixture_.MakeTable("a", 2);
  fixture_.MakeTable("b", 2);
  const TableSpec third = {"c", 2, Precision::kFp32, Metric::kCosine, {}};
  EXPECT_THAT(db().CreateTable(third), StatusIs(StatusCode::kResourceExhausted, "the limit is 2"));
  ASSERT_THAT(db().DropTable("a"), IsOk());
  EXPECT_THAT(db().CreateTable(third), IsOk());
}

TEST_F(DatabaseTest, DropsForGood) {
  const std::shared_ptr<Table> held = fixture_.MakeTable("t", 2);
  Fill("t", {"a", "b"});
  const auto dropped = db().DropTable("t");
  ASSERT_THAT(dropped, IsOk());
  EXPECT_EQ(dropped->rows, 2U);
  const std::vector<float> vector = {1, 0};
  const RowInput row = {"c", vector, std::nullopt};
  EXPECT_THAT(held->Upsert({&row, 1}, UpsertMode::kUpsert),
              StatusIs(StatusCode::kNotFound, "dropped"));
  fixture_.MakeTable("t", 2);
  EXPECT_EQ(RowsOf("t"), 0U);
  fixture_.Reopen();
  EXPECT_EQ(RowsOf("t"), 0U);
}

TEST_F(DatabaseTest, RenamesAndReplaces) {
  fixture_.MakeTable("old", 2);
  fixture_.MakeTable("new", 2);
  Fill("old", {"a"});
  Fill("new", {"a", "b", "c"});
  EXPECT_THAT(db().RenameTable("new", "old", false), StatusIs(StatusCode::kAlreadyExists, "'old'"));
  EXPECT_THAT(db().RenameTable("none", "x", false), StatusIs(StatusCode::kNotFound, "'none'"));
  EXPECT_THAT(db().RenameTable("new", "-x", false), StatusIs(StatusCode::kInvalidArgument, "'-x'"));
  const auto renamed = db().RenameTable("new", "old", true);
  ASSERT_THAT(renamed, IsOk());
  EXPECT_TRUE(renamed->replaced);
  EXPECT_EQ(renamed->table.spec.name, "old");
  EXPECT_EQ(RowsOf("old"), 3U);
  Fill("old", {"d"});
  fixture_.Reopen();
  EXPECT_EQ(RowsOf("old"), 4U);
  EXPECT_EQ(db().ListTables().size(), 1U);
  const auto same = db().RenameTable("old", "old", true);
  ASSERT_THAT(same, IsOk());
  EXPECT_FALSE(same->replaced);
  EXPECT_EQ(RowsOf("old"), 4U);
}

}  // namespace
}  // namespace vectable
