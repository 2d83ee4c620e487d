#include "server/sizing_messages.h"

#include "common/precision.h"
#include "common/status_util.h"
#include "server/allocator.h"
#include "server/enums.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

absl::Status FillBytes(const TableDescription& table, v1::ReportTableResponse& response) {
  for (const Precision precision : kAllPrecisions) {
    const uint32_t dimensions = table.spec.dimensions;
    v1::PrecisionBytes* entry = response.add_bytes();
    entry->set_precision(PrecisionToProto(precision));
    VT_ASSIGN_OR_RETURN(const uint64_t nominal, NominalBytes(table.rows, dimensions, precision));
    entry->set_nominal_bytes(nominal);
    VT_ASSIGN_OR_RETURN(const uint64_t stored, StoredBytes(table.rows, dimensions, precision));
    entry->set_stored_bytes(stored);
  }
  return absl::OkStatus();
}

void FillDisk(const TableUsage& usage, v1::TableDisk& disk) {
  disk.set_rows(usage.row_files);
  disk.set_blobs(usage.blob_files);
  disk.set_words(usage.word_files);
  disk.set_index(usage.index_files);
  disk.set_total(usage.disk());
  disk.set_reclaimable_estimate(usage.reclaimable);
}

void FillMemory(const TableState& state, v1::TableMemory& memory) {
  memory.set_memtables(state.files.memtables);
  if (!state.index) return;
  const IndexMemory& index = *state.index;
  memory.set_codes(index.codes);
  memory.set_search_codes(index.search_codes);
  memory.set_words(index.words);
  memory.set_id_maps(index.id_maps);
  memory.set_row_state(index.row_state);
  if (index.graph > 0) memory.set_graph(index.graph);
  if (index.mapped > 0) memory.set_mapped(index.mapped);
  memory.set_growing_segment(index.growing_segment);
  memory.set_total(index.total() + state.files.memtables);
}

void FillDatabase(const StoreUsage& usage, v1::MeasuredBytes& measured) {
  v1::DatabaseDisk& disk = *measured.mutable_database_disk();
  uint64_t tables = 0;
  for (const auto& [id, table] : usage.tables) tables += table.disk();
  disk.set_tables(tables);
  disk.set_write_ahead_log(usage.write_ahead_log);
  disk.set_mutation_log(usage.mutation_log);
  disk.set_catalogue(usage.catalogue);
  disk.set_obsolete(usage.obsolete_files);
  disk.set_other(usage.other_files);
  disk.set_snapshots(usage.snapshots);
  disk.set_reserve(usage.reserve);
  disk.set_total(usage.directory);
  v1::DatabaseMemory& memory = *measured.mutable_database_memory();
  memory.set_memtables(usage.memtables);
  memory.set_block_cache(usage.block_cache);
  memory.set_table_readers_estimate(usage.table_readers);
  memory.set_allocator_free_estimate(AllocatorFreeBytes());
}

}  // namespace

absl::Status FillReport(const TableReport& report, v1::ReportTableResponse& response) {
  const TableDescription& table = report.state.table;
  const uint32_t dimensions = table.spec.dimensions;
  response.set_table(table.spec.name);
  response.set_rows(table.rows);
  response.set_dimensions(dimensions);
  response.set_precision(PrecisionToProto(table.spec.precision));
  response.mutable_dimension_names()->Add(table.spec.dimension_names.begin(),
                                          table.spec.dimension_names.end());
  VT_ASSIGN_OR_RETURN(const uint64_t parameters, ParameterCount(table.rows, dimensions));
  response.set_parameters(parameters);
  VT_RETURN_IF_ERROR(FillBytes(table, response));
  v1::MeasuredBytes& measured = *response.mutable_measured();
  FillDisk(report.state.files, *measured.mutable_disk());
  FillMemory(report.state, *measured.mutable_memory());
  FillDatabase(report.store, measured);
  return absl::OkStatus();
}

absl::Status FillCosts(const PrecisionStudy& study, const TableDescription& table,
                       v1::PrecisionCosts& costs) {
  costs.set_baseline(PrecisionToProto(study.baseline()));
  costs.set_rows(study.rows());
  costs.set_queries(static_cast<uint32_t>(study.queries()));
  for (const PrecisionFigures& figures : study.Figures()) {
    v1::PrecisionCost& cost = *costs.add_costs();
    cost.set_precision(PrecisionToProto(figures.precision));
    cost.set_recall_at_1(figures.recall_at_1);
    cost.set_recall_at_10(figures.recall_at_10);
    cost.set_recall_at_100(figures.recall_at_100);
    cost.set_mean_cosine_error(figures.mean_cosine_error);
    cost.set_worst_cosine_error(figures.worst_cosine_error);
    cost.set_rows_refused(figures.rows_refused);
    for (const ChangedWord& changed : figures.most_changed) {
      v1::ChangedWord& entry = *cost.add_most_changed();
      entry.set_word(changed.word);
      entry.set_kept(changed.kept);
    }
    VT_ASSIGN_OR_RETURN(const uint64_t bytes,
                        StoredBytes(study.rows(), table.spec.dimensions, figures.precision));
    cost.set_stored_bytes(bytes);
  }
  return absl::OkStatus();
}

}  // namespace vectable
