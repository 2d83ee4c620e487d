#include <memory>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/rpc_fixture.h"

namespace vectable {
namespace {

using Stream = grpc::ClientReaderWriter<v1::UpsertStreamRequest, v1::UpsertStreamResponse>;

class UpsertStreamTest : public RpcFixture {
 protected:
  void SetUp() override {
    Start();  // the channel in the process buffers nothing, so a writer would wait for its own
              // reads
    MakeTable("t", 2);
  }

  std::unique_ptr<Stream> Open(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    return rows->UpsertStream(&context);
  }

  // A batch of good rows PREFIX0, PREFIX1, ...
  static v1::UpsertStreamRequest Batch(const std::string& table, const std::string& prefix,
                                       int count) {
    v1::UpsertStreamRequest batch;
    batch.set_table(table);
    for (int i = 0; i < count; ++i) {
      AddRow(batch, prefix + std::to_string(i), {1, static_cast<float>(i)});
    }
    return batch;
  }

  uint64_t Rows() { return (*database().FindTable("t"))->Describe().rows; }
};

TEST_F(UpsertStreamTest, EachBatchIsAcknowledgedInOrder) {
  constexpr int kBatches = 50;
  grpc::ClientContext context;
  const auto stream = Open(context);
  std::thread writer([&stream] {
    for (int i = 0; i < kBatches; ++i) {
      ASSERT_TRUE(stream->Write(Batch(i == 0       ? "t"
                                      : i % 2 == 0 ? "t"
                                                   : "",
                                      std::to_string(i) + "_", i + 1)));
    }
    stream->WritesDone();
  });
  v1::UpsertStreamResponse ack;
  uint64_t rows_written = 0;
  for (uint64_t i = 0; i < kBatches; ++i) {
    ASSERT_TRUE(stream->Read(&ack));
    EXPECT_EQ(ack.batch(), i);
    EXPECT_EQ(ack.inserted(), i + 1);
    EXPECT_EQ(ack.sequence(), i + 1);
    EXPECT_EQ(ack.rejected_size(), 0);
    rows_written += ack.inserted();
  }
  EXPECT_FALSE(stream->Read(&ack));
  writer.join();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(Rows(), rows_written);
}

TEST_F(UpsertStreamTest, WithoutBatchesIsFine) {
  grpc::ClientContext context;
  const auto stream = Open(context);
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(UpsertStreamTest, AckedBatchIsFoundByTheNextSearch) {
  grpc::ClientContext context;
  const auto stream = Open(context);
  for (int i = 0; i < 5; ++i) {
    const std::string prefix = "p" + std::to_string(i) + "_";
    ASSERT_TRUE(stream->Write(Batch("t", prefix, 1)));
    v1::UpsertStreamResponse ack;
    ASSERT_TRUE(stream->Read(&ack));
    v1::NearestRequest request;
    request.set_table("t");
    request.set_k(1);
    request.add_queries()->set_word(prefix + "0");
    request.set_include_self(true);
    const auto response = Call(search, &v1::SearchService::Stub::Nearest, request);
    EXPECT_EQ(response.results(0).code(), 0) << response.results(0).error();
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(UpsertStreamTest, BadBatchEndsTheStreamAndKeepsWhatWasAcknowledged) {
  grpc::ClientContext context;
  const auto stream = Open(context);
  ASSERT_TRUE(stream->Write(Batch("t", "a", 3)));
  v1::UpsertStreamRequest bad = Batch("t", "b", 3);
  bad.mutable_rows(1)->mutable_vector()->add_values(9);
  stream->Write(bad);
  stream->Write(Batch("t", "c", 3));
  v1::UpsertStreamResponse ack;
  ASSERT_TRUE(stream->Read(&ack));
  EXPECT_FALSE(stream->Read(&ack));
  EXPECT_THAT(stream->Finish(),
              GrpcStatusIs(grpc::INVALID_ARGUMENT, "batch 1: table 't': row 1 ('b1')"));
  EXPECT_EQ(Rows(), 3U);
}

// Batches are prepared and written while others are: still nothing comes in after one that failed,
// whether it can't be prepared or can't be written.
TEST_F(UpsertStreamTest, NothingIsWrittenAfterABatchThatFails) {
  constexpr int kBatches = 8;
  constexpr int kRows = 20;
  ASSERT_TRUE(Call(rows, &v1::RowService::Stub::Upsert,
                   [] {
                     v1::UpsertRequest known;
                     known.set_table("t");
                     AddRow(known, "known", {1, 1});
                     return known;
                   }())
                  .inserted() == 1);
  for (int failing = 0; failing < kBatches; ++failing) {
    for (const bool at_commit : {false, true}) {
      SCOPED_TRACE(std::to_string(failing) + (at_commit ? " at its commit" : " before"));
      const uint64_t before = Rows();
      const std::string prefix =
          (at_commit ? "c" : "p") + std::to_string(failing) + std::string("_");
      grpc::ClientContext context;
      const auto stream = Open(context);
      std::thread writer([&] {
        for (int i = 0; i < kBatches; ++i) {
          v1::UpsertStreamRequest batch = Batch("t", prefix + std::to_string(i) + "_", kRows);
          if (i == failing && at_commit) {
            batch.set_mode(v1::UPSERT_MODE_INSERT_ONLY);
            batch.mutable_rows(kRows - 1)->set_word("known");
          } else if (i == failing) {
            batch.mutable_rows(kRows - 1)->mutable_vector()->add_values(9);
          }
          if (!stream->Write(batch)) break;  // the stream has ended
        }
        stream->WritesDone();
      });
      v1::UpsertStreamResponse ack;
      int acknowledged = 0;
      while (stream->Read(&ack)) {
        EXPECT_EQ(ack.batch(), static_cast<uint64_t>(acknowledged));
        EXPECT_EQ(ack.inserted(), static_cast<uint64_t>(kRows));
        ++acknowledged;
      }
      writer.join();
      EXPECT_EQ(acknowledged, failing);
      EXPECT_THAT(stream->Finish(),
                  GrpcStatusIs(at_commit ? grpc::ALREADY_EXISTS : grpc::INVALID_ARGUMENT,
                               "batch " + std::to_string(failing) + ": table 't': row 19"));
      EXPECT_EQ(Rows() - before, static_cast<uint64_t>(failing * kRows));
    }
  }
}

// A word that comes in batch after batch is there once, with the last vector.
TEST_F(UpsertStreamTest, ALaterBatchReplacesAnEarlierOnesRows) {
  constexpr int kBatches = 30;
  grpc::ClientContext context;
  const auto stream = Open(context);
  std::thread writer([&stream] {
    for (int i = 0; i < kBatches; ++i) {
      v1::UpsertStreamRequest batch;
      batch.set_table("t");
      batch.set_on_bad(i % 3 == 0 ? v1::ON_BAD_SKIP : v1::ON_BAD_ERROR);
      AddRow(batch, "same", {1, static_cast<float>(i)});
      AddRow(batch, "own" + std::to_string(i), {1, 1});
      ASSERT_TRUE(stream->Write(batch));
    }
    stream->WritesDone();
  });
  v1::UpsertStreamResponse ack;
  for (uint64_t i = 0; i < kBatches; ++i) {
    ASSERT_TRUE(stream->Read(&ack));
    EXPECT_EQ(ack.batch(), i);
    EXPECT_EQ(ack.inserted(), i == 0 ? 2U : 1U);
    EXPECT_EQ(ack.replaced(), i == 0 ? 0U : 1U);
  }
  EXPECT_FALSE(stream->Read(&ack));
  writer.join();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(Rows(), uint64_t{kBatches + 1});
  v1::GetRequest get;
  get.set_table("t");
  get.mutable_words()->add_words("same");
  const auto same = Call(rows, &v1::RowService::Stub::Get, get);
  ASSERT_EQ(same.rows_size(), 1);
  EXPECT_EQ(same.rows(0).vector().values(1), kBatches - 1);
}

TEST_F(UpsertStreamTest, SkipLeavesBadRowsOutAndReportsThem) {
  grpc::ClientContext context;
  const auto stream = Open(context);
  v1::UpsertStreamRequest batch = Batch("t", "a", 4);
  batch.mutable_rows(1)->mutable_vector()->add_values(9);
  batch.mutable_rows(3)->set_word("");
  batch.set_on_bad(v1::ON_BAD_SKIP);
  ASSERT_TRUE(stream->Write(batch));
  v1::UpsertStreamResponse ack;
  ASSERT_TRUE(stream->Read(&ack));
  EXPECT_EQ(ack.inserted(), 2U);
  EXPECT_EQ(ack.sequence(), 1U);
  ASSERT_EQ(ack.rejected_size(), 2);
  EXPECT_EQ(ack.rejected(0).index(), 1U);
  EXPECT_EQ(ack.rejected(0).word(), "a1");
  EXPECT_THAT(ack.rejected(0).reason(), testing::HasSubstr("3"));
  EXPECT_EQ(ack.rejected(1).index(), 3U);

  v1::UpsertStreamRequest all_bad;
  all_bad.set_on_bad(v1::ON_BAD_SKIP);
  AddRow(all_bad, "z", {0, 0});
  ASSERT_TRUE(stream->Write(all_bad));
  v1::UpsertStreamResponse none;
  ASSERT_TRUE(stream->Read(&none));
  EXPECT_EQ(none.inserted(), 0U);
  EXPECT_FALSE(none.has_sequence());
  EXPECT_EQ(none.rejected_size(), 1);
  EXPECT_EQ(none.batch(), 1U);
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(Rows(), 2U);
}

TEST_F(UpsertStreamTest, ErrorsOfTheTableName) {
  const struct {
    const char* first;
    const char* second;
    grpc::StatusCode code;
    const char* text;
  } cases[] = {
      {"none", "", grpc::NOT_FOUND, "batch 0: "},
      {"", "", grpc::NOT_FOUND, "batch 0: "},
      {"t", "u", grpc::INVALID_ARGUMENT, "batch 1: table 'u' is named in a stream that began with"},
  };
  for (const auto& c : cases) {
    grpc::ClientContext context;
    const auto stream = Open(context);
    stream->Write(Batch(c.first, "x", 1));
    stream->Write(Batch(c.second, "y", 1));
    stream->WritesDone();
    v1::UpsertStreamResponse ack;
    while (stream->Read(&ack)) {
    }
    EXPECT_THAT(stream->Finish(), GrpcStatusIs(c.code, c.text)) << c.first;
  }
}

TEST_F(UpsertStreamTest, MalformedBatchIsAnErrorAndNotTheEnd) {
  grpc::ClientContext context;
  const auto stream = Open(context);
  ASSERT_TRUE(stream->Write(Batch("t", "caf\xE9", 1)));
  v1::UpsertStreamResponse ack;
  EXPECT_FALSE(stream->Read(&ack));
  EXPECT_THAT(stream->Finish(),
              GrpcStatusIs(grpc::INVALID_ARGUMENT, "batch 0: the request is not"));
  EXPECT_EQ(Rows(), 0U);
}

TEST_F(UpsertStreamTest, UnknownOnBadIsRefused) {
  grpc::ClientContext context;
  const auto stream = Open(context);
  v1::UpsertStreamRequest batch = Batch("t", "a", 1);
  batch.set_on_bad(static_cast<v1::OnBad>(5));
  ASSERT_TRUE(stream->Write(batch));
  EXPECT_THAT(stream->Finish(), GrpcStatusIs(grpc::INVALID_ARGUMENT, "on_bad 5"));
}

TEST_F(UpsertStreamTest, CancelKeepsBatchesWhole) {
  for (int round = 0; round < 20; ++round) {
    grpc::ClientContext context;
    const auto stream = Open(context);
    const std::string prefix = "r" + std::to_string(round) + "_";
    const uint64_t before = Rows();
    uint64_t acked = 0;
    for (int i = 0; i < 5; ++i) stream->Write(Batch("t", prefix + std::to_string(i) + "_", 10));
    v1::UpsertStreamResponse ack;
    for (int i = 0; i < round % 4 && stream->Read(&ack); ++i) acked += ack.inserted();
    context.TryCancel();
    EXPECT_EQ(stream->Finish().error_code(), grpc::CANCELLED);
    const uint64_t written = Rows() - before;
    EXPECT_GE(written, acked);
    EXPECT_EQ(written % 10, 0U);
  }
}

TEST_F(UpsertStreamTest, IdleStreamEndsWithTheServer) {
  grpc::ClientContext context;
  const auto stream = Open(context);
  ASSERT_TRUE(stream->Write(Batch("t", "a", 1)));
  v1::UpsertStreamResponse ack;
  ASSERT_TRUE(stream->Read(&ack));
  const absl::Time begin = absl::Now();
  server().Shutdown(absl::Milliseconds(200));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(10));
  EXPECT_FALSE(stream->Finish().ok());
}

}  // namespace
}  // namespace vectable
