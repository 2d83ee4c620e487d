#include "server/grpc_status.h"

#include <string>

#include "common/names.h"
#include "gtest/gtest.h"

namespace vectable {
namespace {

struct CodeCase {
  absl::StatusCode absl_code;
  grpc::StatusCode grpc_code;
  int rpc_code;  // google.rpc.Code
};

constexpr CodeCase kCodes[] = {
    {absl::StatusCode::kOk, grpc::StatusCode::OK, 0},
    {absl::StatusCode::kCancelled, grpc::StatusCode::CANCELLED, 1},
    {absl::StatusCode::kUnknown, grpc::StatusCode::UNKNOWN, 2},
    {absl::StatusCode::kInvalidArgument, grpc::StatusCode::INVALID_ARGUMENT, 3},
    {absl::StatusCode::kDeadlineExceeded, grpc::StatusCode::DEADLINE_EXCEEDED, 4},
    {absl::StatusCode::kNotFound, grpc::StatusCode::NOT_FOUND, 5},
    {absl::StatusCode::kAlreadyExists, grpc::StatusCode::ALREADY_EXISTS, 6},
    {absl::StatusCode::kPermissionDenied, grpc::StatusCode::PERMISSION_DENIED, 7},
    {absl::StatusCode::kResourceExhausted, grpc::StatusCode::RESOURCE_EXHAUSTED, 8},
    {absl::StatusCode::kFailedPrecondition, grpc::StatusCode::FAILED_PRECONDITION, 9},
    {absl::StatusCode::kAborted, grpc::StatusCode::ABORTED, 10},
    {absl::StatusCode::kOutOfRange, grpc::StatusCode::OUT_OF_RANGE, 11},
    {absl::StatusCode::kUnimplemented, grpc::StatusCode::UNIMPLEMENTED, 12},
    {absl::StatusCode::kInternal, grpc::StatusCode::INTERNAL, 13},
    {absl::StatusCode::kUnavailable, grpc::StatusCode::UNAVAILABLE, 14},
    {absl::StatusCode::kDataLoss, grpc::StatusCode::DATA_LOSS, 15},
    {absl::StatusCode::kUnauthenticated, grpc::StatusCode::UNAUTHENTICATED, 16},
};

TEST(GrpcStatus, KeepsEveryCode) {
  for (const CodeCase& c : kCodes) {
    const absl::Status status(c.absl_code, "why");
    const grpc::Status converted = ToGrpcStatus(status);
    EXPECT_EQ(converted.error_code(), c.grpc_code) << status;
    EXPECT_EQ(converted.error_message(), status.ok() ? "" : "why");
    EXPECT_EQ(ToRpcCode(status), c.rpc_code) << status;
  }
}

TEST(GrpcStatus, UnknownCodeBecomesUnknown) {
  const absl::Status status(static_cast<absl::StatusCode>(99), "odd");
  EXPECT_EQ(ToGrpcStatus(status).error_code(), grpc::StatusCode::UNKNOWN);
  EXPECT_EQ(ToRpcCode(status), 2);
}

TEST(GrpcStatus, MessageIsValidUtf8) {
  const absl::Status status = absl::NotFoundError("word \xFFz");
  EXPECT_EQ(ToGrpcStatus(status).error_message(), "word \xEF\xBF\xBDz");
  EXPECT_EQ(ToErrorText(status), "word \xEF\xBF\xBDz");
}

TEST(GrpcStatus, LongMessageIsCutAtACharacter) {
  std::string text;
  while (text.size() < 2 * kMaxStatusMessageBytes) text += "\xC3\xA9";
  const std::string cut = ToGrpcStatus(absl::InternalError(text)).error_message();
  EXPECT_LE(cut.size(), kMaxStatusMessageBytes);
  EXPECT_GT(cut.size(), kMaxStatusMessageBytes - 8);
  EXPECT_TRUE(IsValidUtf8(cut));
  EXPECT_EQ(cut.substr(cut.size() - 3), "...");
  EXPECT_EQ(ToErrorText(absl::InternalError(text)), text);
}

}  // namespace
}  // namespace vectable
