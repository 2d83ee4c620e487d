#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <cmath>
#include <functional>

#include "tests/e2e/server_process.h"
#include "vectable/v1/row.grpc.pb.h"

namespace vectable {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

using Says = std::vector<std::string>;

// A server with a table "toy" of two rows, which no bad input may change.
class BadInputTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_.RunJson({"table", "create", "toy", "--dim", "2"});
    server_.RunJson({"put", "toy", "cat", "0", "1"});
    server_.RunJson({"put", "toy", "dog", "1", "1"});
    before_ = Contents();
  }

  void TearDown() override {
    EXPECT_EQ(Contents(), before_);
    server_.Kill();
    server_.Start();
    EXPECT_EQ(Contents(), before_) << "after a restart";
  }

  // Everything that a client can see.
  std::string Contents() {
    json tables = server_.RunJson({"table", "list"});
    for (json& table : tables["tables"]) table.erase("created_unix_micros");
    return tables.dump() + server_.Run({"--json", "words", "toy", "--vectors"}).out;
  }

  absl::Status Upsert(const std::function<void(v1::UpsertRequest&)>& fill) {
    v1::UpsertRequest request;
    request.set_table("toy");
    fill(request);
    return server_.client().Upsert(request).status();
  }

  absl::Status UpsertRow(const std::string& word, const std::vector<float>& vector) {
    return Upsert([&](v1::UpsertRequest& request) {
      AddRow("good", {1, 2}, request);
      AddRow(word, vector, request);
    });
  }

  absl::Status Nearest(const std::function<void(v1::NearestRequest&)>& fill) {
    v1::NearestRequest request;
    request.set_table("toy");
    request.set_k(1);
    fill(request);
    const auto reply = server_.client().Nearest(request);
    if (!reply.ok()) return reply.status();
    for (const v1::QueryResult& result : reply->results()) {
      if (result.code() != 0) {
        return absl::Status(static_cast<absl::StatusCode>(result.code()), result.error());
      }
    }
    return absl::OkStatus();
  }

  absl::Status NearestVector(const std::vector<float>& vector) {
    return Nearest([&](v1::NearestRequest& request) {
      request.add_queries()->mutable_vector()->mutable_values()->Add(vector.begin(), vector.end());
    });
  }

  static void Expect(const absl::Status& status, absl::StatusCode code, const Says& says) {
    EXPECT_EQ(status.code(), code) << status;
    for (const std::string& part : says) {
      EXPECT_THAT(std::string(status.message()), HasSubstr(part));
    }
  }
  static void ExpectInvalid(const absl::Status& status, const Says& says) {
    Expect(status, absl::StatusCode::kInvalidArgument, says);
  }

  ServerProcess server_;
  std::string before_;
};

TEST_F(BadInputTest, Vectors) {
  ExpectInvalid(UpsertRow("bad", {1, 2, 3}), {"toy", "row 1", "bad", "3", "2"});
  ExpectInvalid(UpsertRow("bad", {}), {"toy", "row 1", "bad", "2"});
  ExpectInvalid(UpsertRow("bad", {1, NAN}), {"toy", "row 1", "bad", "NaN"});
  ExpectInvalid(UpsertRow("bad", {1, INFINITY}), {"toy", "row 1", "bad", "infinit"});
  ExpectInvalid(UpsertRow("bad", {-INFINITY, 1}), {"toy", "row 1", "bad", "infinit"});
  ExpectInvalid(UpsertRow("bad", {0, -0.f}), {"toy", "row 1", "bad", "zero"});
  ExpectInvalid(NearestVector({1, 2, 3}), {"3", "2"});
  ExpectInvalid(NearestVector({1, NAN}), {"NaN"});
  ExpectInvalid(NearestVector({1, -INFINITY}), {"infinit"});
  ExpectInvalid(NearestVector({0, 0}), {"zero"});
}

TEST_F(BadInputTest, Words) {
  ExpectInvalid(UpsertRow("", {1, 2}), {"toy", "row 1", "empty"});
  ExpectInvalid(UpsertRow(std::string(4097, 'x'), {1, 2}), {"toy", "row 1", "4097", "4096"});
  ExpectInvalid(UpsertRow(std::string("a\0b", 3), {1, 2}), {"toy", "row 1", "NUL"});
  ExpectInvalid(UpsertRow("a\xff", {1, 2}), {"\\xff", "UTF-8"});
  ExpectInvalid(UpsertRow("good", {3, 4}), {"toy", "good", "twice"});
  EXPECT_EQ(server_.Run({"put", "toy", "", "1", "2"}).code, 1);
  EXPECT_THAT(server_.Run({"put", "toy", "", "1", "2"}).err, HasSubstr("empty"));
  EXPECT_THAT(server_.Run({"put", "toy", "\xff", "1", "2"}).err, HasSubstr("UTF-8"));
}

