#include "server/table_messages.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "server/enums.h"
#include "server/messages.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

// Room in a reply for all of a table that isn't its dimension names.
constexpr size_t kOtherTableBytes = 1'024;

absl::Status CheckNamesFitReply(const v1::CreateTableRequest& request, size_t max_reply_bytes) {
  size_t bytes = kOtherTableBytes;
  for (const std::string& name : request.dimension_names()) {
    bytes += StringBytesInReply(name.size());
  }
  if (request.dimension_names().empty() || bytes <= max_reply_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "table ", Quoted(request.name()), ": its ", WithThousands(request.dimension_names_size()),
      " dimension names take ", WithThousands(bytes), " bytes in a reply; the limit is ",
      WithThousands(max_reply_bytes)));
}

}  // namespace

absl::StatusOr<TableSpec> TableSpecFromProto(const v1::CreateTableRequest& request,
                                             size_t max_reply_bytes) {
  VT_RETURN_IF_ERROR(CheckNamesFitReply(request, max_reply_bytes));
  TableSpec spec;
  spec.name = request.name();
  spec.dimensions = request.dimensions();
  VT_ASSIGN_OR_RETURN(spec.precision, PrecisionFromProto(request.precision()));
  VT_ASSIGN_OR_RETURN(spec.metric, MetricFromProto(request.metric()));
  spec.dimension_names.assign(request.dimension_names().begin(), request.dimension_names().end());
  return spec;
}

v1::Table TableToProto(const TableDescription& table) {
  v1::Table proto;
  proto.set_name(table.spec.name);
  proto.set_dimensions(table.spec.dimensions);
  proto.set_precision(PrecisionToProto(table.spec.precision));
  proto.set_metric(MetricToProto(table.spec.metric));
  proto.mutable_dimension_names()->Add(table.spec.dimension_names.begin(),
                                       table.spec.dimension_names.end());
  proto.set_rows(table.rows);
  proto.set_parameters(table.parameters);
  proto.set_next_row_id(table.next_row_id);
  proto.set_searchable(table.searchable);
  proto.set_created_unix_micros(table.created_unix_micros);
  proto.set_applied_sequence(table.applied_sequence);
  proto.set_indexed_rows(table.indexed_rows);
  proto.set_optimizing(table.optimizing);
  return proto;
}

v1::Snapshot SnapshotToProto(const SnapshotDescription& snapshot) {
  v1::Snapshot proto;
  proto.set_name(snapshot.name);
  proto.set_created_unix_micros(snapshot.record.created_unix_micros);
  proto.set_bytes(snapshot.bytes);
  proto.set_own_bytes(snapshot.own_bytes);
  std::vector<TableRecord> tables = snapshot.record.tables;
  std::sort(tables.begin(), tables.end(),
            [](const TableRecord& a, const TableRecord& b) { return a.name < b.name; });
  for (const TableRecord& table : tables) {
    v1::SnapshotTable* const added = proto.add_tables();
    added->set_name(table.name);
    added->set_rows(table.rows);
    added->set_dimensions(table.dimensions);
    added->set_precision(PrecisionToProto(table.precision));
    added->set_metric(MetricToProto(table.metric));
  }
  return proto;
}

v1::Table WholeTableToProto(const Table& table) {
  v1::Table proto = TableToProto(table.Describe());
  for (const SegmentDescription& segment : table.Segments()) {
    v1::Segment* const added = proto.add_segments();
    added->set_rows(segment.rows);
    added->set_dead_rows(segment.dead_rows);
    added->set_sealed(segment.sealed);
    added->set_graph(segment.graph);
    for (const RecallPoint& point : segment.recall) {
      v1::RecallPoint* const on_curve = added->add_recall();
      on_curve->set_width(point.width);
      on_curve->set_recall_at_10(point.at_10);
      on_curve->set_recall_at_100(point.at_100);
    }
  }
  return proto;
}

}  // namespace vectable
