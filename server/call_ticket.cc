#include "server/call_ticket.h"

#include <iterator>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/access_tokens.h"
#include "server/unary_call.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

// The value of the call's "authorization" header. INVALID_ARGUMENT for several.
absl::StatusOr<std::string_view> AuthorizationOf(const grpc::CallbackServerContext& context) {
  const auto [begin, end] = context.client_metadata().equal_range("authorization");
  if (begin == end) return std::string_view();
  if (std::next(begin) != end) {
    return absl::UnauthenticatedError("the call has several headers 'authorization'");
  }
  return std::string_view(begin->second.data(), begin->second.size());
}

}  // namespace

CallTicket::CallTicket(const CallEnvironment& environment, const RpcMethod& method,
                       const grpc::CallbackServerContext& context)
    : environment_(environment),
      method_(method),
      counted_(environment.under_way),
      begin_(absl::Now()) {
  if (method.audited) peer_ = context.peer();
  if (environment.access.size() > 0) {
    const absl::StatusOr<std::string_view> authorization = AuthorizationOf(context);
    admission_ = authorization.ok() ? environment.access.Admit(*authorization, method)
                                    : Admission{"", authorization.status()};
  }
  if (!method.streams) return;
  const size_t most = environment.limits.max_streams;
  stream_.emplace(environment.under_way, most);
  if (admission_.status.ok() && !stream_->fits()) {
    admission_.status = absl::ResourceExhaustedError(absl::StrCat(
        WithThousands(most), " streams are under way, which is the limit (max_streams)"));
  }
}

void CallTicket::End(const absl::Status& outcome, absl::FunctionRef<std::string()> subject) const {
  environment_.reporter.Report(
      {method_, admission_.caller, peer_, subject, outcome, absl::Now() - begin_});
}

}  // namespace vectable