// What our client never sends: the server must stand it all the same.
TEST_F(BadInputTest, BytesThatAreNoUtf8OnTheWire) {
  v1::UpsertRequest request;
  request.set_table("toy");
  AddRow("QQ", {1, 2}, request);
  std::string bytes = request.SerializeAsString();
  bytes.replace(bytes.find("QQ"), 2, "\xff\xfe");
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer message(&slice, 1);
  grpc::GenericStub stub(
      grpc::CreateChannel(server_.address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const auto call =
      stub.PrepareUnaryCall(&context, "/vectable.v1.RowService/Upsert", message, &queue);
  call->StartCall();
  grpc::ByteBuffer reply;
  grpc::Status status;
  call->Finish(&reply, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_FALSE(status.ok());
}

TEST_F(BadInputTest, Requests) {
  ExpectInvalid(Upsert([](v1::UpsertRequest&) {}), {"toy"});
  ExpectInvalid(Nearest([](v1::NearestRequest& request) {
                  request.add_queries()->set_word("cat");
                  request.set_k(0);
                }),
                {"k", "0"});
  ExpectInvalid(Nearest([](v1::NearestRequest& request) {
                  request.add_queries()->set_word("cat");
                  request.set_k(10'001);
                }),
                {"k", "10001", "10000"});
  ExpectInvalid(Nearest([](v1::NearestRequest&) {}), {"quer"});
  ExpectInvalid(Nearest([](v1::NearestRequest& request) { request.add_queries(); }), {"word"});
  ExpectInvalid(server_.client().Get("toy", std::vector<std::string>{}).status(), {});
  ExpectInvalid(server_.client().Delete("toy", std::vector<std::string>{}).status(), {});
  EXPECT_EQ(server_.Run({"nearest", "toy"}).code, 2);
  EXPECT_THAT(server_.Run({"nearest", "toy"}).err, HasSubstr("give a word, --id or --vector"));
  EXPECT_EQ(server_.Run({"nearest", "toy", "cat", "--vector", "1,2"}).code, 2);
  EXPECT_THAT(server_.Run({"nearest", "toy", "cat", "--vector", "1,2"}).err, HasSubstr("not both"));
}

TEST_F(BadInputTest, UnknownNamesComeWithNearOnes) {
  const Outcome table = server_.Run({"get", "tou", "cat"});
  EXPECT_EQ(table.code, 1);
  EXPECT_THAT(table.err, ::testing::AllOf(HasSubstr("tou"), HasSubstr("'toy'")));
  const Outcome word = server_.Run({"nearest", "toy", "cot"});
  EXPECT_EQ(word.code, 1);
  EXPECT_THAT(word.err, ::testing::AllOf(HasSubstr("'cot'"), HasSubstr("'cat'")));
  EXPECT_EQ(server_.Run({"similarity", "toy", "cat", "cot"}).code, 1);
  EXPECT_EQ(server_.Run({"table", "drop", "none"}).code, 1);
  EXPECT_EQ(server_.Run({"table", "rename", "none", "other"}).code, 1);
  EXPECT_EQ(server_.Run({"size", "none"}).code, 1);
  EXPECT_EQ(server_.Run({"words", "none"}).code, 1);
  EXPECT_EQ(server_.Run({"delete", "none", "cat"}).code, 1);
}

TEST_F(BadInputTest, Tables) {
  const auto create = [&](const std::string& name, uint32_t dimensions,
                          std::vector<std::string> names) {
    v1::CreateTableRequest request;
    request.set_name(name);
    request.set_dimensions(dimensions);
    for (const std::string& dimension : names) request.add_dimension_names(dimension);
    return server_.client().CreateTable(request).status();
  };
  Expect(create("toy", 2, {}), absl::StatusCode::kAlreadyExists, {"toy"});
  ExpectInvalid(create("", 2, {}), {"empty"});
  ExpectInvalid(create(".x", 2, {}), {".x"});
  ExpectInvalid(create("-x", 2, {}), {"-x"});
  ExpectInvalid(create("a/b", 2, {}), {"a/b"});
  ExpectInvalid(create(std::string(129, 'x'), 2, {}), {"129", "128"});
  ExpectInvalid(create("t", 0, {}), {"dimension"});
  ExpectInvalid(create("t", 65'537, {}), {"65537", "65536"});
  ExpectInvalid(create("t", 2, {"only"}), {"1", "2"});
  ExpectInvalid(create("t", 2, {"same", "same"}), {"same"});
  EXPECT_EQ(server_.Run({"table", "create", "t", "--dim", "2", "--precision", "int3"}).code, 2);
  EXPECT_EQ(server_.Run({"table", "rename", "toy", "a b"}).code, 1);
}

TEST_F(BadInputTest, MessagesOverTheLimit) {
  v1::UpsertRequest request;
  request.set_table("toy");
  const std::vector<float> vector(65'536, 1.f);
  for (int i = 0; i < 260; ++i) AddRow("w" + std::to_string(i), vector, request);
  Expect(server_.client().Upsert(request).status(), absl::StatusCode::kResourceExhausted,
         {"67,108,864", "255 fit"});
  // The server's own limits, met by a client that doesn't check.
  const auto stub = v1::RowService::NewStub(
      grpc::CreateChannel(server_.address(), grpc::InsecureChannelCredentials()));
  for (const int more : {0, 80}) {
    for (int i = 0; i < more; ++i) AddRow("x" + std::to_string(i), vector, request);
    grpc::ClientContext context;
    v1::UpsertResponse reply;
    const grpc::Status status = stub->Upsert(&context, request, &reply);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(more == 0 ? "67,108,864" : "larger than max"));
  }
}

}  // namespace
}  // namespace vectable
