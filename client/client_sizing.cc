#include <optional>
#include <utility>

#include "client/client.h"
#include "client/client_impl.h"
#include "client/request_parts.h"
#include "client/stall_guard.h"

namespace vectable {

absl::StatusOr<v1::ReportTableResponse> Client::ReportTable(const std::string& table) {
  VT_RETURN_IF_ERROR(CheckText("table name", table));
  v1::ReportTableRequest request;
  request.set_table(table);
  return impl_->Call(impl_->sizing, &v1::SizingService::Stub::ReportTable, request);
}

absl::StatusOr<v1::PrecisionCosts> Client::MeasurePrecisions(
    const v1::MeasurePrecisionsRequest& request,
    const std::function<absl::Status(uint64_t done, uint64_t steps)>& on_progress) {
  VT_RETURN_IF_ERROR(CheckText("table name", request.table()));
  grpc::ClientContext context;
  ShowToken(impl_->options, context);
  StallGuard guard(impl_->options.timeout, [&context] { context.TryCancel(); });
  guard.Arm();
  const auto call = impl_->sizing.MeasurePrecisions(&context, request);
  v1::MeasurePrecisionsResponse reply;
  std::optional<v1::PrecisionCosts> result;
  absl::Status stopped;
  while (stopped.ok() && call->Read(&reply)) {
    guard.Disarm();
    stopped = on_progress(reply.steps_done(), reply.steps());
    if (reply.has_result()) result = reply.result();
    guard.Arm();
  }
  if (!stopped.ok()) context.TryCancel();
  const grpc::Status status = call->Finish();
  guard.Disarm();
  if (!stopped.ok()) return stopped;
  if (guard.fired()) {
    return impl_->Explain(absl::DeadlineExceededError("the measurement stands still"));
  }
  VT_RETURN_IF_ERROR(impl_->Explain(FromGrpcStatus(status)));
  if (!result) return absl::InternalError("the measurement ended without a result");
  return *std::move(result);
}

}  // namespace vectable
