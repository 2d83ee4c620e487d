#include "server/sizing_service.h"

#include <memory>

#include "common/status_util.h"
#include "server/measure_stream.h"
#include "server/model_messages.h"
#include "server/sizing_messages.h"

namespace vectable {

grpc::ServerUnaryReactor* SizingServiceImpl::ReportTable(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request,
                                                         grpc::ByteBuffer* reply) {
  return StartUnary<v1::ReportTableRequest, v1::ReportTableResponse>(
      calls_, rpcs::kReportTable, {context, request, reply},
      [this](const CallState&, const auto& asked, auto& answer) -> absl::Status {
        VT_ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, database_.FindTable(asked.table()));
        VT_ASSIGN_OR_RETURN(const TableReport report, table->Report());
        return FillReport(report, answer);
      });
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* SizingServiceImpl::MeasurePrecisions(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  auto* stream = new MeasureStream(database_, calls_, *context, *request);
  stream->Start();
  return stream;
}

grpc::ServerUnaryReactor* SizingServiceImpl::EstimateModel(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request,
                                                           grpc::ByteBuffer* reply) {
  return StartUnary<v1::EstimateModelRequest, v1::EstimateModelResponse>(
      calls_, rpcs::kEstimateModel, {context, request, reply},
      [](const CallState&, const auto& asked, auto& answer) -> absl::Status {
        return vectable::EstimateModel(asked, answer);
      });
}

}  // namespace vectable
