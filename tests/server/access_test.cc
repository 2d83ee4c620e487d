// Every rpc with no, a wrong, a revoked, a too weak and a good token; and who is noted for changes.
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "google/protobuf/descriptor.h"
#include "tests/server/raw_call.h"
#include "tests/server/rpc_fixture.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

// The right that each rpc is said to need; another list than the server's, so that a change of one
// shows.
const std::map<std::string, Right>& Needed() {
  static const auto* needed =
      new std::map<std::string, Right>{{"TableService/CreateTable", Right::kReadWrite},
                                       {"TableService/GetTable", Right::kReadOnly},
                                       {"TableService/ListTables", Right::kReadOnly},
                                       {"TableService/RenameTable", Right::kAdmin},
                                       {"TableService/DropTable", Right::kAdmin},
                                       {"TableService/OptimizeTable", Right::kReadWrite},
                                       {"RowService/Upsert", Right::kReadWrite},
                                       {"RowService/UpsertStream", Right::kReadWrite},
                                       {"RowService/Get", Right::kReadOnly},
                                       {"RowService/Delete", Right::kReadWrite},
                                       {"RowService/Scan", Right::kReadOnly},
                                       {"SearchService/Nearest", Right::kReadOnly},
                                       {"SearchService/NearestStream", Right::kReadOnly},
                                       {"SearchService/Similarity", Right::kReadOnly},
                                       {"SizingService/ReportTable", Right::kReadOnly},
                                       {"SizingService/MeasurePrecisions", Right::kReadOnly},
                                       {"SizingService/EstimateModel", Right::kReadOnly},
                                       {"AdminService/GetServerInfo", Right::kReadOnly},
                                       {"AdminService/CreateSnapshot", Right::kAdmin},
                                       {"AdminService/ListSnapshots", Right::kReadOnly},
                                       {"AdminService/DeleteSnapshot", Right::kAdmin}};
  return *needed;
}

// Every rpc in the proto files, as "Service/Method".
std::vector<std::string> AllRpcs() {
  std::vector<std::string> all;
  const auto* pool = google::protobuf::DescriptorPool::generated_pool();
  for (const char* name : {"Table", "Row", "Search", "Sizing", "Admin"}) {
    const auto* service = pool->FindServiceByName(absl::StrCat("vectable.v1.", name, "Service"));
    for (int i = 0; i < service->method_count(); ++i) {
      all.push_back(absl::StrCat(service->name(), "/", service->method(i)->name()));
    }
  }
  return all;
}

class AccessTest : public RpcFixture {
 protected:
  AccessTest() {
    LoadTokens({"reader read-only reader-token-0001", "writer read-write writer-token-0002",
                "chief admin chief-token-000003", "former admin former-token-0004"});
    LoadTokens({"reader read-only reader-token-0001", "writer read-write writer-token-0002",
                "chief admin chief-token-000003"});
    options.access = &access_;
    options.reporter = &reporter_;
    Start();
  }
  ~AccessTest() override { Stop(); }

  void LoadTokens(const std::vector<std::string>& lines) {
    const std::string path = tokens_.path() + "/tokens";
    std::ofstream file(path);
    for (const std::string& line : lines) file << line << "\n";
    file.close();
    ASSERT_THAT(access_.Load(path), IsOk());
  }

  grpc::Status Try(const std::string& rpc, const std::string& token) {
    return CallRaw(channel(), absl::StrCat("/vectable.v1.", rpc),
                   token.empty() ? "" : absl::StrCat("Bearer ", token));
  }

  std::vector<std::string> audited() {
    absl::MutexLock lock(&mu_);
    return audited_;
  }

  TempDir tokens_;
  AccessTokens access_;

 private:
  absl::Mutex mu_;
  std::vector<std::string> audited_ ABSL_GUARDED_BY(mu_);
  CallReporter reporter_{{.audit = [this](const std::string& line) {
    absl::MutexLock lock(&mu_);
    audited_.push_back(line);
  }}};
};

TEST_F(AccessTest, EveryRpcAsksForAToken) {
  const std::vector<std::string> all = AllRpcs();
  EXPECT_EQ(all.size(), Needed().size());
  EXPECT_EQ(all.size(), AllRpcMethods().size());
  const std::pair<const char*, Right> kTokens[] = {{"reader-token-0001", Right::kReadOnly},
                                                   {"writer-token-0002", Right::kReadWrite},
                                                   {"chief-token-000003", Right::kAdmin}};
  for (const std::string& rpc : all) {
    for (const char* token : {"", "wrong-token-000000", "former-token-0004"}) {
      EXPECT_EQ(Try(rpc, token).error_code(), grpc::UNAUTHENTICATED) << rpc << " " << token;
    }
    for (const auto& [token, right] : kTokens) {
      const grpc::Status status = Try(rpc, token);
      EXPECT_NE(status.error_code(), grpc::UNAUTHENTICATED) << rpc;
      EXPECT_EQ(status.error_code() == grpc::PERMISSION_DENIED, right < Needed().at(rpc))
          << rpc << " " << RightName(right) << ": " << status.error_message();
      EXPECT_EQ(status.error_message().find(token), std::string::npos) << rpc;
    }
  }
}

TEST_F(AccessTest, ARefusedCallChangesNothing) {
  const auto create = [this](const std::string& token) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + token);
    v1::CreateTableRequest request;
    request.set_name("t");
    request.set_dimensions(2);
    v1::CreateTableResponse reply;
    return tables->CreateTable(&context, request, &reply);
  };
  EXPECT_EQ(create("reader-token-0001").error_code(), grpc::PERMISSION_DENIED);
  EXPECT_TRUE(database().ListTables().empty());
  EXPECT_TRUE(create("writer-token-0002").ok());
  EXPECT_EQ(create("writer-token-0002").error_code(), grpc::ALREADY_EXISTS);

  const std::vector<std::string> lines = audited();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[0].find("CreateTable table 't' of 2 dimensions by reader from ipv4:127.0.0.1:"),
            std::string::npos);
  EXPECT_NE(lines[0].find("PERMISSION_DENIED"), std::string::npos);
  EXPECT_NE(lines[1].find("CreateTable table 't' of 2 dimensions by writer from ipv4:127.0.0.1:"),
            std::string::npos);
  EXPECT_NE(lines[1].find(": OK"), std::string::npos);
  EXPECT_NE(lines[2].find("by writer"), std::string::npos);
  EXPECT_NE(lines[2].find("ALREADY_EXISTS"), std::string::npos);
  for (const std::string& line : lines) EXPECT_EQ(line.find("-token-"), std::string::npos) << line;
}

TEST_F(AccessTest, TwoHeadersAreNone) {
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer chief-token-000003");
  context.AddMetadata("authorization", "Bearer chief-token-000003");
  v1::ListTablesResponse reply;
  const grpc::Status status = tables->ListTables(&context, v1::ListTablesRequest(), &reply);
  EXPECT_EQ(status.error_code(), grpc::UNAUTHENTICATED) << status.error_message();
}

TEST_F(AccessTest, HealthNeedsNoToken) {
  EXPECT_TRUE(CallRaw(channel(), "/grpc.health.v1.Health/Check", "").ok());
}

}  // namespace
}  // namespace vectable
