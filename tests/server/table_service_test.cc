// Tables, sizes and server information through a channel.

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/rpc_fixture.h"

namespace vectable {
namespace {

using TableStub = v1::TableService::Stub;

class TableServiceTest : public RpcFixture {
 protected:
  void SetUp() override {
    limits.max_tables = 3;
    Start();
    UseInProcessChannel();
  }

  v1::Table GetTable(const std::string& name) {
    v1::GetTableRequest request;
    request.set_name(name);
    return Call(tables, &TableStub::GetTable, request).table();
  }

  grpc::Status Create(const v1::CreateTableRequest& request) {
    grpc::Status status;
    Call(tables, &TableStub::CreateTable, request, &status);
    return status;
  }
};

TEST_F(TableServiceTest, CreateDescribesTheTable) {
  v1::CreateTableRequest request;
  request.set_name("animals");
  request.set_dimensions(2);
  request.set_metric(v1::METRIC_EUCLIDEAN);
  request.add_dimension_names("Object");
  request.add_dimension_names("Animal");
  const v1::Table table = Call(tables, &TableStub::CreateTable, request).table();
  EXPECT_EQ(table.name(), "animals");
  EXPECT_EQ(table.dimensions(), 2U);
  EXPECT_EQ(table.precision(), v1::PRECISION_FP32);
  EXPECT_EQ(table.metric(), v1::METRIC_EUCLIDEAN);
  EXPECT_THAT(table.dimension_names(), testing::ElementsAre("Object", "Animal"));
  EXPECT_EQ(table.rows(), 0U);
  EXPECT_GT(table.created_unix_micros(), 0);
  EXPECT_EQ(GetTable("animals").created_unix_micros(), table.created_unix_micros());
}

TEST_F(TableServiceTest, CreateErrors) {
  const struct {
    const char* name;
    uint32_t dimensions;
    int precision;
    int metric;
    grpc::StatusCode code;
    const char* text;
  } cases[] = {
      {"", 2, 0, 0, grpc::INVALID_ARGUMENT, "name"},
      {"-x", 2, 0, 0, grpc::INVALID_ARGUMENT, "'-x'"},
      {"t", 0, 0, 0, grpc::INVALID_ARGUMENT, "dimensions"},
      {"t", 65'537, 0, 0, grpc::INVALID_ARGUMENT, "65"},
      {"t", 2, 99, 0, grpc::INVALID_ARGUMENT, "precision 99"},
      {"t", 2, 0, 99, grpc::INVALID_ARGUMENT, "metric 99"},
  };
  for (const auto& c : cases) {
    v1::CreateTableRequest request;
    request.set_name(c.name);
    request.set_dimensions(c.dimensions);
    request.set_precision(static_cast<v1::Precision>(c.precision));
    request.set_metric(static_cast<v1::Metric>(c.metric));
    EXPECT_THAT(Create(request), GrpcStatusIs(c.code, c.text)) << c.name;
  }
}

TEST_F(TableServiceTest, CatalogueLifeCycle) {
  MakeTable("b", 2);
  MakeTable("a", 3);
  MakeTable("c", 3);
  v1::CreateTableRequest fourth;
  fourth.set_name("d");
  fourth.set_dimensions(2);
  EXPECT_THAT(Create(fourth), GrpcStatusIs(grpc::RESOURCE_EXHAUSTED, "3"));
  fourth.set_name("a");
  EXPECT_THAT(Create(fourth), GrpcStatusIs(grpc::ALREADY_EXISTS, "'a'"));

  const auto listed = Call(tables, &TableStub::ListTables, v1::ListTablesRequest());
  ASSERT_EQ(listed.tables_size(), 3);
  EXPECT_EQ(listed.tables(0).name(), "a");
  EXPECT_EQ(listed.tables(2).name(), "c");

  Put("b", "word", {1, 2});
  v1::RenameTableRequest rename;
  rename.set_name("b");
  rename.set_new_name("a");
  grpc::Status status;
  Call(tables, &TableStub::RenameTable, rename, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::ALREADY_EXISTS, "'a'"));
  rename.set_replace(true);
  const auto renamed = Call(tables, &TableStub::RenameTable, rename);
  EXPECT_TRUE(renamed.replaced());
  EXPECT_EQ(renamed.table().name(), "a");
  EXPECT_EQ(renamed.table().rows(), 1U);

  v1::DropTableRequest drop;
  drop.set_name("a");
  EXPECT_EQ(Call(tables, &TableStub::DropTable, drop).dropped_rows(), 1U);
  Call(tables, &TableStub::DropTable, drop, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::NOT_FOUND, "'a'"));
  EXPECT_EQ(Call(tables, &TableStub::ListTables, v1::ListTablesRequest()).tables_size(), 1);
}

TEST_F(TableServiceTest, CountsAreRightOnceAWriteReturned) {
  MakeTable("t", 3);
  Put("t", "one", {1, 0, 0});
  Put("t", "two", {0, 1, 0});
  v1::Table table = GetTable("t");
  EXPECT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.parameters(), 6U);
  EXPECT_EQ(table.next_row_id(), 2U);
  EXPECT_TRUE(table.searchable());
  EXPECT_EQ(table.indexed_rows(), 2U);
  v1::DeleteRequest remove;
  remove.set_table("t");
  remove.mutable_words()->add_words("one");
  Call(rows, &v1::RowService::Stub::Delete, remove);
  table = GetTable("t");
  EXPECT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.parameters(), 3U);
  EXPECT_EQ(table.next_row_id(), 2U);
}

