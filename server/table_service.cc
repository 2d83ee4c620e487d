#include "server/table_service.h"

#include <memory>

#include "common/status_util.h"
#include "server/table_messages.h"

namespace vectable {

grpc::ServerUnaryReactor* TableServiceImpl::CreateTable(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request,
                                                        grpc::ByteBuffer* reply) {
  return StartUnary<v1::CreateTableRequest, v1::CreateTableResponse>(
      calls_, rpcs::kCreateTable, {context, request, reply},
      [this](const CallState&, const auto& asked, auto& answer) -> absl::Status {
        VT_ASSIGN_OR_RETURN(const TableSpec spec,
                            TableSpecFromProto(asked, calls_.limits.max_reply_bytes));
        VT_ASSIGN_OR_RETURN(const TableDescription table, database_.CreateTable(spec));
        *answer.mutable_table() = TableToProto(table);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* TableServiceImpl::GetTable(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request,
                                                     grpc::ByteBuffer* reply) {
  return StartUnary<v1::GetTableRequest, v1::GetTableResponse>(
      calls_, rpcs::kGetTable, {context, request, reply},
      [this](const CallState&, const auto& asked, auto& answer) -> absl::Status {
        VT_ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, database_.FindTable(asked.name()));
        *answer.mutable_table() = WholeTableToProto(*table);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* TableServiceImpl::ListTables(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request,
                                                       grpc::ByteBuffer* reply) {
  return StartUnary<v1::ListTablesRequest, v1::ListTablesResponse>(
      calls_, rpcs::kListTables, {context, request, reply},
      [this](const CallState&, const auto&, auto& answer) -> absl::Status {
        for (const TableDescription& table : database_.ListTables()) {
          *answer.add_tables() = TableToProto(table);
        }
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* TableServiceImpl::RenameTable(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request,
                                                        grpc::ByteBuffer* reply) {
  return StartUnary<v1::RenameTableRequest, v1::RenameTableResponse>(
      calls_, rpcs::kRenameTable, {context, request, reply},
      [this](const CallState&, const auto& asked, auto& answer) -> absl::Status {
        VT_ASSIGN_OR_RETURN(const Database::RenameOutcome renamed,
                            database_.RenameTable(asked.name(), asked.new_name(), asked.replace()));
        *answer.mutable_table() = TableToProto(renamed.table);
        answer.set_replaced(renamed.replaced);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* TableServiceImpl::DropTable(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request,
                                                      grpc::ByteBuffer* reply) {
  return StartUnary<v1::DropTableRequest, v1::DropTableResponse>(
      calls_, rpcs::kDropTable, {context, request, reply},
      [this](const CallState&, const auto& asked, auto& answer) -> absl::Status {
        VT_ASSIGN_OR_RETURN(const Database::DropOutcome dropped, database_.DropTable(asked.name()));
        answer.set_dropped_rows(dropped.rows);
        answer.mutable_kept_by_snapshots()->Add(dropped.snapshots.begin(), dropped.snapshots.end());
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* TableServiceImpl::OptimizeTable(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request,
                                                          grpc::ByteBuffer* reply) {
  return StartUnary<v1::OptimizeTableRequest, v1::OptimizeTableResponse>(
      calls_, rpcs::kOptimizeTable, {context, request, reply},
      [this](const CallState&, const auto& asked, auto& answer) -> absl::Status {
        VT_ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, database_.FindTable(asked.name()));
        VT_RETURN_IF_ERROR(table->Optimize());
        *answer.mutable_table() = WholeTableToProto(*table);
        return absl::OkStatus();
      });
}

}  // namespace vectable
