#include "client/client.h"

#include <gmock/gmock.h>
#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "client/grpc_status.h"
#include "tests/client/fake_server.h"

namespace vectable {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto client = Client::Connect({.server = server_.address(),
                                   .timeout = absl::Seconds(20),
                                   .connect_timeout = absl::Seconds(20)});
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
    v1::CreateTableRequest request;
    request.set_name("t");
    request.set_dimensions(2);
    ASSERT_TRUE(client_->CreateTable(request).ok());
  }

  std::unique_ptr<RowUploader> Upload(UploadOptions options) {
    options.table = options.table.empty() ? "t" : options.table;
    return *client_->Upload(options);
  }

  FakeServer server_;
  std::unique_ptr<Client> client_;
};

TEST(ConnectTest, NoServerIsAnErrorWithinSeconds) {
  const absl::Time start = absl::Now();
  const auto client = Client::Connect({.server = "127.0.0.1:1"});
  EXPECT_TRUE(absl::IsUnavailable(client.status()));
  EXPECT_THAT(std::string(client.status().message()),
              HasSubstr("no server answers at 127.0.0.1:1"));
  EXPECT_LT(absl::Now() - start, absl::Seconds(15));  // not the 30 s of an rpc
}

TEST(ConnectTest, BadAddresses) {
  for (const char* address : {"", "localhost", "localhost:", ":50051", "h:0", "h:99999", "h:x"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Client::Connect({.server = address}).status())) << address;
  }
}

TEST(GrpcStatusTest, EveryCodeKeepsItsNumberAndText) {
  for (int code = 0; code <= 16; ++code) {
    const absl::Status status =
        FromGrpcStatus(grpc::Status(static_cast<grpc::StatusCode>(code), "text"));
    EXPECT_EQ(static_cast<int>(status.code()), code);
    EXPECT_EQ(std::string(status.message()), code == 0 ? "" : "text");
  }
}

TEST_F(ClientTest, ALostServerIsNamed) {
  server_.Stop();
  const auto info = client_->GetServerInfo();
  EXPECT_TRUE(absl::IsUnavailable(info.status())) << info.status();
  EXPECT_THAT(std::string(info.status().message()), HasSubstr(server_.address()));
}

