#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/rpc_fixture.h"

namespace vectable {
namespace {

using SearchStub = v1::SearchService::Stub;

class SearchServiceTest : public RpcFixture {
 protected:
  void SetUp() override {
    Start();
    UseInProcessChannel();
    MakeTable("t", 2);
    Put("t", "cat", {0, 1});    // 0
    Put("t", "dog", {0, 2});    // 1
    Put("t", "cow", {1, 3});    // 2
    Put("t", "car", {1, 0});    // 3
    Put("t", "anti", {0, -1});  // 4
  }

  static v1::NearestRequest Request(uint32_t k = 10) {
    v1::NearestRequest request;
    request.set_table("t");
    request.set_k(k);
    return request;
  }

  v1::NearestResponse Nearest(const v1::NearestRequest& request) {
    return Call(search, &SearchStub::Nearest, request);
  }

  grpc::Status Fails(const v1::NearestRequest& request) {
    grpc::Status status;
    Call(search, &SearchStub::Nearest, request, &status);
    return status;
  }

  static std::vector<std::string> Words(const v1::QueryResult& result) {
    std::vector<std::string> words;
    for (const v1::Hit& hit : result.hits()) words.push_back(hit.word());
    return words;
  }
};

using testing::ElementsAre;

TEST_F(SearchServiceTest, ByWordLeavesTheWordOut) {
  v1::NearestRequest request = Request(2);
  request.add_queries()->set_word("cat");
  const auto response = Nearest(request);
  ASSERT_EQ(response.results_size(), 1);
  EXPECT_THAT(Words(response.results(0)), ElementsAre("dog", "cow"));
  EXPECT_EQ(response.results(0).hits(0).row_id(), 1U);
  EXPECT_EQ(response.results(0).hits(0).score(), 1.0);
  EXPECT_NEAR(response.results(0).hits(1).score(), 3 / std::sqrt(10), 1e-12);
  EXPECT_FALSE(response.results(0).hits(0).has_distance());
  EXPECT_FALSE(response.results(0).hits(0).has_vector());
  EXPECT_EQ(response.results(0).short_reason(), v1::SHORT_REASON_UNSPECIFIED);
  EXPECT_EQ(response.method(), v1::SEARCH_METHOD_EXACT);
  EXPECT_EQ(response.device(), "cpu");
  EXPECT_EQ(response.precision(), v1::PRECISION_FP32);
  EXPECT_EQ(response.sequence(), 5U);
  EXPECT_GT(response.engine_micros(), 0U);
}

TEST_F(SearchServiceTest, ByRowIdAndByVector) {
  v1::NearestRequest request = Request(1);
  request.set_exact(true);
  request.add_queries()->set_row_id(0);
  v1::Vector* vector = request.add_queries()->mutable_vector();
  vector->add_values(0);
  vector->add_values(7);
  const auto response = Nearest(request);
  EXPECT_THAT(Words(response.results(0)), ElementsAre("dog"));
  EXPECT_THAT(Words(response.results(1)), ElementsAre("cat"));
}

TEST_F(SearchServiceTest, EachQueryHasItsOwnStatus) {
  v1::NearestRequest request = Request(1);
  request.add_queries()->set_word("none");
  request.add_queries()->set_word("cat");
  request.add_queries()->set_row_id(99);
  request.add_queries()->mutable_vector()->add_values(1);
  request.add_queries();
  const auto response = Nearest(request);
  ASSERT_EQ(response.results_size(), 5);
  EXPECT_EQ(response.results(0).code(), grpc::NOT_FOUND);
  EXPECT_THAT(response.results(0).error(), testing::HasSubstr("'none'"));
  EXPECT_EQ(response.results(0).hits_size(), 0);
  EXPECT_EQ(response.results(1).code(), grpc::OK);
  EXPECT_EQ(response.results(1).error(), "");
  EXPECT_THAT(Words(response.results(1)), ElementsAre("dog"));
  EXPECT_EQ(response.results(2).code(), grpc::NOT_FOUND);
  EXPECT_THAT(response.results(2).error(), testing::HasSubstr("99"));
  EXPECT_EQ(response.results(3).code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(response.results(4).code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(response.results(4).error(), "the query has no word, row id or vector");
}

TEST_F(SearchServiceTest, Options) {
  v1::NearestRequest request = Request();
  request.add_queries()->set_word("cat");
  request.set_include_self(true);
  EXPECT_THAT(Words(Nearest(request).results(0)), ElementsAre("cat", "dog", "cow", "car", "anti"));
  request.add_exclude_words("dog");
  request.add_exclude_words("unknown");
  request.set_first_n(4);
  auto result = Nearest(request).results(0);
  EXPECT_THAT(Words(result), ElementsAre("cat", "cow", "car"));
  EXPECT_EQ(result.rows_searched(), 3U);
  request.set_min_score(0.5);
  request.set_k(3);
  request.set_include_vectors(true);
  result = Nearest(request).results(0);
  EXPECT_THAT(Words(result), ElementsAre("cat", "cow"));
  EXPECT_EQ(result.short_reason(), v1::SHORT_REASON_MIN_SCORE);
  EXPECT_THAT(result.hits(1).vector().values(), ElementsAre(1, 3));
}

TEST_F(SearchServiceTest, ShortReasons) {
  v1::NearestRequest request = Request(10);
  request.add_queries()->set_word("cat");
  EXPECT_EQ(Nearest(request).results(0).short_reason(), v1::SHORT_REASON_TABLE_SMALLER);
  request.set_k(5);
  EXPECT_EQ(Nearest(request).results(0).short_reason(), v1::SHORT_REASON_FILTERED);
  request.set_k(4);
  EXPECT_EQ(Nearest(request).results(0).short_reason(), v1::SHORT_REASON_UNSPECIFIED);
}

TEST_F(SearchServiceTest, EuclideanGivesDistances) {
  MakeTable("e", 2, v1::METRIC_EUCLIDEAN);
  Put("e", "origin", {0, 0});
  Put("e", "p", {3, 4});
  v1::NearestRequest request = Request(1);
  request.set_table("e");
  request.add_queries()->set_word("origin");
  const auto result = Nearest(request).results(0);
  EXPECT_EQ(result.hits(0).score(), -5);
  EXPECT_EQ(result.hits(0).distance(), 5);
}

TEST_F(SearchServiceTest, ErrorsOfTheCall) {
  v1::NearestRequest request = Request(0);
  request.add_queries()->set_word("cat");
  EXPECT_THAT(Fails(request), GrpcStatusIs(grpc::INVALID_ARGUMENT, "k is 0"));
  request.set_k(10'001);
  EXPECT_THAT(Fails(request), GrpcStatusIs(grpc::INVALID_ARGUMENT, "10001"));
  request.set_k(1);
  request.set_min_score(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(Fails(request), GrpcStatusIs(grpc::INVALID_ARGUMENT, "min_score"));
  request.clear_min_score();
  request.clear_queries();
  EXPECT_THAT(Fails(request), GrpcStatusIs(grpc::INVALID_ARGUMENT, "'t'"));
  for (int i = 0; i < 1'001; ++i) request.add_queries()->set_word("cat");
  EXPECT_THAT(Fails(request), GrpcStatusIs(grpc::INVALID_ARGUMENT, "1001"));
  request.set_table("none");
  EXPECT_THAT(Fails(request), GrpcStatusIs(grpc::NOT_FOUND, "'none'"));
}

TEST_F(SearchServiceTest, Similarity) {
  v1::SimilarityRequest request;
  request.set_table("t");
  request.mutable_a()->set_word("cat");
  request.mutable_b()->set_row_id(4);
  EXPECT_EQ(Call(search, &SearchStub::Similarity, request).score(), -1);
  request.mutable_b()->mutable_vector()->add_values(1);
  grpc::Status status;
  Call(search, &SearchStub::Similarity, request, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::INVALID_ARGUMENT, "'t'"));
  request.mutable_b()->set_word("none");
  Call(search, &SearchStub::Similarity, request, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::NOT_FOUND, "'none'"));
  request.clear_b();
  Call(search, &SearchStub::Similarity, request, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::INVALID_ARGUMENT, "side b has no word"));
}

}  // namespace
}  // namespace vectable
