#include "server/unary_call.h"

#include <cstddef>
#include <exception>
#include <new>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/status_util.h"
#include "server/grpc_status.h"

namespace vectable {
namespace {

constexpr size_t kShortRequestBytes = 16'384;

}  // namespace

absl::Status Guarded(const std::function<absl::Status()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("the server is out of memory");
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("unexpected failure: ", error.what()));
  }
}

UnaryCallBase::UnaryCallBase(const CallEnvironment& environment, const RpcMethod& method,
                             UnaryIo io)
    : environment_(environment),
      ticket_(environment, method, *io.context),
      io_(io),
      reactor_(io.context->DefaultReactor()),
      state_(*io.context) {}

void UnaryCallBase::Start() {
  if (!ticket_.admission().ok()) {
    // What was refused is worth noting, too.
    if (ticket_.method().audited && io_.request->Length() <= kShortRequestBytes) {
      IgnoreStatus(Guarded([this] { return ParseOnce(); }), "the call is refused anyway");
    }
    return End(ticket_.admission());
  }
  if (!RunIfShort()) Queue();
}

bool UnaryCallBase::RunIfShort() {
  // Only such a request is parsed here.
  if (io_.request->Length() > kShortRequestBytes) return false;
  const absl::Status parsed = Guarded([this] { return ParseOnce(); });
  if (parsed.ok() && !(GateIsOpen() && IsShort())) return false;
  End(parsed.ok() ? Guarded([this] { return Answer(); }) : parsed);
  return true;
}

void UnaryCallBase::Queue() {
  const absl::Status status = environment_.pool.Submit([this] { Run(); }, io_.request->Length());
  if (!status.ok()) End(status);
}

void UnaryCallBase::Run() {
  absl::Status status = state_.CheckWanted();
  if (status.ok()) status = Guarded([this] { return ParseOnce(); });
  if (status.ok() && !GateIsOpen()) {
    Park();
    return;
  }
  if (status.ok()) status = Guarded([this] { return Answer(); });
  End(status);
}

absl::Status UnaryCallBase::ParseOnce() {
  if (parsed_) return absl::OkStatus();
  parsed_ = true;
  return Parse(*io_.request);
}

absl::Status UnaryCallBase::Answer() {
  VT_RETURN_IF_ERROR(DoWork());
  VT_RETURN_IF_ERROR(CheckReplyBytes(reply().ByteSizeLong(), environment_.limits.max_reply_bytes));
  return SerializeMessage(reply(), *io_.reply);
}

void UnaryCallBase::Park() {
  state_.BeginWait();
  const absl::Status status =
      environment_.parked.Park({.ready = [this] { return state_.cancelled() || GateIsOpen(); },
                                .give_up = GiveUpTime(absl::Now(), state_.deadline()),
                                .wake = [this](ParkedCalls::Wake wake) { Wake(wake); }});
  if (!status.ok()) End(status);
}

void UnaryCallBase::Wake(ParkedCalls::Wake wake) {
  state_.EndWait();
  switch (wake) {
    case ParkedCalls::Wake::kReady:
      return Queue();
    case ParkedCalls::Wake::kGaveUp:
      return End(Guarded([this] { return GateError(); }));
    case ParkedCalls::Wake::kStopped:
      return End(absl::UnavailableError("the server is shutting down"));
  }
}

void UnaryCallBase::End(const absl::Status& status) {
  ticket_.End(status, [this] { return parsed_ ? Subject() : ""; });
  reactor_->Finish(ToGrpcStatus(status));
  delete this;
}

}  // namespace vectable