TEST_F(ClientTest, ManyKeysGoInSeveralRequests) {
  std::vector<std::string> words;
  auto uploader = Upload({});
  for (int i = 0; i < 25'000; ++i) {
    words.push_back("w" + std::to_string(i));
    const float vector[] = {1, static_cast<float>(i)};
    ASSERT_TRUE(uploader->Add(words.back(), vector).ok());
  }
  ASSERT_TRUE(uploader->Finish().ok());
  server_.state().max_get_keys = 7'000;  // the server refuses more, so that parts are halved
  words.push_back("absent");
  const auto reply = client_->Get("t", words);
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_EQ(reply->rows_size(), 25'000);
  for (int i = 0; i < 25'000; ++i) ASSERT_EQ(reply->rows(i).word(), words[static_cast<size_t>(i)]);
  EXPECT_THAT(reply->missing_words(), ElementsAre("absent"));

  const auto deleted = client_->Delete("t", words);
  ASSERT_TRUE(deleted.ok());
  EXPECT_EQ(deleted->deleted(), 25'000u);
  EXPECT_THAT(deleted->missing_words(), ElementsAre("absent"));
}

TEST_F(ClientTest, ManyQueriesGoInSeveralRequests) {
  v1::UpsertRequest upsert;
  upsert.set_table("t");
  v1::UpsertRow& row = *upsert.add_rows();
  row.set_word("a");
  row.mutable_vector()->add_values(1);
  row.mutable_vector()->add_values(0);
  ASSERT_TRUE(client_->Upsert(upsert).ok());
  v1::NearestRequest request;
  request.set_table("t");
  request.set_k(1);
  for (int i = 0; i < 2'500; ++i) request.add_queries()->set_word(i % 2 == 0 ? "a" : "b");
  const auto reply = client_->Nearest(request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_EQ(reply->results_size(), 2'500);
  EXPECT_EQ(reply->results(2'499).code(), 5);
  EXPECT_THAT(server_.state().query_counts, ElementsAre(1000, 1000, 500));
  EXPECT_EQ(reply->engine_micros(), 15u);
}

TEST_F(ClientTest, TextThatIsNoUtf8IsRefusedHere) {
  const std::vector<std::string> words = {"ok", "\xff"};
  const auto reply = client_->Get("t", words);
  EXPECT_TRUE(absl::IsInvalidArgument(reply.status()));
  EXPECT_THAT(std::string(reply.status().message()), HasSubstr("'\\xff' is not valid UTF-8"));
  EXPECT_TRUE(absl::IsInvalidArgument(client_->GetTable("\xff").status()));
}

TEST_F(ClientTest, AnUpsertOverTheLimitNamesWhatFits) {
  v1::UpsertRequest request;
  request.set_table("t");
  for (int i = 0; i < 300; ++i) {
    v1::UpsertRow& row = *request.add_rows();
    row.set_word("w" + std::to_string(i));
    row.mutable_vector()->mutable_values()->Resize(65'536, 1.f);
  }
  const auto reply = client_->Upsert(request);
  EXPECT_TRUE(absl::IsResourceExhausted(reply.status()));
  EXPECT_THAT(std::string(reply.status().message()),
              ::testing::AllOf(HasSubstr("300 rows"), HasSubstr("limit is 67,108,864"),
                               HasSubstr("about 255 fit")));
}

TEST_F(ClientTest, UploadCountsWhatIsAcknowledged) {
  auto uploader = Upload({.max_batch_rows = 10});
  for (int i = 0; i < 95; ++i) {
    const float vector[] = {1, 2};
    ASSERT_TRUE(uploader->Add("w" + std::to_string(i % 90), vector).ok());
  }
  ASSERT_TRUE(uploader->Finish().ok());
  EXPECT_EQ(uploader->counts().inserted, 90u);
  EXPECT_EQ(uploader->counts().replaced, 5u);
  EXPECT_EQ(server_.RowCount("t"), 90u);
  EXPECT_EQ(server_.state().batch_rows.size(), 10u);
}

TEST_F(ClientTest, AWordTwiceInABatchReplacesInPlace) {
  auto uploader = Upload({});
  const float first[] = {1, 0}, other[] = {0, 1}, last[] = {0, 2};
  ASSERT_TRUE(uploader->Add("cat", first).ok());
  ASSERT_TRUE(uploader->Add("dog", other).ok());
  ASSERT_TRUE(uploader->Add("cat", last).ok());
  ASSERT_TRUE(uploader->Finish().ok());
  EXPECT_EQ(uploader->counts().inserted, 2u);
  EXPECT_EQ(uploader->counts().replaced, 1u);
  EXPECT_THAT(server_.state().tables["t"].rows["cat"].vector, ElementsAre(0, 2));
  EXPECT_EQ(server_.state().tables["t"].rows["cat"].row_id, 0u);
}

TEST_F(ClientTest, SkippedRowsAreReportedByPosition) {
  auto uploader = Upload({.on_bad = v1::ON_BAD_SKIP});
  const float good[] = {1, 0}, bad[] = {0, 0};
  ASSERT_TRUE(uploader->Add("cat", good, 11).ok());
  ASSERT_TRUE(uploader->Add("cat", bad, 12).ok());  // the earlier vector stays
  ASSERT_TRUE(uploader->Add("dog", good, 13).ok());
  ASSERT_TRUE(uploader->Finish().ok());
  const UploadCounts counts = uploader->counts();
  EXPECT_EQ(counts.inserted, 2u);
  EXPECT_EQ(counts.rejected, 1u);
  ASSERT_EQ(counts.rejections.size(), 1u);
  EXPECT_EQ(counts.rejections[0].position, 12u);
  EXPECT_THAT(server_.state().tables["t"].rows["cat"].vector, ElementsAre(1, 0));
}

TEST_F(ClientTest, TheFirstErrorStopsAndNamesTheBatch) {
  server_.state().fail_batch = 3;
  auto uploader = Upload({.max_batch_rows = 10});
  absl::Status status;
  uint64_t added = 0;
  for (; status.ok() && added < 100'000; ++added) {
    const float vector[] = {1, 2};
    status = uploader->Add("w" + std::to_string(added), vector, added + 1);
  }
  EXPECT_LT(added, 2'000u);
  const absl::Status finish = uploader->Finish();
  EXPECT_EQ(finish, status);
  EXPECT_TRUE(absl::IsInternal(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("batch of lines 31 to 40: the disk is full"));
  EXPECT_EQ(uploader->counts().inserted, 30u);
}

TEST_F(ClientTest, AnUploadToNoTable) {
  auto uploader = Upload({.table = "none"});
  const float vector[] = {1, 2};
  EXPECT_TRUE(uploader->Add("a", vector).ok());
  EXPECT_TRUE(absl::IsNotFound(uploader->Finish()));
}

TEST_F(ClientTest, ASilentServerEndsTheUpload) {
  server_.state().silent_after = 1;
  auto uploader = Upload({.max_batch_rows = 1, .stall_timeout = absl::Seconds(2)});
  const float vector[] = {1, 2};
  absl::Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) status = uploader->Add(std::to_string(i), vector);
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("acknowledged nothing for 2 s"));
  EXPECT_EQ(uploader->counts().inserted, 1u);
}

TEST_F(ClientTest, AServerThatGoesAwayEndsTheUpload) {
  auto uploader = Upload({.max_batch_rows = 1});
  const float vector[] = {1, 2};
  ASSERT_TRUE(uploader->Add("a", vector).ok());
  ASSERT_TRUE(uploader->Add("b", vector).ok());
  server_.Stop();
  absl::Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) status = uploader->Add(std::to_string(i), vector);
  EXPECT_FALSE(uploader->Finish().ok());
}

TEST_F(ClientTest, AnUploadMayBeDropped) {
  auto uploader = Upload({});
  const float vector[] = {1, 2};
  ASSERT_TRUE(uploader->Add("a", vector).ok());
  uploader.reset();
  EXPECT_EQ(server_.RowCount("t"), 0u);
}

TEST_F(ClientTest, ScanStopsWhenTold) {
  auto uploader = Upload({});
  const float vector[] = {1, 2};
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(uploader->Add(std::to_string(i), vector).ok());
  ASSERT_TRUE(uploader->Finish().ok());
  v1::ScanRequest request;
  request.set_table("t");
  int rows = 0;
  EXPECT_TRUE(
      client_->Scan(request, [&](const v1::Row&) { return ++rows, absl::OkStatus(); }).ok());
  EXPECT_EQ(rows, 100);
  const absl::Status status =
      client_->Scan(request, [](const v1::Row&) { return absl::CancelledError("enough"); });
  EXPECT_EQ(status, absl::CancelledError("enough"));
}

}  // namespace
}  // namespace vectable
