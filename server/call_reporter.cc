#include "server/call_reporter.h"

#include "absl/strings/str_cat.h"

namespace vectable {
namespace {

// "DropTable table 'glove' by operator from ipv4:10.0.0.7:41830: OK"
std::string AuditLine(const EndedCall& call) {
  std::string line = call.method.name;
  if (const std::string subject = call.subject(); !subject.empty()) {
    absl::StrAppend(&line, " ", subject);
  }
  absl::StrAppend(&line, " by ", call.caller.empty() ? "anyone" : std::string(call.caller),
                  " from ", std::string(call.peer), ": ",
                  absl::StatusCodeToString(call.outcome.code()));
  if (!call.outcome.ok()) absl::StrAppend(&line, ", ", call.outcome.message());
  return line;
}

// "SearchService/Nearest took 1234 ms, table 'glove', 100 queries, k 10: OK"
std::string SlowLine(const EndedCall& call) {
  std::string line =
      absl::StrCat(call.method.Label(), " took ", absl::ToInt64Milliseconds(call.took), " ms");
  if (const std::string subject = call.subject(); !subject.empty()) {
    absl::StrAppend(&line, ", ", subject);
  }
  absl::StrAppend(&line, ": ", absl::StatusCodeToString(call.outcome.code()));
  return line;
}

bool IsOurFault(absl::StatusCode code) {
  return code == absl::StatusCode::kInternal || code == absl::StatusCode::kDataLoss ||
         code == absl::StatusCode::kUnknown;
}

// "RowService/Scan failed: DATA_LOSS, reading rows: ..."
std::string FailedLine(const EndedCall& call) {
  std::string line = absl::StrCat(call.method.Label(), " failed");
  if (const std::string subject = call.subject(); !subject.empty()) {
    absl::StrAppend(&line, ", ", subject);
  }
  absl::StrAppend(&line, ": ", absl::StatusCodeToString(call.outcome.code()), ", ",
                  call.outcome.message());
  return line;
}

}  // namespace

void CallReporter::Report(const EndedCall& call) {
  metrics_.Count(call.method, call.outcome.code(), call.took);
  if (call.method.audited && options_.audit) options_.audit(AuditLine(call));
  if (IsOurFault(call.outcome.code()) && options_.failed) options_.failed(FailedLine(call));
  if (!call.method.streams && call.took >= options_.slow_after && options_.slow) {
    options_.slow(SlowLine(call));
  }
}

}  // namespace vectable
