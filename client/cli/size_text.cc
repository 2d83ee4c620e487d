#include "client/cli/size_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "client/cli/display.h"
#include "client/proto_names.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

constexpr uint64_t kAllRows = 12;  // a table of so many rows is shown whole
constexpr uint64_t kFirstRows = 5;
constexpr uint32_t kAllDimensions = 8;
constexpr uint32_t kFirstDimensions = 4;
constexpr const char* kLeftOut = "...";

uint32_t DimensionsShown(const v1::ReportTableResponse& report) {
  return report.dimensions() <= kAllDimensions ? report.dimensions() : kFirstDimensions;
}

std::string DimensionTitle(const v1::ReportTableResponse& report, uint32_t dimension) {
  const int index = static_cast<int>(dimension);
  if (index < report.dimension_names_size()) return report.dimension_names(index);
  return fmt::format("d{}", dimension);
}

std::vector<std::string> RowCells(const v1::ReportTableResponse& report, const v1::Row& row) {
  std::vector<std::string> cells = {row.word()};
  const int shown = static_cast<int>(DimensionsShown(report));
  for (int i = 0; i < shown; ++i) {
    cells.push_back(i < row.vector().values_size() ? ShortFloat(row.vector().values(i)) : "");
  }
  if (DimensionsShown(report) < report.dimensions()) cells.push_back(kLeftOut);
  cells.push_back(WithThousands(report.dimensions()));
  return cells;
}

std::string Starred(v1::Precision precision, v1::Precision own) {
  return std::string(NameOf(precision)) + (precision == own ? " *" : "");
}

}  // namespace

uint64_t RowsShown(const v1::ReportTableResponse& report) {
  return report.rows() <= kAllRows ? std::max<uint64_t>(report.rows(), 1) : kFirstRows;
}

TextTable SizeTable(const v1::ReportTableResponse& report, std::span<const v1::Row> rows) {
  TextTable table;
  table.AddColumn("Word");
  const uint32_t shown = DimensionsShown(report);
  for (uint32_t i = 0; i < shown; ++i) {
    table.AddColumn(DimensionTitle(report, i), TextTable::Align::kRight);
  }
  const bool cut = shown < report.dimensions();
  if (cut) table.AddColumn(kLeftOut);
  table.AddColumn("Dimensions", TextTable::Align::kRight);
  for (const v1::Row& row : rows) table.AddRow(RowCells(report, row));
  if (rows.size() < report.rows()) {
    table.AddRow(std::vector<std::string>(size_t{shown} + (cut ? 3 : 2), kLeftOut));
  }
  table.SetFooter(
      "Total", fmt::format("{} x {} = {} Parameters", WithThousands(report.rows()),
                           WithThousands(report.dimensions()), WithThousands(report.parameters())));
  return table;
}

TextTable BytesTable(const v1::ReportTableResponse& report) {
  TextTable table;
  table.AddColumn("Precision");
  table.AddColumn("Bytes of the values alone");
  table.AddColumn("With scales");
  for (const v1::PrecisionBytes& bytes : report.bytes()) {
    table.AddRow({Starred(bytes.precision(), report.precision()),
                  FormatBytes(bytes.nominal_bytes()), FormatBytes(bytes.stored_bytes())});
  }
  return table;
}

TextTable MeasuredTable(const v1::ReportTableResponse& report) {
  TextTable table;
  table.AddColumn("Measured");
  table.AddColumn("Bytes");
  const auto add = [&table](const char* label, uint64_t bytes) {
    table.AddRow({label, FormatBytes(bytes)});
  };
  const v1::TableDisk& disk = report.measured().disk();
  add("on disk: rows", disk.rows());
  if (disk.blobs() > 0) add("on disk: blobs", disk.blobs());
  add("on disk: words", disk.words());
  if (disk.index() > 0) add("on disk: index", disk.index());
  add("on disk: total", disk.total());
  add("  compaction gives back, about", disk.reclaimable_estimate());
  const v1::TableMemory& memory = report.measured().memory();
  if (memory.has_codes()) add("in memory: codes", memory.codes());
  if (memory.has_search_codes()) add("in memory: search codes", memory.search_codes());
  if (memory.has_words()) add("in memory: words", memory.words());
  if (memory.has_id_maps()) add("in memory: id maps", memory.id_maps());
  if (memory.has_row_state()) add("in memory: norms and marks", memory.row_state());
  if (memory.has_graph()) add("in memory: graph", memory.graph());
  add("in memory: not yet on disk", memory.memtables());
  if (memory.has_total()) add("in memory: total", memory.total());
  if (memory.has_mapped()) add("mapped files, in memory as read", memory.mapped());
  const v1::DatabaseDisk& all = report.measured().database_disk();
  add("database on disk: all tables", all.tables());
  add("database on disk: write-ahead log", all.write_ahead_log());
  if (all.snapshots() > 0) add("database on disk: snapshots alone", all.snapshots());
  if (all.reserve() > 0) add("database on disk: held back", all.reserve());
  add("database on disk: the rest",
      all.total() - all.tables() - all.write_ahead_log() - all.snapshots() - all.reserve());
  add("database on disk: total", all.total());
  return table;
}

TextTable CostsTable(const v1::PrecisionCosts& costs) {
  TextTable table;
  table.AddColumn("Precision");
  for (const char* title : {"Recall@1", "Recall@10", "Recall@100", "Mean cosine error",
                            "Worst cosine error", "Codes and scales"}) {
    table.AddColumn(title, TextTable::Align::kRight);
  }
  for (const v1::PrecisionCost& cost : costs.costs()) {
    table.AddRow(
        {Starred(cost.precision(), costs.baseline()), fmt::format("{:.4f}", cost.recall_at_1()),
         fmt::format("{:.4f}", cost.recall_at_10()), fmt::format("{:.4f}", cost.recall_at_100()),
         fmt::format("{:.2g}", cost.mean_cosine_error()),
         fmt::format("{:.2g}", cost.worst_cosine_error()), FormatBytes(cost.stored_bytes())});
  }
  table.SetFooter("Sample", fmt::format("{} queries among {} rows, against {}, {:.1f} s",
                                        WithThousands(costs.queries()), WithThousands(costs.rows()),
                                        NameOf(costs.baseline()), costs.seconds()));
  return table;
}

std::string CostsNotes(const v1::PrecisionCosts& costs) {
  std::string notes;
  for (const v1::PrecisionCost& cost : costs.costs()) {
    if (cost.rows_refused() > 0) {
      notes += fmt::format("{} can't hold {} of the rows; they count as not found\n",
                           NameOf(cost.precision()), WithThousands(cost.rows_refused()));
    }
    if (cost.most_changed().empty()) continue;
    std::string words;
    for (const v1::ChangedWord& changed : cost.most_changed()) {
      if (!words.empty()) words += ", ";
      words += fmt::format("{} ({})", Printable(changed.word()), changed.kept());
    }
    notes +=
        fmt::format("{} changes these most (kept of 10): {}\n", NameOf(cost.precision()), words);
  }
  return notes;
}

}  // namespace vectable
