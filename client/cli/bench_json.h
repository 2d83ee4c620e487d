#pragma once

#include "client/cli/bench_run.h"
#include "client/cli/json_output.h"

namespace vectable {

// {"name":..,"rows":..,"dimensions":..,"precision":..,"metric":..,"segments":..,"graph_rows":..,
//  "optimizing":..,"server":..,"server_version":..,"k":..,"seed":..,"queries":..,
//  "queries_gone":..,"rows_changed":..,"index_changed":..,
//  "measurements":[{"asked":"exact" or "recall","asked_recall":NUMBER or null,
//    "batch":..,"concurrency":..,"calls":..,"queries":..,"seconds":..,"queries_per_second":..,
//    "latency_ms":{"p50":..,"p95":..,"p99":..,"max":..},"mean_engine_ms":..,
//    "recall":..,"recall_queries":..,"width":..,"server_recall":..,
//    "exact":..,"exact_queries":..},..]}
// Each field is what BenchReport and Measurement say of it; latencies are of calls.
Json BenchJson(const BenchReport& report, const BenchOptions& options, const std::string& server);

}  // namespace vectable
