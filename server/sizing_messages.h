#pragma once

#include "absl/status/status.h"
#include "engine/table.h"
#include "vectable/v1/sizing.pb.h"

namespace vectable {

// What a table weighs, computed from its row count and measured. OUT_OF_RANGE when a product
// doesn't fit 64 bits.
absl::Status FillReport(const TableReport& report, v1::ReportTableResponse& response);

// The result of a study that is done. OUT_OF_RANGE as above.
absl::Status FillCosts(const PrecisionStudy& study, const TableDescription& table,
                       v1::PrecisionCosts& costs);

}  // namespace vectable
