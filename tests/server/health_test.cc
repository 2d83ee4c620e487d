// The standard services beside ours: health and reflection. Their messages are written by hand
// here, since the distribution has no generated code for them.

#include <string>

#include "grpcpp/impl/client_unary_call.h"
#include "gtest/gtest.h"
#include "tests/server/rpc_fixture.h"

namespace vectable {
namespace {

constexpr char kServing = 1;
constexpr char kNotServing = 2;

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string ToString(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  EXPECT_TRUE(buffer.TrySingleSlice(&slice).ok() || buffer.DumpToSingleSlice(&slice).ok());
  return std::string(reinterpret_cast<const char*>(slice.begin()), slice.size());
}

class HealthTest : public RpcFixture {
 protected:
  void SetUp() override { Start(); }

  // The ServingStatus of a service, or -1 when it is unknown.
  int Health(const std::string& service) {
    const std::string request = std::string("\x0a") + static_cast<char>(service.size()) + service;
    const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check",
                                           grpc::internal::RpcMethod::NORMAL_RPC, channel());
    grpc::ClientContext context;
    grpc::ByteBuffer reply;
    const grpc::Status status =
        grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
            channel().get(), method, &context, ToBuffer(request), &reply);
    if (status.error_code() == grpc::NOT_FOUND) return -1;
    EXPECT_TRUE(status.ok()) << status.error_message();
    return ToString(reply).back();
  }
};

TEST_F(HealthTest, ServerAndServicesAreServing) {
  for (const char* service :
       {"", "vectable.v1.TableService", "vectable.v1.RowService", "vectable.v1.SearchService",
        "vectable.v1.SizingService", "vectable.v1.AdminService"}) {
    EXPECT_EQ(Health(service), kServing) << service;
  }
  EXPECT_EQ(Health("vectable.v1.NoService"), -1);
}

TEST_F(HealthTest, TablesFollowTheCatalogue) {
  EXPECT_EQ(Health("vectable.table.t"), -1);
  MakeTable("t", 2);
  EXPECT_EQ(Health("vectable.table.t"), kServing);
  v1::RenameTableRequest rename;
  rename.set_name("t");
  rename.set_new_name("u");
  Call(tables, &v1::TableService::Stub::RenameTable, rename);
  EXPECT_EQ(Health("vectable.table.t"), kNotServing);
  EXPECT_EQ(Health("vectable.table.u"), kServing);
  v1::DropTableRequest drop;
  drop.set_name("u");
  Call(tables, &v1::TableService::Stub::DropTable, drop);
  EXPECT_EQ(Health("vectable.table.u"), kNotServing);
}

TEST_F(HealthTest, ReflectionListsTheServices) {
  const grpc::internal::RpcMethod method(
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
      grpc::internal::RpcMethod::BIDI_STREAMING, channel());
  grpc::ClientContext context;
  const std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>> stream(
      grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(
          channel().get(), method, &context));
  ASSERT_TRUE(stream->Write(ToBuffer(std::string("\x3a\x00", 2))));  // list_services: ""
  grpc::ByteBuffer reply;
  ASSERT_TRUE(stream->Read(&reply));
  const std::string services = ToString(reply);
  for (const char* service :
       {"vectable.v1.TableService", "vectable.v1.RowService", "vectable.v1.SearchService",
        "vectable.v1.SizingService", "vectable.v1.AdminService", "grpc.health.v1.Health"}) {
    EXPECT_NE(services.find(service), std::string::npos) << service;
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(HealthTest, ASecondServerCannotTakeThePort) {
  RpcServerOptions second = options;
  second.table_health = nullptr;
  second.listen.port = server().port();
  const auto started = RpcServer::Start(database(), second);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(
      started.status().message(),
      "cannot listen on 127.0.0.1:" + std::to_string(server().port()) + ": address already in use");
}

TEST_F(HealthTest, ShutdownIsRefusalAndMayBeRepeated) {
  server().Shutdown(absl::Seconds(1));
  server().Shutdown(absl::Seconds(1));
  grpc::Status status;
  Call(tables, &v1::TableService::Stub::ListTables, v1::ListTablesRequest(), &status,
       absl::Seconds(5));
  EXPECT_EQ(status.error_code(), grpc::UNAVAILABLE);
}

}  // namespace
}  // namespace vectable
