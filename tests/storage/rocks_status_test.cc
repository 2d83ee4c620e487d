#include "storage/rocks_status.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

struct StatusCase {
  rocksdb::Status rocks;
  absl::StatusCode code;
};

class RocksStatusTest : public testing::TestWithParam<StatusCase> {};

TEST_P(RocksStatusTest, CodeAndText) {
  const absl::Status status = FromRocks(GetParam().rocks, "reading x");
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_EQ(status.message(), "reading x: " + GetParam().rocks.ToString());
}

using rocksdb::Status;
INSTANTIATE_TEST_SUITE_P(
    Codes, RocksStatusTest,
    testing::Values(StatusCase{Status::NotFound("k"), absl::StatusCode::kNotFound},
                    StatusCase{Status::Corruption("c"), absl::StatusCode::kDataLoss},
                    StatusCase{Status::NotSupported("n"), absl::StatusCode::kUnimplemented},
                    StatusCase{Status::Busy(), absl::StatusCode::kUnavailable},
                    StatusCase{Status::TimedOut(), absl::StatusCode::kUnavailable},
                    StatusCase{Status::TryAgain(), absl::StatusCode::kUnavailable},
                    StatusCase{Status::ShutdownInProgress(), absl::StatusCode::kUnavailable},
                    StatusCase{Status::NoSpace("full"), absl::StatusCode::kResourceExhausted},
                    StatusCase{Status::IOError("disk"), absl::StatusCode::kInternal},
                    StatusCase{Status::InvalidArgument("a"), absl::StatusCode::kInternal},
                    StatusCase{Status::Aborted(), absl::StatusCode::kInternal},
                    StatusCase{Status::Incomplete("i"), absl::StatusCode::kInternal},
                    StatusCase{Status::ColumnFamilyDropped(), absl::StatusCode::kInternal}));

TEST(RocksStatusTest, OkIsOk) { EXPECT_THAT(FromRocks(Status::OK(), "reading"), IsOk()); }

}  // namespace
}  // namespace vectable
