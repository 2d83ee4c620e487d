#pragma once

#include "absl/status/statusor.h"
#include "common/metric.h"
#include "common/precision.h"
#include "engine/types.h"
#include "vectable/v1/row.pb.h"
#include "vectable/v1/search.pb.h"
#include "vectable/v1/types.pb.h"

namespace vectable {

// From a request: UNSPECIFIED is the default that the proto names; a number without a name is
// INVALID_ARGUMENT.
absl::StatusOr<Precision> PrecisionFromProto(v1::Precision precision);
absl::StatusOr<Metric> MetricFromProto(v1::Metric metric);
absl::StatusOr<UpsertMode> UpsertModeFromProto(v1::UpsertMode mode);
// Whether bad rows are left out, instead of failing their batch.
absl::StatusOr<bool> SkipsBadRows(v1::OnBad on_bad);

// For a reply.
v1::Precision PrecisionToProto(Precision precision);
v1::Metric MetricToProto(Metric metric);
v1::ShortReason ShortReasonToProto(ShortReason reason);

}  // namespace vectable
