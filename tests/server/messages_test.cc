#include "server/messages.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "vectable/v1/table.pb.h"

namespace vectable {
namespace {

grpc::ByteBuffer Bytes(const std::string& text) {
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

TEST(Messages, RoundTrip) {
  v1::UpsertRequest request;
  request.set_table("t");
  v1::UpsertRow* row = request.add_rows();
  row->set_word("w");
  row->mutable_vector()->add_values(1.5F);
  grpc::ByteBuffer bytes;
  ASSERT_THAT(SerializeMessage(request, bytes), IsOk());
  EXPECT_EQ(bytes.Length(), request.ByteSizeLong());
  for (int i = 0; i < 2; ++i) {  // parsing leaves the bytes
    v1::UpsertRequest parsed;
    ASSERT_THAT(ParseMessage(bytes, parsed), IsOk());
    EXPECT_EQ(parsed.SerializeAsString(), request.SerializeAsString());
  }
}

TEST(Messages, EmptyBytesAreAnEmptyMessage) {
  v1::ListTablesRequest request;
  EXPECT_THAT(ParseMessage(Bytes(""), request), IsOk());
}

TEST(Messages, MalformedBytesAreNamed) {
  for (const std::string& bad : {std::string("\x0a\x05ta", 4), std::string("\xff\xff\xff"),
                                 std::string("\x0a\x01\xff", 3)}) {
    v1::UpsertRequest request;
    EXPECT_THAT(ParseMessage(Bytes(bad), request),
                StatusIs(absl::StatusCode::kInvalidArgument, "vectable.v1.UpsertRequest"));
  }
}

TEST(CheckRequestBytes, NamesSizeLimitAndWhatFits) {
  EXPECT_THAT(CheckRequestBytes(1'000, 1'000, {10, "rows"}), IsOk());
  EXPECT_THAT(CheckRequestBytes(4'000, 1'000, {100, "rows"}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "the request has 4,000 bytes; the limit is 1,000: of its 100 rows about 25 "
                       "fit"));
  EXPECT_THAT(CheckRequestBytes(4'000, 1'000, {}),
              StatusIs(absl::StatusCode::kResourceExhausted, "the limit is 1,000"));
}

TEST(CheckReplyBytes, NamesSizeAndLimit) {
  EXPECT_THAT(CheckReplyBytes(1'000, 1'000), IsOk());
  EXPECT_THAT(CheckReplyBytes(1'001, 1'000),
              StatusIs(absl::StatusCode::kResourceExhausted, "1,001 bytes; the limit is 1,000"));
}

TEST(BatchOf, CountsTheRepeatedPart) {
  v1::UpsertRequest upsert;
  upsert.add_rows();
  EXPECT_EQ(BatchOf(upsert).count, 1U);
  EXPECT_STREQ(BatchOf(upsert).noun, "rows");
  v1::GetRequest get;
  get.mutable_words()->add_words("a");
  EXPECT_STREQ(BatchOf(get).noun, "words");
  get.mutable_row_ids()->add_row_ids(1);
  get.mutable_row_ids()->add_row_ids(2);
  EXPECT_STREQ(BatchOf(get).noun, "row ids");
  EXPECT_EQ(BatchOf(get).count, 2U);
  v1::NearestRequest nearest;
  nearest.add_queries();
  EXPECT_STREQ(BatchOf(nearest).noun, "queries");
  EXPECT_EQ(BatchOf(v1::ListTablesRequest()).count, 0U);
}

TEST(BytesInReply, IsNotBelowTheRealSize) {
  v1::GetResponse response;
  size_t counted = 0;
  for (int i = 0; i < 200; ++i) {
    v1::Row* row = response.add_rows();
    row->set_word(std::string(i, 'x'));
    counted += BytesInReply(*row);
    response.add_missing_words(std::string(i, 'y'));
    counted += StringBytesInReply(i);
  }
  EXPECT_GE(counted, response.ByteSizeLong());
  EXPECT_LE(counted, response.ByteSizeLong() + 400 * 3);
}

}  // namespace
}  // namespace vectable
