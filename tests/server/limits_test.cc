// Requests and replies that are too large, and a server with too much to do.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/rpc_fixture.h"

namespace vectable {
namespace {

class LimitsTest : public RpcFixture {
 protected:
  void SetUp() override {
    limits.max_message_bytes = 1'000'000;
    limits.max_reply_bytes = 100'000;
    Start();
    MakeTable("t", 300);
    for (int begin = 0; begin < 500; begin += 250) {
      v1::UpsertRequest request;
      request.set_table("t");
      for (int i = begin; i < begin + 250; ++i) AddRow(request, Word(i), Values(i));
      Call(rows, &v1::RowService::Stub::Upsert, request);
    }
  }

  static std::string Word(int i) { return "w" + std::to_string(i); }
  static std::vector<float> Values(int i) {
    std::vector<float> values(300, 1);
    values[i % 300] = 2;
    return values;
  }
};

TEST_F(LimitsTest, TooLargeRequestNamesTheRowsThatFit) {
  v1::UpsertRequest request;
  request.set_table("t");
  for (int i = 0; i < 2'000; ++i) AddRow(request, "new" + std::to_string(i), Values(i));
  grpc::Status status;
  Call(rows, &v1::RowService::Stub::Upsert, request, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::RESOURCE_EXHAUSTED, "the limit is 1,000,000"));
  EXPECT_THAT(status.error_message(), testing::HasSubstr("of its 2,000 rows about 8"));
  EXPECT_EQ((*database().FindTable("t"))->Describe().rows, 500U);
}

TEST_F(LimitsTest, TooLargeBatchOfAStreamEndsIt) {
  grpc::ClientContext context;
  const auto stream = rows->UpsertStream(&context);
  v1::UpsertStreamRequest batch;
  batch.set_table("t");
  for (int i = 0; i < 2'000; ++i) AddRow(batch, "new" + std::to_string(i), Values(i));
  ASSERT_TRUE(stream->Write(batch));
  v1::UpsertStreamResponse ack;
  EXPECT_FALSE(stream->Read(&ack));
  EXPECT_THAT(stream->Finish(), GrpcStatusIs(grpc::RESOURCE_EXHAUSTED, "batch 0: the request has"));
}

TEST_F(LimitsTest, TooLargeGetNamesTheKeysThatFit) {
  v1::GetRequest request;
  request.set_table("t");
  for (int i = 0; i < 500; ++i) request.mutable_words()->add_words(Word(i));
  grpc::Status status;
  Call(rows, &v1::RowService::Stub::Get, request, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::RESOURCE_EXHAUSTED, "table 't'"));
  EXPECT_THAT(status.error_message(), testing::HasSubstr("of the 500 keys asked for, 82 fit"));

  request.mutable_words()->mutable_words()->DeleteSubrange(82, 418);
  EXPECT_EQ(Call(rows, &v1::RowService::Stub::Get, request).rows_size(), 82);

  // Without vectors all fit, and missing ones take little.
  v1::GetRequest bare;
  bare.set_table("t");
  bare.set_omit_vectors(true);
  for (int i = 0; i < 1'000; ++i) bare.mutable_words()->add_words(Word(i));
  const auto response = Call(rows, &v1::RowService::Stub::Get, bare);
  EXPECT_EQ(response.rows_size(), 500);
  EXPECT_EQ(response.missing_words_size(), 500);
  EXPECT_EQ(response.missing_words(0), "w500");
}

TEST_F(LimitsTest, TooManyIdsForTheReplyAreRefusedBeforeTheWrite) {
  v1::UpsertRequest request;
  request.set_table("t");
  for (int i = 0; i < 20'000; ++i) request.add_rows()->set_word(Word(i));
  grpc::Status status;
  Call(rows, &v1::RowService::Stub::Upsert, request, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::RESOURCE_EXHAUSTED, "the ids of at most"));
}

TEST_F(LimitsTest, TooLargeNearestNamesTheQueriesThatFit) {
  v1::NearestRequest request;
  request.set_table("t");
  request.set_k(100);
  for (int i = 0; i < 200; ++i) request.add_queries()->set_word(Word(i));
  grpc::Status status;
  Call(search, &v1::SearchService::Stub::Nearest, request, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::RESOURCE_EXHAUSTED, "of the 200 queries the first"));
  const std::string& text = status.error_message();
  const int fit = std::stoi(text.substr(text.find("first ") + 6));
  EXPECT_GT(fit, 20);
  request.mutable_queries()->DeleteSubrange(fit, 200 - fit);
  EXPECT_EQ(Call(search, &v1::SearchService::Stub::Nearest, request).results_size(), fit);
}

TEST_F(LimitsTest, TooLargeSingleQueryNamesTheHitsThatFit) {
  v1::NearestRequest request;
  request.set_table("t");
  request.set_k(400);
  request.add_queries()->set_word(Word(0));
  request.set_include_vectors(true);
  grpc::Status status;
  Call(search, &v1::SearchService::Stub::Nearest, request, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::RESOURCE_EXHAUSTED, "of one query's hits the first 8"));
  EXPECT_THAT(status.error_message(), testing::HasSubstr("without vectors more would"));
  request.set_include_vectors(false);
  EXPECT_EQ(Call(search, &v1::SearchService::Stub::Nearest, request).results(0).hits_size(), 400);
}

TEST_F(LimitsTest, AClampedKStillAnswersWhenFewHitsQualify) {
  v1::NearestRequest request;
  request.set_table("t");
  request.set_k(400);
  request.add_queries()->set_word(Word(0));
  request.set_include_vectors(true);
  request.set_min_score(0.99999);  // only words of the same vector
  const auto response = Call(search, &v1::SearchService::Stub::Nearest, request);
  EXPECT_EQ(response.results(0).hits_size(), 1);
  EXPECT_EQ(response.results(0).hits(0).word(), "w300");
  EXPECT_EQ(response.results(0).short_reason(), v1::SHORT_REASON_MIN_SCORE);
}

// A request over the transport's limit meets gRPC's own text; ours comes first up to there.
TEST_F(LimitsTest, TransportTakesMoreThanTheLimit) {
  v1::UpsertRequest request;
  request.set_table(std::string(70 << 20, 'x'));
  grpc::Status status;
  Call(rows, &v1::RowService::Stub::Upsert, request, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::RESOURCE_EXHAUSTED, "the limit is 1,000,000"));
  request.set_table(std::string(90 << 20, 'x'));
  Call(rows, &v1::RowService::Stub::Upsert, request, &status);
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
}

}  // namespace
}  // namespace vectable
