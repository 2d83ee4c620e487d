#include "common/status_util.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

TEST(AnnotateTest, OkStaysOk) { EXPECT_THAT(Annotate(absl::OkStatus(), "table 'a'"), IsOk()); }

TEST(AnnotateTest, KeepsCodeAndPayloadsAndPutsTheContextFirst) {
  absl::Status status = absl::DataLossError("bad");
  status.SetPayload("vectable/near", absl::Cord("payload"));
  const absl::Status annotated = Annotate(Annotate(status, "row 17"), "table 'a'");
  EXPECT_EQ(annotated.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(annotated.message(), "table 'a': row 17: bad");
  EXPECT_EQ(annotated.GetPayload("vectable/near"), absl::Cord("payload"));
}

absl::StatusOr<int> Twice(absl::StatusOr<std::unique_ptr<int>> input, absl::Status gate, int& ran) {
  VT_RETURN_IF_ERROR(gate);
  ++ran;
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<int> first, std::move(input));
  ++ran;
  VT_ASSIGN_OR_RETURN(const int second, absl::StatusOr<int>(2));
  return *first * second;
}

TEST(StatusMacrosTest, ValuesPassAndErrorsReturn) {
  int ran = 0;
  EXPECT_EQ(*Twice(std::make_unique<int>(21), absl::OkStatus(), ran), 42);
  EXPECT_EQ(ran, 2);
  ran = 0;
  EXPECT_THAT(Twice(absl::NotFoundError("gone"), absl::OkStatus(), ran),
              StatusIs(absl::StatusCode::kNotFound, "gone"));
  EXPECT_EQ(ran, 1);
  ran = 0;
  EXPECT_THAT(Twice(std::make_unique<int>(1), absl::AbortedError("shut"), ran),
              StatusIs(absl::StatusCode::kAborted, "shut"));
  EXPECT_EQ(ran, 0);
}

}  // namespace
}  // namespace vectable
