#pragma once

#include <cstdint>
#include <span>

#include "client/cli/text_table.h"
#include "vectable/v1/row.pb.h"
#include "vectable/v1/sizing.pb.h"
#include "vectable/v1/types.pb.h"

namespace vectable {

// How many rows SizeTable shows: all of a small table, the first few of a large one; at least 1.
uint64_t RowsShown(const v1::ReportTableResponse& report);

// The "Vector DB" table: a line per row with its first values and its dimensions, "..." for what is
// left out, and in the end "Total | 3 x 2 = 6 Parameters". `rows` are the first rows, with vectors.
TextTable SizeTable(const v1::ReportTableResponse& report, std::span<const v1::Row> rows);

// Nominal bytes per precision; a star marks the table's own.
TextTable BytesTable(const v1::ReportTableResponse& report);

}  // namespace vectable
