#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/scan_lister.h"
#include "tests/server/rpc_fixture.h"

namespace vectable {
namespace {

// Rows of 300 dimensions, so that the listing takes several replies.
class ScanTest : public RpcFixture {
 protected:
  static constexpr int kRows = 1'000;
  static constexpr int kDimensions = 300;

  void SetUp() override {
    Start();
    UseInProcessChannel();
    MakeTable("t", kDimensions);
    v1::UpsertRequest request;
    request.set_table("t");
    for (int i = 0; i < kRows; ++i) {
      std::vector<float> values(kDimensions, 1);
      values[0] = static_cast<float>(i);
      AddRow(request, Word(i), values);
    }
    Call(rows, &v1::RowService::Stub::Upsert, request);
  }

  // The words' order is not that of the ids.
  static std::string Word(int i) {
    return (i % 2 == 0 ? "even" : "odd") + std::to_string(kRows - i);
  }

  struct Listing {
    std::vector<v1::Row> rows;
    std::vector<std::string> tokens;  // of each reply
    grpc::Status status;
  };

  // Reads the replies, at most `most` of them.
  Listing Scan(const v1::ScanRequest& request, size_t most = SIZE_MAX) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    const auto reader = rows->Scan(&context, request);
    Listing listing;
    v1::ScanResponse response;
    while (listing.tokens.size() < most && reader->Read(&response)) {
      EXPECT_GT(response.rows_size(), 0);
      EXPECT_LE(response.ByteSizeLong(), kScanReplyBytes + 8 * kDimensions);
      listing.rows.insert(listing.rows.end(), response.rows().begin(), response.rows().end());
      listing.tokens.push_back(response.next_token());
    }
    if (listing.tokens.size() == most) context.TryCancel();
    listing.status = reader->Finish();
    return listing;
  }

