// Requests and replies that are too large, and a server with too much to do.

#include <string>
#include <vector>

#include "absl/time/clock.h"
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

class BoundsTest : public RpcFixture {
 protected:
  grpc::Status TryPut(const std::string& word) {
    v1::UpsertRequest request;
    request.set_table("t");
    AddRow(request, word, {1, 2, 3, 4});
    grpc::Status status;
    Call(rows, &v1::RowService::Stub::Upsert, request, &status);
    return status;
  }
  grpc::Status TryDelete(const std::string& word) {
    v1::DeleteRequest request;
    request.set_table("t");
    request.mutable_words()->add_words(word);
    grpc::Status status;
    Call(rows, &v1::RowService::Stub::Delete, request, &status);
    return status;
  }
};

TEST_F(BoundsTest, ATablesBytesAreBounded) {
  limits.max_table_bytes = 100;  // 6 rows of 16
  Start();
  MakeTable("t", 4);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(TryPut("w" + std::to_string(i)).ok());
  EXPECT_THAT(TryPut("w6"),
              GrpcStatusIs(grpc::RESOURCE_EXHAUSTED, "the limit is 100 bytes, which are 6 rows"));
  EXPECT_TRUE(TryPut("w0").ok());  // replaced
  EXPECT_TRUE(TryDelete("w3").ok());
  EXPECT_TRUE(TryPut("w6").ok());
}

TEST_F(BoundsTest, MemoryIsBoundedForRowsAlone) {
  Start();
  MakeTable("t", 4);
  EXPECT_TRUE(TryPut("a").ok());
  Stop();
  limits.max_memory_bytes = 1;
  Start();
  EXPECT_THAT(TryPut("b"), GrpcStatusIs(grpc::RESOURCE_EXHAUSTED, "max_memory_bytes is 1"));
  grpc::ClientContext context;
  const auto stream = rows->UpsertStream(&context);
  v1::UpsertStreamRequest batch;
  batch.set_table("t");
  AddRow(batch, "c", {1, 2, 3, 4});
  ASSERT_TRUE(stream->Write(batch));
  v1::UpsertStreamResponse ack;
  EXPECT_FALSE(stream->Read(&ack));
  EXPECT_THAT(stream->Finish(), GrpcStatusIs(grpc::RESOURCE_EXHAUSTED, "max_memory_bytes"));
  v1::NearestRequest search_request;
  search_request.set_table("t");
  search_request.set_k(1);
  search_request.add_queries()->set_word("a");
  Call(search, &v1::SearchService::Stub::Nearest, search_request);
  EXPECT_TRUE(TryDelete("a").ok());
}

TEST_F(BoundsTest, StreamsAreBounded) {
  limits.max_streams = 2;
  Start();
  MakeTable("t", 4);
  struct Stream {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReaderWriter<v1::UpsertStreamRequest, v1::UpsertStreamResponse>>
        stream;
  };
  std::vector<std::unique_ptr<Stream>> open;
  const auto begin = [&] {
    auto made = std::make_unique<Stream>();
    made->stream = rows->UpsertStream(&made->context);
    v1::UpsertStreamRequest batch;
    batch.set_table("t");
    AddRow(batch, "w", {1, 2, 3, 4});
    made->stream->Write(batch);
    v1::UpsertStreamResponse ack;
    const bool taken = made->stream->Read(&ack);
    open.push_back(std::move(made));
    return taken;
  };
  EXPECT_TRUE(begin());
  EXPECT_TRUE(begin());
  EXPECT_FALSE(begin());
  EXPECT_THAT(open.back()->stream->Finish(),
              GrpcStatusIs(grpc::RESOURCE_EXHAUSTED, "(max_streams)"));
  EXPECT_TRUE(TryPut("x").ok());  // others go on
  open[0]->stream->WritesDone();
  EXPECT_TRUE(open[0]->stream->Finish().ok());
  // The place is free as soon as the server is done with the stream.
  bool taken = false;
  for (int i = 0; i < 1'000 && !taken; ++i) taken = begin();
  EXPECT_TRUE(taken);
  for (const auto& stream : open) stream->context.TryCancel();
}

TEST_F(BoundsTest, AClientThatReadsNothingLosesItsStream) {
  options.stuck_client = absl::Milliseconds(300);
  Start();
  MakeTable("wide", 1'000);
  for (int i = 0; i < 20; ++i) {
    v1::UpsertRequest request;
    request.set_table("wide");
    for (int j = 0; j < 250; ++j) {
      AddRow(request, "w" + std::to_string(250 * i + j), std::vector<float>(1'000, 1));
    }
    Call(rows, &v1::RowService::Stub::Upsert, request);
  }
  v1::ScanRequest request;
  request.set_table("wide");
  request.set_include_vectors(true);
  grpc::ClientContext context;
  const auto reader = rows->Scan(&context, request);
  v1::ScanResponse response;
  ASSERT_TRUE(reader->Read(&response));
  while (server().load().calls_under_way > 0) absl::SleepFor(absl::Milliseconds(10));
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::CANCELLED);
}

}  // namespace
}  // namespace vectable
