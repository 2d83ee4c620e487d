// Upsert, Get and Delete through a channel.

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/rpc_fixture.h"

namespace vectable {
namespace {

using RowStub = v1::RowService::Stub;

class RowServiceTest : public RpcFixture {
 protected:
  void SetUp() override {
    Start();
    UseInProcessChannel();
    MakeTable("t", 2);
  }

  grpc::Status Upsert(const v1::UpsertRequest& request) {
    grpc::Status status;
    Call(rows, &RowStub::Upsert, request, &status);
    return status;
  }

  static v1::UpsertRequest Request(v1::UpsertMode mode = v1::UPSERT_MODE_UNSPECIFIED) {
    v1::UpsertRequest request;
    request.set_table("t");
    request.set_mode(mode);
    return request;
  }

  v1::GetResponse Get(const std::vector<std::string>& words) {
    v1::GetRequest request;
    request.set_table("t");
    for (const std::string& word : words) request.mutable_words()->add_words(word);
    return Call(rows, &RowStub::Get, request);
  }
};

TEST_F(RowServiceTest, UpsertGivesIdsAndReplaces) {
  v1::UpsertRequest request = Request();
  AddRow(request, "cat", {0, 1});
  AddRow(request, "dog", {1, 1});
  auto response = Call(rows, &RowStub::Upsert, request);
  EXPECT_EQ(response.inserted(), 2U);
  EXPECT_EQ(response.replaced(), 0U);
  EXPECT_EQ(response.sequence(), 1U);
  EXPECT_THAT(response.row_ids(), testing::ElementsAre(0, 1));

  v1::UpsertRequest again = Request();
  AddRow(again, "car", {1, 0});
  AddRow(again, "cat", {5, 5});
  response = Call(rows, &RowStub::Upsert, again);
  EXPECT_EQ(response.inserted(), 1U);
  EXPECT_EQ(response.replaced(), 1U);
  EXPECT_THAT(response.row_ids(), testing::ElementsAre(2, 0));
  EXPECT_THAT(Get({"cat"}).rows(0).vector().values(), testing::ElementsAre(5, 5));
}

TEST_F(RowServiceTest, UpsertErrorsNameTheRowAndChangeNothing) {
  Put("t", "known", {1, 1});
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const struct {
    v1::UpsertMode mode;
    std::string word;
    std::vector<float> values;
    grpc::StatusCode code;
    std::string text;
  } cases[] = {
      {v1::UPSERT_MODE_UPSERT, "", {1, 1}, grpc::INVALID_ARGUMENT, "empty"},
      {v1::UPSERT_MODE_UPSERT, std::string(4'097, 'x'), {1, 1}, grpc::INVALID_ARGUMENT, "4096"},
      {v1::UPSERT_MODE_UPSERT, std::string("a\0b", 3), {1, 1}, grpc::INVALID_ARGUMENT, "NUL"},
      {v1::UPSERT_MODE_UPSERT, "w", {1}, grpc::INVALID_ARGUMENT, "2"},
      {v1::UPSERT_MODE_UPSERT, "w", {}, grpc::INVALID_ARGUMENT, "0"},
      {v1::UPSERT_MODE_UPSERT, "w", {1, kNan}, grpc::INVALID_ARGUMENT, "w"},
      {v1::UPSERT_MODE_UPSERT, "w", {0, 0}, grpc::INVALID_ARGUMENT, "zero"},
      {v1::UPSERT_MODE_UPSERT, "good", {1, 1}, grpc::INVALID_ARGUMENT, "twice"},
      {v1::UPSERT_MODE_INSERT_ONLY, "known", {1, 1}, grpc::ALREADY_EXISTS, "known"},
      {v1::UPSERT_MODE_UPDATE_ONLY, "w", {1, 1}, grpc::NOT_FOUND, "good"},
      {static_cast<v1::UpsertMode>(9), "w", {1, 1}, grpc::INVALID_ARGUMENT, "mode 9"},
  };
  for (const auto& c : cases) {
    v1::UpsertRequest request = Request(c.mode);
    AddRow(request, "good", {1, 2});
    AddRow(request, c.word, c.values);
    EXPECT_THAT(Upsert(request), GrpcStatusIs(c.code, c.text)) << c.word;
    EXPECT_THAT(Get({"good", "w"}).missing_words(), testing::ElementsAre("good", "w"));
  }
  EXPECT_THAT(Upsert(Request()), GrpcStatusIs(grpc::INVALID_ARGUMENT, "'t'"));
}

TEST_F(RowServiceTest, ARowWithoutVectorIsRefused) {
  v1::UpsertRequest request = Request();
  request.add_rows()->set_word("w");
  EXPECT_THAT(Upsert(request), GrpcStatusIs(grpc::INVALID_ARGUMENT, "row 0 ('w')"));
}

TEST_F(RowServiceTest, InvalidUtf8IsAnInvalidArgument) {
  v1::UpsertRequest request = Request();
  AddRow(request, "caf\xE9", {1, 1});
  EXPECT_THAT(Upsert(request),
              GrpcStatusIs(grpc::INVALID_ARGUMENT, "one of its strings is not UTF-8"));
}

TEST_F(RowServiceTest, ExplicitRowIds) {
  v1::UpsertRequest request = Request();
  AddRow(request, "a", {1, 1})->set_row_id(7);
  EXPECT_THAT(Call(rows, &RowStub::Upsert, request).row_ids(), testing::ElementsAre(7));
  v1::UpsertRequest other = Request();
  AddRow(other, "b", {1, 1})->set_row_id(7);
  EXPECT_THAT(Upsert(other), GrpcStatusIs(grpc::ALREADY_EXISTS, "7"));
}

TEST_F(RowServiceTest, GetKeepsOrderAndReportsMissing) {
  Put("t", "cat", {0, 1});
  Put("t", "dog", {1, 1});
  const v1::GetResponse response = Get({"dog", "none", "cat", "dog", "nil"});
  ASSERT_EQ(response.rows_size(), 3);
  EXPECT_EQ(response.rows(0).word(), "dog");
  EXPECT_EQ(response.rows(0).row_id(), 1U);
  EXPECT_THAT(response.rows(0).vector().values(), testing::ElementsAre(1, 1));
  EXPECT_EQ(response.rows(1).word(), "cat");
  EXPECT_EQ(response.rows(2).word(), "dog");
  EXPECT_THAT(response.missing_words(), testing::ElementsAre("none", "nil"));

  v1::GetRequest by_id;
  by_id.set_table("t");
  for (const uint64_t id : {1, 9, 0}) by_id.mutable_row_ids()->add_row_ids(id);
  by_id.set_omit_vectors(true);
  const auto found = Call(rows, &RowStub::Get, by_id);
  ASSERT_EQ(found.rows_size(), 2);
  EXPECT_EQ(found.rows(0).word(), "dog");
  EXPECT_FALSE(found.rows(0).has_vector());
  EXPECT_THAT(found.missing_row_ids(), testing::ElementsAre(9));
}

TEST_F(RowServiceTest, GetErrors) {
  grpc::Status status;
  v1::GetRequest request;
  request.set_table("none");
  Call(rows, &RowStub::Get, request, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::INVALID_ARGUMENT, "neither words nor row ids"));
  request.mutable_words();
  Call(rows, &RowStub::Get, request, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::NOT_FOUND, "'none'"));
  request.set_table("t");
  Call(rows, &RowStub::Get, request, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::INVALID_ARGUMENT, "'t'"));
  for (int i = 0; i < 10'001; ++i) request.mutable_words()->add_words("x");
  Call(rows, &RowStub::Get, request, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::INVALID_ARGUMENT, "10000"));
}

TEST_F(RowServiceTest, DeleteReportsWhatWasNotThere) {
  Put("t", "cat", {0, 1});
  Put("t", "dog", {1, 1});
  v1::DeleteRequest request;
  request.set_table("t");
  for (const char* word : {"dog", "none", "dog"}) request.mutable_words()->add_words(word);
  auto response = Call(rows, &RowStub::Delete, request);
  EXPECT_EQ(response.deleted(), 1U);
  EXPECT_THAT(response.missing_words(), testing::ElementsAre("none"));
  EXPECT_EQ(response.sequence(), 3U);
  response = Call(rows, &RowStub::Delete, request);
  EXPECT_EQ(response.deleted(), 0U);
  EXPECT_FALSE(response.has_sequence());

  v1::DeleteRequest by_id;
  by_id.set_table("t");
  by_id.mutable_row_ids()->add_row_ids(0);
  by_id.mutable_row_ids()->add_row_ids(1);
  response = Call(rows, &RowStub::Delete, by_id);
  EXPECT_EQ(response.deleted(), 1U);
  EXPECT_THAT(response.missing_row_ids(), testing::ElementsAre(1));

  grpc::Status status;
  v1::DeleteRequest empty;
  empty.set_table("t");
  Call(rows, &RowStub::Delete, empty, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::INVALID_ARGUMENT, "neither"));
}

}  // namespace
}  // namespace vectable
