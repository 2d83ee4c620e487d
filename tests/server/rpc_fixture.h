#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/database.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "index/faiss_backend.h"
#include "server/rpc_server.h"
#include "storage/rocks_store.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_events.h"
#include "vectable/v1/admin.grpc.pb.h"
#include "vectable/v1/row.grpc.pb.h"
#include "vectable/v1/search.grpc.pb.h"
#include "vectable/v1/sizing.grpc.pb.h"
#include "vectable/v1/table.grpc.pb.h"

namespace vectable {

// A server over a database in a fresh directory, with a client in the same process. What is to be
// different is set before Start.
class RpcFixture : public ::testing::Test {
 public:
  Limits limits;
  RpcServerOptions options;
  std::function<std::unique_ptr<Store>(std::unique_ptr<Store>)> wrap_store;

  RpcFixture() {
    options.workers.threads = 2;
    options.identity = {.version = "1.2.3", .sync = true, .storage_format = 7};
    options.table_health = &health_;
  }

  ~RpcFixture() override { Stop(); }

  void Start() {
    absl::StatusOr<std::unique_ptr<Store>> store = OpenRocksStore(StoreOptions());
    ASSERT_TRUE(store.ok()) << store.status();
    DatabaseParts parts;
    parts.store = wrap_store ? wrap_store(*std::move(store)) : *std::move(store);
    parts.limits = limits;
    parts.events = &events_;
    parts.backend = backend_.get();
    parts.on_searchable = [this](const std::string& table, bool searchable) {
      health_.Set(table, searchable);
    };
    absl::StatusOr<std::unique_ptr<Database>> database = Database::Create(std::move(parts));
    ASSERT_TRUE(database.ok()) << database.status();
    database_ = *std::move(database);
    absl::StatusOr<std::unique_ptr<RpcServer>> server = RpcServer::Start(*database_, options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    channel_ = grpc::CreateCustomChannel(ToString(server_->address()),
                                         grpc::InsecureChannelCredentials(), arguments);
    MakeStubs(channel_);
  }

  // For tests that need no network.
  void UseInProcessChannel() {
    channel_ = server_->InProcessChannel();
    MakeStubs(channel_);
  }

  void Stop() {
    MakeStubs(nullptr);
    channel_.reset();
    server_.reset();
    database_.reset();
  }

  RpcServer& server() { return *server_; }
  Database& database() { return *database_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  std::unique_ptr<v1::TableService::Stub> tables;
  std::unique_ptr<v1::RowService::Stub> rows;
  std::unique_ptr<v1::SearchService::Stub> search;
  std::unique_ptr<v1::SizingService::Stub> sizing;
  std::unique_ptr<v1::AdminService::Stub> admin;

  // Calls `method` of a stub and returns its reply; an error goes to `status` or fails the test.
  template <class Stub, class Request, class Response>
  Response Call(const std::unique_ptr<Stub>& stub,
                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                const Request& request, grpc::Status* status = nullptr,
                absl::Duration timeout = absl::Seconds(60)) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(timeout));
    Response response;
    const grpc::Status result = (stub.get()->*method)(&context, request, &response);
    if (status != nullptr) {
      *status = result;
    } else {
      EXPECT_TRUE(result.ok()) << result.error_message();
    }
    return response;
  }

  void MakeTable(const std::string& name, uint32_t dimensions,
                 v1::Metric metric = v1::METRIC_COSINE) {
    v1::CreateTableRequest request;
    request.set_name(name);
    request.set_dimensions(dimensions);
    request.set_metric(metric);
    Call(tables, &v1::TableService::Stub::CreateTable, request);
  }

  // Upserts one row.
  void Put(const std::string& table, const std::string& word, const std::vector<float>& values) {
    v1::UpsertRequest request;
    request.set_table(table);
    AddRow(request, word, values);
    Call(rows, &v1::RowService::Stub::Upsert, request);
  }

  template <class Request>
  static v1::UpsertRow* AddRow(Request& request, const std::string& word,
                               const std::vector<float>& values) {
    v1::UpsertRow* row = request.add_rows();
    row->set_word(word);
    row->mutable_vector()->mutable_values()->Add(values.begin(), values.end());
    return row;
  }

 private:
  RocksStoreOptions StoreOptions() const {
    RocksStoreOptions store;
    store.directory = directory_.path() + "/data";
    return store;
  }

  void MakeStubs(const std::shared_ptr<grpc::Channel>& channel) {
    if (channel == nullptr) {
      tables.reset();
      rows.reset();
      search.reset();
      sizing.reset();
      admin.reset();
      return;
    }
    tables = v1::TableService::NewStub(channel);
    rows = v1::RowService::NewStub(channel);
    search = v1::SearchService::NewStub(channel);
    sizing = v1::SizingService::NewStub(channel);
    admin = v1::AdminService::NewStub(channel);
  }

  TempDir directory_;
  TestEvents events_;
  TableHealth health_;
  std::unique_ptr<BatchBackend> backend_ = MakeFaissBackend();
  std::unique_ptr<Database> database_;
  std::unique_ptr<RpcServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

// EXPECT_THAT(status, GrpcStatusIs(code, text)): the code, and a text that the message holds.
MATCHER_P2(GrpcStatusIs, code, text, "") {
  *result_listener << "code " << arg.error_code() << ": " << arg.error_message();
  return arg.error_code() == code && arg.error_message().find(text) != std::string::npos;
}

}  // namespace vectable
