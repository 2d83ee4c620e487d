#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "vectable/v1/admin.pb.h"
#include "vectable/v1/row.pb.h"
#include "vectable/v1/search.pb.h"
#include "vectable/v1/sizing.pb.h"
#include "vectable/v1/table.pb.h"

namespace vectable {

// The JSON that scripts read: fields in snake_case and in a fixed order, every one always there,
// counts as numbers, enums by their lower-case names, fp32 values in the shortest form that reads
// back to the same value.
using Json = nlohmann::ordered_json;

// How a query of `nearest` is named in its answer; both are empty for a vector.
struct QueryLabel {
  std::optional<std::string> word;
  std::optional<uint64_t> row_id;
};

Json VectorJson(const v1::Vector& vector);
Json TableJson(const v1::Table& table);
// With the segments of its index.
Json WholeTableJson(const v1::Table& table);
// {"word":..,"row_id":..,"vector":[..]}, the vector only when `with_vector`.
Json RowJson(const v1::Row& row, bool with_vector);
// `labels` has one entry per result.
Json NearestJson(const v1::NearestResponse& response, const std::vector<QueryLabel>& labels,
                 bool with_vectors);
Json ReportJson(const v1::ReportTableResponse& report);
// Figures that mean nothing without a row are null.
Json CostsJson(const v1::PrecisionCosts& costs);
Json SnapshotJson(const v1::Snapshot& snapshot);
Json ServerInfoJson(const v1::GetServerInfoResponse& info, const std::string& server);

// Writes one document and a line end. Bytes that are no UTF-8 are replaced.
void WriteJson(std::ostream& out, const Json& json);

}  // namespace vectable
