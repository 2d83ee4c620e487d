#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sizing/model_report.h"
#include "sizing/transformer.h"
#include "vectable/v1/model.pb.h"

namespace vectable {

// The shape of a request, its absent fields with the defaults that model.proto names.
// INVALID_ARGUMENT for a norm without a name. Numbers are checked where they are counted.
absl::StatusOr<TransformerSpec> SpecFromProto(const v1::TransformerSpec& message);

// What a request asks for beside the counts. NOT_FOUND for an unknown convention.
absl::StatusOr<MemoryOptions> MemoryOptionsFromProto(const v1::EstimateModelRequest& request);

// Answers a request; errors as model.proto says.
absl::Status EstimateModel(const v1::EstimateModelRequest& request,
                           v1::EstimateModelResponse& response);

}  // namespace vectable
