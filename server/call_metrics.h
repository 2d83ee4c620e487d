#pragma once

#include <memory>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "prometheus/counter.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"
#include "server/rpc_method.h"

namespace vectable {

// Counts calls for Prometheus: vectable_requests_total by rpc and code, vectable_request_seconds by
// rpc. Thread-safe.
class CallMetrics {
 public:
  CallMetrics();

  // `method` is one of AllRpcMethods.
  void Count(const RpcMethod& method, absl::StatusCode code, absl::Duration took);

  const std::shared_ptr<prometheus::Registry>& registry() const { return registry_; }

 private:
  // Those of a method that are needed for each call.
  struct Often {
    prometheus::Counter& ok;
    prometheus::Histogram& seconds;
  };

  const std::shared_ptr<prometheus::Registry> registry_;
  prometheus::Family<prometheus::Counter>& requests_;
  std::unordered_map<const RpcMethod*, Often> often_;
};

}  // namespace vectable
