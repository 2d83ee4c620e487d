#pragma once

#include "client/cli/json_output.h"
#include "sizing/layers.h"
#include "sizing/model_report.h"

namespace vectable {

// A model's report. The members of "parameters" besides "total" add up to it; what isn't known is
// null.
Json ModelJson(const ModelReport& report);

// {"fp32":..,"fp16":..,"bf16":..,"int8":..,"int4":..}
Json WeightsJson(const std::vector<WeightsEntry>& weights);

// All presets, with their counts.
absl::StatusOr<Json> PresetsJson();

}  // namespace vectable
