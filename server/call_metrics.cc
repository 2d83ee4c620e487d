#include "server/call_metrics.h"

#include <string>

namespace vectable {
namespace {

// From a walk along a graph to a large batch, in seconds.
const prometheus::Histogram::BucketBoundaries& Buckets() {
  static const auto* buckets = new prometheus::Histogram::BucketBoundaries{
      0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30};
  return *buckets;
}

prometheus::Labels LabelsOf(const RpcMethod& method, absl::StatusCode code) {
  return {{"rpc", method.Label()}, {"code", absl::StatusCodeToString(code)}};
}

}  // namespace

CallMetrics::CallMetrics()
    : registry_(std::make_shared<prometheus::Registry>()),
      requests_(prometheus::BuildCounter()
                    .Name("vectable_requests_total")
                    .Help("Calls that were answered, by rpc and status code.")
                    .Register(*registry_)) {
  auto& seconds = prometheus::BuildHistogram()
                      .Name("vectable_request_seconds")
                      .Help(
                          "Seconds from a call's arrival to its answer, waiting included; of a "
                          "stream, to its end.")
                      .Register(*registry_);
  for (const RpcMethod* method : AllRpcMethods()) {
    often_.emplace(method, Often{requests_.Add(LabelsOf(*method, absl::StatusCode::kOk)),
                                 seconds.Add({{"rpc", method->Label()}}, Buckets())});
  }
}

void CallMetrics::Count(const RpcMethod& method, absl::StatusCode code, absl::Duration took) {
  const auto often = often_.find(&method);
  if (often == often_.end()) return;
  if (code == absl::StatusCode::kOk) {
    often->second.ok.Increment();
  } else {
    requests_.Add(LabelsOf(method, code)).Increment();
  }
  often->second.seconds.Observe(absl::ToDoubleSeconds(took));
}

}  // namespace vectable
