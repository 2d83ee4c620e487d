#include "server/admin_service.h"

#include <utility>

#include "common/status_util.h"
#include "google/protobuf/stubs/common.h"
#include "grpcpp/grpcpp.h"
#include "server/limit_names.h"
#include "server/table_messages.h"

namespace vectable {

AdminServiceImpl::AdminServiceImpl(Database& database, const CallEnvironment& calls,
                                   ServerIdentity identity)
    : database_(database),
      calls_(calls),
      identity_(std::move(identity)),
      start_(std::chrono::steady_clock::now()) {}

grpc::ServerUnaryReactor* AdminServiceImpl::GetServerInfo(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request,
                                                          grpc::ByteBuffer* reply) {
  return StartUnary<v1::GetServerInfoRequest, v1::GetServerInfoResponse>(
      calls_, rpcs::kGetServerInfo, {context, request, reply},
      [this](const CallState&, const auto&, auto& answer) -> absl::Status {
        Describe(answer);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* AdminServiceImpl::CreateSnapshot(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request,
                                                           grpc::ByteBuffer* reply) {
  return StartUnary<v1::CreateSnapshotRequest, v1::CreateSnapshotResponse>(
      calls_, rpcs::kCreateSnapshot, {context, request, reply},
      [this](const CallState&, const auto& asked, auto& answer) -> absl::Status {
        VT_ASSIGN_OR_RETURN(const SnapshotDescription snapshot,
                            database_.CreateSnapshot(asked.name()));
        *answer.mutable_snapshot() = SnapshotToProto(snapshot);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* AdminServiceImpl::ListSnapshots(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request,
                                                          grpc::ByteBuffer* reply) {
  return StartUnary<v1::ListSnapshotsRequest, v1::ListSnapshotsResponse>(
      calls_, rpcs::kListSnapshots, {context, request, reply},
      [this](const CallState&, const auto&, auto& answer) -> absl::Status {
        VT_ASSIGN_OR_RETURN(const std::vector<SnapshotDescription> snapshots,
                            database_.ListSnapshots());
        for (const SnapshotDescription& snapshot : snapshots) {
          *answer.add_snapshots() = SnapshotToProto(snapshot);
        }
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* AdminServiceImpl::DeleteSnapshot(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request,
                                                           grpc::ByteBuffer* reply) {
  return StartUnary<v1::DeleteSnapshotRequest, v1::DeleteSnapshotResponse>(
      calls_, rpcs::kDeleteSnapshot, {context, request, reply},
      [this](const CallState&, const auto& asked, auto& answer) -> absl::Status {
        VT_ASSIGN_OR_RETURN(const uint64_t freed, database_.DeleteSnapshot(asked.name()));
        answer.set_freed_bytes(freed);
        return absl::OkStatus();
      });
}

void AdminServiceImpl::Describe(v1::GetServerInfoResponse& info) const {
  info.set_version(identity_.version);
  const std::chrono::duration<double> uptime = std::chrono::steady_clock::now() - start_;
  info.set_uptime_seconds(uptime.count());
  info.set_tables(database_.ListTables().size());
  for (const NamedLimit& limit : NamedLimits(database_.limits())) {
    v1::LimitInfo* entry = info.add_limits();
    entry->set_name(limit.name);
    entry->set_value(limit.value);
  }
  info.set_sync(identity_.sync);
  info.set_storage_format(identity_.storage_format);
  info.set_device(std::string(database_.device()));
  info.set_kernel_target(identity_.kernel_target);
  const auto add = [&info](const std::string& name, const std::string& version) {
    v1::LibraryVersion* library = info.add_libraries();
    library->set_name(name);
    library->set_version(version);
  };
  for (const auto& [name, version] : identity_.libraries) add(name, version);
  add("gRPC", grpc::Version());
  add("Protocol Buffers", google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION));
}

}  // namespace vectable
