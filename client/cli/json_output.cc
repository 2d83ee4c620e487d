#include "client/cli/json_output.h"

#include <fast_float/fast_float.h>

#include "client/cli/display.h"
#include "client/proto_names.h"

namespace vectable {
namespace {

// The double with the same short text as `value`, which the JSON library then prints.
double ShortDouble(float value) {
  const std::string text = ShortFloat(value);
  double result = 0;
  fast_float::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

Json NameOrNull(std::string_view name) {
  return name.empty() ? Json(nullptr) : Json(std::string(name));
}

Json HitJson(const v1::Hit& hit, bool with_vector) {
  Json json = {{"word", hit.word()}, {"row_id", hit.row_id()}, {"score", hit.score()}};
  if (hit.has_distance()) json["distance"] = hit.distance();
  if (with_vector) json["vector"] = VectorJson(hit.vector());
  return json;
}

Json ResultJson(const v1::QueryResult& result, const QueryLabel& label, bool with_vectors) {
  Json hits = Json::array();
  for (const v1::Hit& hit : result.hits()) hits.push_back(HitJson(hit, with_vectors));
  Json json;
  json["query"] = label.word ? Json(*label.word) : Json(nullptr);
  json["query_row_id"] = label.row_id ? Json(*label.row_id) : Json(nullptr);
  json["hits"] = std::move(hits);
  json["exact"] = result.exact();
  json["width"] = result.width();
  json["recall"] = result.recall();
  json["error"] = result.code() == 0 ? Json(nullptr) : Json(result.error());
  json["short_reason"] = NameOrNull(NameOf(result.short_reason()));
  json["rows_searched"] = result.rows_searched();
  return json;
}

Json DiskJson(const v1::TableDisk& disk) {
  return {{"rows", disk.rows()},   {"blobs", disk.blobs()},
          {"words", disk.words()}, {"index", disk.index()},
          {"total", disk.total()}, {"reclaimable_estimate", disk.reclaimable_estimate()}};
}

// Parts that aren't known are left out.
Json MemoryJson(const v1::TableMemory& memory) {
  Json json = Json::object();
  if (memory.has_codes()) json["codes"] = memory.codes();
  if (memory.has_search_codes()) json["search_codes"] = memory.search_codes();
  if (memory.has_words()) json["words"] = memory.words();
  if (memory.has_id_maps()) json["id_maps"] = memory.id_maps();
  if (memory.has_row_state()) json["row_state"] = memory.row_state();
  if (memory.has_graph()) json["graph"] = memory.graph();
  if (memory.has_mapped()) json["mapped"] = memory.mapped();
  json["memtables"] = memory.memtables();
  if (memory.has_total()) json["total"] = memory.total();
  if (memory.has_growing_segment()) json["growing_segment"] = memory.growing_segment();
  return json;
}

Json DatabaseJson(const v1::MeasuredBytes& measured) {
  const v1::DatabaseDisk& disk = measured.database_disk();
  const v1::DatabaseMemory& memory = measured.database_memory();
  Json json;
  json["disk"] = {{"tables", disk.tables()},
                  {"write_ahead_log", disk.write_ahead_log()},
                  {"mutation_log", disk.mutation_log()},
                  {"catalogue", disk.catalogue()},
                  {"obsolete", disk.obsolete()},
                  {"other", disk.other()},
                  {"snapshots", disk.snapshots()},
                  {"reserve", disk.reserve()},
                  {"total", disk.total()}};
  json["memory"] = {{"memtables", memory.memtables()},
                    {"block_cache", memory.block_cache()},
                    {"table_readers_estimate", memory.table_readers_estimate()},
                    {"allocator_free_estimate", memory.allocator_free_estimate()}};
  return json;
}

Json MeasuredJson(const v1::MeasuredBytes& measured) {
  Json json = Json::object();
  if (measured.has_disk()) json["disk"] = DiskJson(measured.disk());
  if (measured.has_memory()) json["memory"] = MemoryJson(measured.memory());
  if (measured.has_database_disk()) json["database"] = DatabaseJson(measured);
  return json;
}

}  // namespace

Json VectorJson(const v1::Vector& vector) {
  Json json = Json::array();
  for (const float value : vector.values()) json.push_back(ShortDouble(value));
  return json;
}

Json TableJson(const v1::Table& table) {
  Json json;
  json["name"] = table.name();
  json["dimensions"] = table.dimensions();
  json["precision"] = std::string(NameOf(table.precision()));
  json["metric"] = std::string(NameOf(table.metric()));
  json["rows"] = table.rows();
  json["parameters"] = table.parameters();
  json["dimension_names"] = Json::array();
  for (const std::string& name : table.dimension_names()) json["dimension_names"].push_back(name);
  json["next_row_id"] = table.next_row_id();
  json["searchable"] = table.searchable();
  json["indexed_rows"] = table.indexed_rows();
  json["applied_sequence"] = table.applied_sequence();
  json["created_unix_micros"] = table.created_unix_micros();
  json["optimizing"] = table.optimizing();
  return json;
}

Json WholeTableJson(const v1::Table& table) {
  Json json = TableJson(table);
  json["segments"] = Json::array();
  for (const v1::Segment& segment : table.segments()) {
    Json curve = Json::array();
    for (const v1::RecallPoint& point : segment.recall()) {
      curve.push_back({{"width", point.width()},
                       {"recall_at_10", point.recall_at_10()},
                       {"recall_at_100", point.recall_at_100()}});
    }
    json["segments"].push_back({{"rows", segment.rows()},
                                {"dead_rows", segment.dead_rows()},
                                {"sealed", segment.sealed()},
                                {"graph", segment.graph()},
                                {"recall", std::move(curve)}});
  }
  return json;
}

Json RowJson(const v1::Row& row, bool with_vector) {
  Json json = {{"word", row.word()}, {"row_id", row.row_id()}};
  if (with_vector) json["vector"] = VectorJson(row.vector());
  return json;
}

Json NearestJson(const v1::NearestResponse& response, const std::vector<QueryLabel>& labels,
                 bool with_vectors) {
  Json results = Json::array();
  for (int i = 0; i < response.results_size(); ++i) {
    const size_t at = static_cast<size_t>(i);
    const QueryLabel label = at < labels.size() ? labels[at] : QueryLabel();
    results.push_back(ResultJson(response.results(i), label, with_vectors));
  }
  Json json;
  json["results"] = std::move(results);
  json["method"] = std::string(NameOf(response.method()));
  json["device"] = response.device();
  json["precision"] = std::string(NameOf(response.precision()));
  json["engine_micros"] = response.engine_micros();
  json["sequence"] = response.sequence();
  return json;
}

Json ReportJson(const v1::ReportTableResponse& report) {
  Json json;
  json["name"] = report.table();
  json["rows"] = report.rows();
  json["dimensions"] = report.dimensions();
  json["parameters"] = report.parameters();
  json["precision"] = std::string(NameOf(report.precision()));
  json["nominal_bytes"] = Json::object();
  for (const v1::PrecisionBytes& bytes : report.bytes()) {
    json["nominal_bytes"][std::string(NameOf(bytes.precision()))] = bytes.nominal_bytes();
  }
  json["stored_bytes"] = Json::object();
  for (const v1::PrecisionBytes& bytes : report.bytes()) {
    json["stored_bytes"][std::string(NameOf(bytes.precision()))] = bytes.stored_bytes();
  }
  json["measured"] = MeasuredJson(report.measured());
  return json;
}

Json CostsJson(const v1::PrecisionCosts& costs) {
  Json json;
  json["baseline"] = std::string(NameOf(costs.baseline()));
  json["rows"] = costs.rows();
  json["queries"] = costs.queries();
  json["seconds"] = costs.seconds();
  json["costs"] = Json::array();
  for (const v1::PrecisionCost& cost : costs.costs()) {
    Json& entry = json["costs"].emplace_back();
    entry["precision"] = std::string(NameOf(cost.precision()));
    entry["stored_bytes"] = cost.stored_bytes();
    entry["recall_at_1"] = cost.recall_at_1();
    entry["recall_at_10"] = cost.recall_at_10();
    entry["recall_at_100"] = cost.recall_at_100();
    entry["mean_cosine_error"] = cost.mean_cosine_error();
    entry["worst_cosine_error"] = cost.worst_cosine_error();
    entry["rows_refused"] = cost.rows_refused();
    entry["most_changed"] = Json::array();
    for (const v1::ChangedWord& changed : cost.most_changed()) {
      entry["most_changed"].push_back({{"word", changed.word()}, {"kept", changed.kept()}});
    }
  }
  return json;
}

Json SnapshotJson(const v1::Snapshot& snapshot) {
  Json tables = Json::array();
  for (const v1::SnapshotTable& table : snapshot.tables()) {
    tables.push_back({{"name", table.name()},
                      {"rows", table.rows()},
                      {"dimensions", table.dimensions()},
                      {"precision", std::string(NameOf(table.precision()))},
                      {"metric", std::string(NameOf(table.metric()))}});
  }
  return {{"name", snapshot.name()},
          {"created_unix_micros", snapshot.created_unix_micros()},
          {"tables", std::move(tables)},
          {"bytes", snapshot.bytes()},
          {"own_bytes", snapshot.own_bytes()}};
}

Json ServerInfoJson(const v1::GetServerInfoResponse& info, const std::string& server) {
  Json json;
  json["server"] = server;
  json["version"] = info.version();
  json["uptime_seconds"] = info.uptime_seconds();
  json["tables"] = info.tables();
  json["sync"] = info.sync();
  json["storage_format"] = info.storage_format();
  json["device"] = info.device();
  json["kernel_target"] = info.kernel_target();
  json["libraries"] = Json::object();
  for (const v1::LibraryVersion& library : info.libraries()) {
    json["libraries"][library.name()] = library.version();
  }
  json["limits"] = Json::object();
  for (const v1::LimitInfo& limit : info.limits()) json["limits"][limit.name()] = limit.value();
  return json;
}

void WriteJson(std::ostream& out, const Json& json) {
  out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace vectable
