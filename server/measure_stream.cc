#include "server/measure_stream.h"

#include "absl/time/clock.h"
#include "common/status_util.h"
#include "server/grpc_status.h"
#include "server/messages.h"
#include "server/sizing_messages.h"
#include "vectable/v1/sizing.pb.h"

namespace vectable {
namespace {

constexpr uint32_t kDefaultQueries = 1000;

}  // namespace

MeasureStream::MeasureStream(Database& database, const CallEnvironment& calls,
                             grpc::CallbackServerContext& context, const grpc::ByteBuffer& request)
    : database_(database),
      calls_(calls),
      ticket_(calls, rpcs::kMeasurePrecisions, context),
      request_(request),
      begin_(absl::Now()),
      state_(context),
      watched_(calls.stuck_streams, context) {}

void MeasureStream::Start() {
  if (!ticket_.admission().ok()) return End(ticket_.admission());
  if (absl::Status status = calls_.pool.Submit([this] { Step(); }); !status.ok()) End(status);
}

void MeasureStream::OnWriteDone(bool ok) {
  watched_.EndWrite();
  if (ok) {
    Start();
  } else {
    End(absl::CancelledError("the client went away"));
  }
}

void MeasureStream::Step() {
  const absl::Status status = Guarded([this] { return MakeReply(); });
  if (!status.ok()) return End(status);
  if (study_->done()) {
    study_.reset();
    ticket_.End(absl::OkStatus());
    watched_.BeginWrite();
    StartWriteAndFinish(&reply_, grpc::WriteOptions(), grpc::Status::OK);
  } else {
    watched_.BeginWrite();
    StartWrite(&reply_);
  }
}

absl::Status MeasureStream::MakeReply() {
  VT_RETURN_IF_ERROR(state_.CheckWanted());
  if (study_ == nullptr) {
    VT_RETURN_IF_ERROR(Open());
  } else {
    VT_RETURN_IF_ERROR(study_->Step());
  }
  v1::MeasurePrecisionsResponse response;
  response.set_steps_done(study_->steps_done());
  response.set_steps(study_->steps());
  if (study_->done()) {
    v1::PrecisionCosts& result = *response.mutable_result();
    VT_RETURN_IF_ERROR(FillCosts(*study_, table_->Describe(), result));
    result.set_seconds(absl::ToDoubleSeconds(absl::Now() - begin_));
  }
  return SerializeMessage(response, reply_);
}

absl::Status MeasureStream::Open() {
  v1::MeasurePrecisionsRequest request;
  VT_RETURN_IF_ERROR(ParseMessage(request_, request));
  VT_ASSIGN_OR_RETURN(table_, database_.FindTable(request.table()));
  VT_ASSIGN_OR_RETURN(study_, table_->StudyPrecisions(request.queries() == 0 ? kDefaultQueries
                                                                             : request.queries()));
  return absl::OkStatus();
}

void MeasureStream::End(const absl::Status& status) {
  study_.reset();
  ticket_.End(status);
  Finish(ToGrpcStatus(status));
}

}  // namespace vectable
