#pragma once

#include <cstdint>
#include <span>
#include <string>

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

// Bytes per precision, of the values alone and with scales; a star marks the table's own.
TextTable BytesTable(const v1::ReportTableResponse& report);

// What was measured of the table, and of the whole database in the last lines.
TextTable MeasuredTable(const v1::ReportTableResponse& report);

// What answers cost at each precision; a star marks the one that the others are compared with.
TextTable CostsTable(const v1::PrecisionCosts& costs);

// A line per precision that changes some query's neighbours, naming those that change most, and one
// per precision that can't hold all rows. Empty when there are none.
std::string CostsNotes(const v1::PrecisionCosts& costs);

}  // namespace vectable