  static v1::ScanRequest Request() {
    v1::ScanRequest request;
    request.set_table("t");
    return request;
  }
};

TEST_F(ScanTest, AllRowsByIdInSeveralReplies) {
  v1::ScanRequest request = Request();
  request.set_include_vectors(true);
  const Listing listing = Scan(request);
  EXPECT_TRUE(listing.status.ok()) << listing.status.error_message();
  ASSERT_EQ(listing.rows.size(), size_t{kRows});
  for (int i = 0; i < kRows; ++i) {
    EXPECT_EQ(listing.rows[i].row_id(), static_cast<uint64_t>(i));
    EXPECT_EQ(listing.rows[i].word(), Word(i));
    ASSERT_EQ(listing.rows[i].vector().values_size(), kDimensions);
    EXPECT_EQ(listing.rows[i].vector().values(0), static_cast<float>(i));
  }
  EXPECT_GE(listing.tokens.size(), 4U);
  EXPECT_EQ(listing.tokens.back(), "");
  for (size_t i = 0; i + 1 < listing.tokens.size(); ++i) EXPECT_NE(listing.tokens[i], "");
}

TEST_F(ScanTest, WithoutVectors) {
  const Listing listing = Scan(Request());
  ASSERT_EQ(listing.rows.size(), size_t{kRows});
  EXPECT_FALSE(listing.rows[0].has_vector());
}

TEST_F(ScanTest, IdRange) {
  v1::ScanRequest request = Request();
  request.mutable_row_ids()->set_begin(990);
  EXPECT_EQ(Scan(request).rows.size(), 10U);
  request.mutable_row_ids()->set_end(995);
  EXPECT_EQ(Scan(request).rows.size(), 5U);
  request.mutable_row_ids()->set_end(990);
  const Listing empty = Scan(request);
  EXPECT_TRUE(empty.status.ok());
  EXPECT_EQ(empty.tokens.size(), 0U);
  request.mutable_row_ids()->set_end(5);
  EXPECT_THAT(Scan(request).status, GrpcStatusIs(grpc::INVALID_ARGUMENT, "'t'"));
}

TEST_F(ScanTest, WordPrefixInTheOrderOfBytes) {
  v1::ScanRequest request = Request();
  request.set_word_prefix("odd");
  const Listing listing = Scan(request);
  ASSERT_EQ(listing.rows.size(), size_t{kRows} / 2);
  EXPECT_TRUE(std::is_sorted(listing.rows.begin(), listing.rows.end(),
                             [](const auto& a, const auto& b) { return a.word() < b.word(); }));
  for (const v1::Row& row : listing.rows) EXPECT_EQ(row.word().substr(0, 3), "odd");
  request.set_word_prefix("");
  EXPECT_EQ(Scan(request).rows.size(), size_t{kRows});
  request.set_word_prefix("x");
  EXPECT_EQ(Scan(request).rows.size(), 0U);
}

TEST_F(ScanTest, ResumesAfterAnyReply) {
  for (const bool by_word : {false, true}) {
    v1::ScanRequest request = Request();
    request.set_include_vectors(true);
    if (by_word) request.set_word_prefix("");
    const Listing whole = Scan(request);
    std::vector<v1::Row> pieces;
    std::string token;
    int calls = 0;
    do {
      request.set_resume_token(token);
      const Listing piece = Scan(request, 1);
      ASSERT_EQ(piece.tokens.size(), 1U);
      pieces.insert(pieces.end(), piece.rows.begin(), piece.rows.end());
      token = piece.tokens[0];
      ++calls;
    } while (!token.empty());
    EXPECT_GE(calls, 4);
    ASSERT_EQ(pieces.size(), whole.rows.size());
    for (size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_EQ(pieces[i].SerializeAsString(), whole.rows[i].SerializeAsString());
    }
  }
}

TEST_F(ScanTest, LimitCutsAndTokenGoesOn) {
  v1::ScanRequest request = Request();
  request.set_limit(7);
  const Listing first = Scan(request);
  EXPECT_EQ(first.rows.size(), 7U);
  ASSERT_NE(first.tokens.back(), "");
  request.set_resume_token(first.tokens.back());
  const Listing second = Scan(request);
  ASSERT_EQ(second.rows.size(), 7U);
  EXPECT_EQ(second.rows[0].row_id(), 7U);
  request.clear_resume_token();
  request.set_limit(kRows);
  EXPECT_EQ(Scan(request).tokens.back(), "");
}

TEST_F(ScanTest, BadTokens) {
  v1::ScanRequest request = Request();
  request.set_limit(1);
  const std::string token = Scan(request).tokens[0];
  request.set_resume_token("nonsense");
  EXPECT_THAT(Scan(request).status, GrpcStatusIs(grpc::INVALID_ARGUMENT, "resume_token"));
  request.set_resume_token(token);
  request.set_word_prefix("");
  EXPECT_THAT(Scan(request).status, GrpcStatusIs(grpc::INVALID_ARGUMENT, "another"));
  MakeTable("u", 2);
  v1::ScanRequest other;
  other.set_table("u");
  other.set_resume_token(token);
  EXPECT_THAT(Scan(other).status, GrpcStatusIs(grpc::INVALID_ARGUMENT, "another table"));
}

TEST_F(ScanTest, UnknownTable) {
  v1::ScanRequest request;
  request.set_table("none");
  EXPECT_THAT(Scan(request).status, GrpcStatusIs(grpc::NOT_FOUND, "'none'"));
}

TEST_F(ScanTest, SeesTheRowsOfItsBeginning) {
  v1::ScanRequest request = Request();
  request.set_include_vectors(true);
  grpc::ClientContext context;
  const auto reader = rows->Scan(&context, request);
  v1::ScanResponse response;
  ASSERT_TRUE(reader->Read(&response));
  v1::DeleteRequest remove;
  remove.set_table("t");
  for (uint64_t id = 0; id < kRows; ++id) remove.mutable_row_ids()->add_row_ids(id);
  EXPECT_EQ(Call(rows, &v1::RowService::Stub::Delete, remove).deleted(), uint64_t{kRows});
  int seen = response.rows_size();
  while (reader->Read(&response)) seen += response.rows_size();
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(seen, kRows);
}

TEST_F(ScanTest, SlowReaderDoesNotHoldAWorker) {
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::ScanResponse>>> readers;
  v1::ScanRequest request = Request();
  request.set_include_vectors(true);
  for (int i = 0; i < 8; ++i) {  // more than there are workers
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    readers.push_back(rows->Scan(contexts.back().get(), request));
    v1::ScanResponse response;
    ASSERT_TRUE(readers.back()->Read(&response));
  }
  Put("t", "new", std::vector<float>(kDimensions, 2));
  for (size_t i = 0; i < readers.size(); ++i) {
    contexts[i]->TryCancel();
    EXPECT_EQ(readers[i]->Finish().error_code(), grpc::CANCELLED);
  }
}

}  // namespace
}  // namespace vectable
