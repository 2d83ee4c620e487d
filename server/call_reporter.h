#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/call_metrics.h"
#include "server/rpc_method.h"

namespace vectable {

// Where lines of a log go; called from any thread. Empty: nowhere.
using LineSink = std::function<void(const std::string& line)>;

// A call that is over. `subject` says what it was about, as in "table 'glove'"; empty when that
// isn't known.
struct EndedCall {
  const RpcMethod& method;
  std::string_view caller;  // a token's name; empty where no tokens are asked for
  std::string_view peer;    // "ipv4:127.0.0.1:40000"
  absl::FunctionRef<std::string()> subject;
  const absl::Status& outcome;
  absl::Duration took;
};

// Tells of calls: counts them, audits those that change tables, and names those that took long.
// Thread-safe.
class CallReporter {
 public:
  struct Options {
    LineSink audit = {};   // a line for each change of a table, tried or done
    LineSink failed = {};  // a line for each call that failed by the server's own fault
    LineSink slow = {};    // a line for each slow unary call
    absl::Duration slow_after = absl::InfiniteDuration();
  };

  CallReporter() : CallReporter(Options()) {}
  explicit CallReporter(Options options) : options_(std::move(options)) {}

  void Report(const EndedCall& call);

  const CallMetrics& metrics() const { return metrics_; }

 private:
  const Options options_;
  CallMetrics metrics_;
};

}  // namespace vectable
