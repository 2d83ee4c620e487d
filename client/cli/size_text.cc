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
  for (const v1::PrecisionBytes& bytes : report.bytes()) {
    const bool own = bytes.precision() == report.precision();
    table.AddRow({std::string(NameOf(bytes.precision())) + (own ? " *" : ""),
                  FormatBytes(bytes.nominal_bytes())});
  }
  return table;
}

}  // namespace vectable
