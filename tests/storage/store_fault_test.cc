#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "tests/common/test_seed.h"
#include "tests/storage/store_fixture.h"
#include "tests/support/fault_env.h"

namespace vectable {
namespace {

using testing::ElementsAre;

struct FaultCase {
  std::string name;
  Fault fault;
  absl::StatusCode code;
};

class StoreFaultTest : public StoreTest, public testing::WithParamInterface<FaultCase> {
 protected:
  void SetUp() override {
    options_.env = &env_;
    StoreTest::SetUp();
    record_ = Create("t");
  }
  void TearDown() override { Close(); }  // before its file system goes

  // Opens with a healthy disk.
  void Recover() {
    Close();
    env_.set_fault(Fault::kNone);
    Open();
    const std::vector<TableRecord> tables = Tables();
    ASSERT_EQ(tables.size(), 1U);
    record_ = tables[0];
  }

  FaultEnv env_;
  TableRecord record_;
};

TEST_P(StoreFaultTest, AFailedWriteIsSaidAndAcknowledgedRowsStay) {
  const std::vector<Row> rows = {{0, "cat", "c0"}, {1, "dog", "c1"}};
  ASSERT_THAT(PutRows(store(), record_, rows), IsOk());
  env_.set_fault(GetParam().fault);
  EXPECT_THAT(PutRows(store(), record_, {{2, "cow", "c2"}, {3, "hen", "c3"}}),
              StatusIs(GetParam().code, "writing to the store"));
  EXPECT_GT(env_.failures(), 0);
  // Not seen before the reopen either.
  EXPECT_EQ(AllRows(store(), record_.table_id), rows);
  EXPECT_THAT(Tables(), ElementsAre(record_));

  const TableRecord before = record_;
  Recover();
  const std::vector<Row> found = AllRows(store(), record_.table_id);
  if (GetParam().fault == Fault::kSync && found.size() == 4) {
    // Bytes that weren't synced may be there all the same; then the commit is whole.
    EXPECT_EQ(record_.rows, 4U);
    EXPECT_EQ(record_.applied_sequence, 2U);
  } else {
    EXPECT_EQ(found, rows);
    EXPECT_EQ(record_, before);
  }
  EXPECT_THAT(PutRows(store(), record_, {{record_.next_row_id, "new", "c"}}), IsOk());
}

// Going on with a log whose last record failed could lose it all.
TEST_P(StoreFaultTest, NothingIsWrittenAfterAFailureUntilAnOpen) {
  const std::vector<Row> rows = {{0, "cat", "c0"}};
  ASSERT_THAT(PutRows(store(), record_, rows), IsOk());
  env_.set_fault(GetParam().fault);
  EXPECT_FALSE(PutRows(store(), record_, {{1, "dog", "c1"}}).ok());
  env_.set_fault(Fault::kNone);
  for (int i = 0; i < 20; ++i) {
    absl::SleepFor(absl::Milliseconds(5));
    ASSERT_THAT(PutRows(store(), record_, {{1, "dog", "c1"}}),
                StatusIs(GetParam().code, "until the data are opened again"));
  }
  EXPECT_EQ(AllRows(store(), record_.table_id), rows);
  Recover();
  EXPECT_THAT(PutRows(store(), record_, {{record_.next_row_id, "new", "c"}}), IsOk());
}

TEST_P(StoreFaultTest, AFailedCreateLeavesNoTable) {
  env_.set_fault(GetParam().fault);
  EXPECT_THAT(store().CreateTable(NewTable("other")), StatusIs(GetParam().code, ""));
  Recover();
  EXPECT_THAT(Tables(), ElementsAre(record_));
  EXPECT_GT(Create("other").table_id, record_.table_id);
}

// Each commit writes two rows, so that half a commit would be seen.
TEST_P(StoreFaultTest, AcknowledgedCommitsSurviveAndOthersAreWholeOrAbsent) {
  std::mt19937_64 random(TestSeed());
  std::map<uint64_t, std::string> acknowledged;  // codes by row id
  for (int round = 0; round < 8; ++round) {
    const uint64_t trouble_at = random() % 20;
    for (uint64_t i = 0; i < 25; ++i) {
      if (i == trouble_at) env_.set_fault(GetParam().fault);
      if (i > trouble_at && random() % 3 == 0) env_.set_fault(Fault::kNone);
      const uint64_t id = record_.next_row_id;
      const std::string codes = absl::StrCat("codes ", random(), std::string(random() % 900, 'x'));
      if (PutRows(store(), record_,
                  {{id, absl::StrCat("w", id), codes}, {id + 1, absl::StrCat("w", id + 1), codes}})
              .ok()) {
        acknowledged[id] = codes;
      }
    }
    ASSERT_NO_FATAL_FAILURE(Recover());
    std::map<uint64_t, std::string> found;
    for (const Row& row : AllRows(store(), record_.table_id)) found[row.row_id] = row.codes;
    ASSERT_EQ(found.size(), record_.rows);
    ASSERT_EQ(record_.next_row_id, record_.rows);
    for (uint64_t id = 0; id < record_.rows; id += 2) ASSERT_EQ(found[id], found[id + 1]);
    for (const auto& [id, codes] : acknowledged) ASSERT_EQ(found[id], codes) << id;
  }
  EXPECT_GT(env_.failures(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Faults, StoreFaultTest,
    testing::Values(FaultCase{"Append", Fault::kAppend, absl::StatusCode::kInternal},
                    FaultCase{"TornAppend", Fault::kTornAppend, absl::StatusCode::kInternal},
                    FaultCase{"Sync", Fault::kSync, absl::StatusCode::kInternal},
                    FaultCase{"DiskFull", Fault::kDiskFull, absl::StatusCode::kResourceExhausted}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace vectable
