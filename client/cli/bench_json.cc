#include "client/cli/bench_json.h"

#include <string>
#include <utility>

#include "client/proto_names.h"

namespace vectable {
namespace {

Json MeasurementJson(const Measurement& measured) {
  Json json;
  json["asked"] = measured.asked_recall ? "recall" : "exact";
  json["asked_recall"] = measured.asked_recall ? Json(*measured.asked_recall) : Json(nullptr);
  json["batch"] = measured.batch;
  json["concurrency"] = measured.concurrency;
  json["calls"] = measured.calls;
  json["queries"] = measured.queries;
  json["seconds"] = measured.seconds;
  json["queries_per_second"] = measured.queries_per_second();
  json["latency_ms"] = {{"p50", measured.latency.p50},
                        {"p95", measured.latency.p95},
                        {"p99", measured.latency.p99},
                        {"max", measured.latency.max}};
  json["mean_engine_ms"] = measured.engine_ms;
  json["recall"] = measured.recall;
  json["recall_queries"] = measured.recall_queries;
  json["width"] = measured.width;
  json["server_recall"] = measured.server_recall;
  json["exact"] = measured.exact();
  json["exact_queries"] = measured.exact_queries;
  return json;
}

}  // namespace

Json BenchJson(const BenchReport& report, const BenchOptions& options, const std::string& server) {
  const v1::Table& table = report.table;
  Json json;
  json["name"] = table.name();
  json["rows"] = table.rows();
  json["dimensions"] = table.dimensions();
  json["precision"] = std::string(NameOf(table.precision()));
  json["metric"] = std::string(NameOf(table.metric()));
  json["segments"] = table.segments_size();
  json["graph_rows"] = report.graph_rows();
  json["optimizing"] = table.optimizing();
  json["server"] = server;
  json["server_version"] = report.server_version;
  json["k"] = options.k;
  json["seed"] = options.seed;
  json["queries"] = report.queries;
  json["queries_gone"] = report.queries_gone;
  json["rows_changed"] = report.rows_changed;
  json["index_changed"] = report.index_changed;
  json["measurements"] = Json::array();
  for (const Measurement& measured : report.measurements) {
    json["measurements"].push_back(MeasurementJson(measured));
  }
  return json;
}

}  // namespace vectable
