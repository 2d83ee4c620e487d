#include "server/sizing_service.h"

#include <cstdint>
#include <memory>

#include "common/precision.h"
#include "common/status_util.h"
#include "server/enums.h"
#include "server/model_messages.h"
#include "sizing/footprint.h"

namespace vectable {

absl::Status FillReport(const TableDescription& table, v1::ReportTableResponse& report) {
  const uint32_t dimensions = table.spec.dimensions;
  report.set_table(table.spec.name);
  report.set_rows(table.rows);
  report.set_dimensions(dimensions);
  report.set_precision(PrecisionToProto(table.spec.precision));
  report.mutable_dimension_names()->Add(table.spec.dimension_names.begin(),
                                        table.spec.dimension_names.end());
  VT_ASSIGN_OR_RETURN(const uint64_t parameters, ParameterCount(table.rows, dimensions));
  report.set_parameters(parameters);
  for (const Precision precision : kAllPrecisions) {
    VT_ASSIGN_OR_RETURN(const uint64_t bytes, NominalBytes(table.rows, dimensions, precision));
    v1::PrecisionBytes* entry = report.add_bytes();
    entry->set_precision(PrecisionToProto(precision));
    entry->set_nominal_bytes(bytes);
  }
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* SizingServiceImpl::ReportTable(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request,
                                                         grpc::ByteBuffer* reply) {
  return StartUnary<v1::ReportTableRequest, v1::ReportTableResponse>(
      calls_, {context, request, reply},
      [this](const CallState&, const auto& asked, auto& answer) -> absl::Status {
        VT_ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, database_.FindTable(asked.table()));
        return FillReport(table->Describe(), answer);
      });
}

grpc::ServerUnaryReactor* SizingServiceImpl::EstimateModel(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request,
                                                           grpc::ByteBuffer* reply) {
  return StartUnary<v1::EstimateModelRequest, v1::EstimateModelResponse>(
      calls_, {context, request, reply},
      [](const CallState&, const auto& asked, auto& answer) -> absl::Status {
        return vectable::EstimateModel(asked, answer);
      });
}

}  // namespace vectable
