// Streams of searches: order, errors of one request, clients that send much and read nothing,
// stops.
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/faulty_store.h"
#include "tests/server/rpc_fixture.h"

namespace vectable {
namespace {

using SearchStub = v1::SearchService::Stub;
using Stream = grpc::ClientReaderWriter<v1::NearestRequest, v1::NearestStreamResponse>;

class NearestStreamTest : public RpcFixture {
 protected:
  void SetUp() override {
    Start();
    MakeTable("t", 4);
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    v1::UpsertRequest request;
    request.set_table("t");
    for (int i = 0; i < 300; ++i) {
      AddRow(request, absl::StrCat("w", i),
             {normal(random), normal(random), normal(random), normal(random)});
    }
    Call(rows, &v1::RowService::Stub::Upsert, request);
  }

  static v1::NearestRequest Request(const std::string& word, uint32_t k = 5) {
    v1::NearestRequest request;
    request.set_table("t");
    request.set_k(k);
    request.add_queries()->set_word(word);
    return request;
  }

  std::unique_ptr<Stream> Open(grpc::ClientContext& context) {
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    return search->NearestStream(&context);
  }
};

TEST_F(NearestStreamTest, AnswersAreThoseOfSingleCallsInTheOrderAsked) {
  grpc::ClientContext context;
  const auto stream = Open(context);
  std::thread writer([&] {
    for (int i = 0; i < 900; ++i) {
      v1::NearestRequest request = Request(absl::StrCat("w", i % 300), 1 + i % 7);
      for (int more = 0; more < i % 4; ++more) request.add_queries()->set_word("w1");
      ASSERT_TRUE(stream->Write(request));
    }
    stream->WritesDone();
  });
  v1::NearestStreamResponse reply;
  uint64_t count = 0;
  for (; stream->Read(&reply); ++count) {
    ASSERT_EQ(reply.request(), count);
    ASSERT_EQ(reply.code(), 0) << reply.error();
    ASSERT_EQ(reply.answer().results_size(), 1 + static_cast<int>(count % 4));
    if (count % 10 != 0) continue;
    const auto expected =
        Call(search, &SearchStub::Nearest, Request(absl::StrCat("w", count % 300), 1 + count % 7));
    EXPECT_EQ(reply.answer().results(0).SerializeAsString(),
              expected.results(0).SerializeAsString());
  }
  writer.join();
  EXPECT_EQ(count, 900U);
  const grpc::Status status = stream->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(NearestStreamTest, ARequestThatFailsIsAnsweredAndTheStreamGoesOn) {
  grpc::ClientContext context;
  const auto stream = Open(context);
  v1::NearestRequest no_table = Request("w1");
  no_table.set_table("none");
  v1::NearestRequest no_queries = Request("w1");
  no_queries.clear_queries();
  const v1::NearestRequest no_word = Request("nobody");
  for (const auto& request :
       {no_table, Request("w1"), no_queries, Request("w2", 0), no_word, Request("w2")}) {
    ASSERT_TRUE(stream->Write(request));
  }
  stream->WritesDone();
  std::vector<v1::NearestStreamResponse> replies;
  for (v1::NearestStreamResponse reply; stream->Read(&reply);) replies.push_back(reply);
  EXPECT_TRUE(stream->Finish().ok());
  ASSERT_EQ(replies.size(), 6U);
  EXPECT_EQ(replies[0].code(), grpc::NOT_FOUND);
  EXPECT_THAT(replies[0].error(), testing::HasSubstr("'none'"));
  EXPECT_FALSE(replies[0].has_answer());
  EXPECT_EQ(replies[1].code(), 0);
  EXPECT_EQ(replies[2].code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(replies[3].code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(replies[4].code(), 0) << "the error is the query's";
  EXPECT_EQ(replies[4].answer().results(0).code(), grpc::NOT_FOUND);
  EXPECT_EQ(replies[5].answer().results(0).hits_size(), 5);
}

TEST_F(NearestStreamTest, AMalformedRequestIsAnsweredToo) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
  grpc::internal::RpcMethod method("/vectable.v1.SearchService/NearestStream",
                                   grpc::internal::RpcMethod::BIDI_STREAMING, channel());
  const std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>> stream(
      grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(
          channel().get(), method, &context));
  const grpc::Slice garbage("\xff\xff\xff garbage");
  const std::string good = Request("w1").SerializeAsString();
  const grpc::Slice good_slice(good);
  ASSERT_TRUE(stream->Write(grpc::ByteBuffer(&garbage, 1)));
  ASSERT_TRUE(stream->Write(grpc::ByteBuffer(&good_slice, 1)));
  stream->WritesDone();
  std::vector<v1::NearestStreamResponse> replies;
  for (grpc::ByteBuffer bytes; stream->Read(&bytes);) {
    grpc::Slice slice;
    ASSERT_TRUE(bytes.DumpToSingleSlice(&slice).ok());
    ASSERT_TRUE(
        replies.emplace_back().ParseFromArray(slice.begin(), static_cast<int>(slice.size())));
  }
  EXPECT_TRUE(stream->Finish().ok());
  ASSERT_EQ(replies.size(), 2U);
  EXPECT_EQ(replies[0].code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(replies[1].code(), 0);
}

TEST_F(NearestStreamTest, WhoReadsNothingHoldsNoWorkerAndIsNotReadFurther) {
  grpc::ClientContext context;
  const auto stream = Open(context);
  std::atomic<int> sent{0};
  std::thread writer([&] {
    v1::NearestRequest request = Request("w1", 300);
    request.set_include_vectors(true);
    request.add_exclude_words(std::string(4'000, 'x'));  // more than networks keep
    while (sent < 100'000 && stream->Write(request)) ++sent;
  });
  // What is sent comes to a stand: the network's buffers and the server's allowance are full.
  int before = -1;
  while (sent == 0 || sent != before) {
    before = sent;
    absl::SleepFor(absl::Milliseconds(300));
  }
  EXPECT_LT(sent, 100'000);
  EXPECT_EQ(Call(search, &SearchStub::Nearest, Request("w2")).results(0).hits_size(), 5);
  context.TryCancel();
  writer.join();
  EXPECT_EQ(stream->Finish().error_code(), grpc::CANCELLED);
  EXPECT_EQ(Call(search, &SearchStub::Nearest, Request("w2")).results(0).hits_size(), 5);
}

TEST_F(NearestStreamTest, AStreamThatSaysNothingEndsWithItsClient) {
  {
    grpc::ClientContext context;
    const auto stream = Open(context);
    ASSERT_TRUE(stream->Write(Request("w1")));
    v1::NearestStreamResponse reply;
    ASSERT_TRUE(stream->Read(&reply));
    context.TryCancel();
    EXPECT_FALSE(stream->Read(&reply));
    EXPECT_EQ(stream->Finish().error_code(), grpc::CANCELLED);
  }
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Milliseconds(200)));
  const auto stream = search->NearestStream(&context);
  v1::NearestStreamResponse reply;
  EXPECT_FALSE(stream->Read(&reply));
  EXPECT_EQ(stream->Finish().error_code(), grpc::DEADLINE_EXCEEDED);
}

// The table loads until it is let go.
class LoadingStreamTest : public NearestStreamTest {
 protected:
  void SetUp() override {
    NearestStreamTest::SetUp();
    Stop();
    faults_.before_each_row = [this] { let_go_.WaitForNotification(); };
    wrap_store = [this](std::unique_ptr<Store> store) {
      return std::make_unique<FaultyStore>(std::move(store), faults_);
    };
    Start();
  }
  void TearDown() override {
    LetGo();
    Stop();
  }
  void LetGo() {
    if (!let_go_.HasBeenNotified()) let_go_.Notify();
  }

  FaultyStore::Faults faults_;
  absl::Notification let_go_;
};

TEST_F(LoadingStreamTest, SearchesWaitForTheTable) {
  grpc::ClientContext context;
  const auto stream = Open(context);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(stream->Write(Request("w1")));
  stream->WritesDone();
  absl::SleepFor(absl::Milliseconds(100));
  LetGo();
  v1::NearestStreamResponse reply;
  int count = 0;
  for (; stream->Read(&reply); ++count) EXPECT_EQ(reply.code(), 0) << reply.error();
  EXPECT_EQ(count, 5);
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(LoadingStreamTest, ADeadlineIsAnsweredWithTheReason) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(1)));
  const auto stream = search->NearestStream(&context);
  ASSERT_TRUE(stream->Write(Request("w1")));
  v1::NearestStreamResponse reply;
  ASSERT_TRUE(stream->Read(&reply));
  EXPECT_EQ(reply.code(), grpc::UNAVAILABLE);
  EXPECT_THAT(reply.error(), testing::HasSubstr("is still loading"));
  context.TryCancel();
}

TEST_F(LoadingStreamTest, AStopEndsWhatWaits) {
  grpc::ClientContext context;
  const auto stream = Open(context);
  ASSERT_TRUE(stream->Write(Request("w1")));
  absl::SleepFor(absl::Milliseconds(100));
  std::thread stop([this] { server().Shutdown(absl::Seconds(5)); });
  v1::NearestStreamResponse reply;
  EXPECT_FALSE(stream->Read(&reply));
  EXPECT_EQ(stream->Finish().error_code(), grpc::UNAVAILABLE);
  stop.join();
}

}  // namespace
}  // namespace vectable