TEST_F(TableServiceTest, ReportCountsParametersAndBytes) {
  v1::CreateTableRequest request;
  request.set_name("t");
  request.set_dimensions(3);
  for (const char* name : {"x", "y", "z"}) request.add_dimension_names(name);
  EXPECT_TRUE(Create(request).ok());
  Put("t", "one", {1, 0, 0});
  Put("t", "two", {0, 1, 0});
  v1::ReportTableRequest ask;
  ask.set_table("t");
  const auto report = Call(sizing, &v1::SizingService::Stub::ReportTable, ask);
  EXPECT_EQ(report.table(), "t");
  EXPECT_EQ(report.rows(), 2U);
  EXPECT_EQ(report.dimensions(), 3U);
  EXPECT_EQ(report.parameters(), 6U);
  EXPECT_EQ(report.precision(), v1::PRECISION_FP32);
  EXPECT_THAT(report.dimension_names(), testing::ElementsAre("x", "y", "z"));
  ASSERT_EQ(report.bytes_size(), 5);
  const uint64_t expected[] = {24, 12, 12, 6, 4};  // int4: two bytes a row
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(report.bytes(i).precision(), i + 1);
    EXPECT_EQ(report.bytes(i).nominal_bytes(), expected[i]);
  }
  ask.set_table("none");
  grpc::Status status;
  Call(sizing, &v1::SizingService::Stub::ReportTable, ask, &status);
  EXPECT_THAT(status, GrpcStatusIs(grpc::NOT_FOUND, "'none'"));
}

TEST_F(TableServiceTest, ServerInfo) {
  MakeTable("t", 3);
  const auto info = Call(admin, &v1::AdminService::Stub::GetServerInfo, v1::GetServerInfoRequest());
  EXPECT_EQ(info.version(), "1.2.3");
  EXPECT_GE(info.uptime_seconds(), 0);
  EXPECT_EQ(info.tables(), 1U);
  EXPECT_TRUE(info.sync());
  EXPECT_EQ(info.storage_format(), 7U);
  EXPECT_EQ(info.device(), "cpu");
  ASSERT_EQ(info.limits_size(), 13);
  EXPECT_EQ(info.limits(0).name(), "max_k");
  EXPECT_EQ(info.limits(0).value(), 10'000U);
  EXPECT_EQ(info.limits(6).name(), "max_tables");
  EXPECT_EQ(info.limits(6).value(), 3U);
}

}  // namespace
}  // namespace vectable
