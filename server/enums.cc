#include "server/enums.h"

#include "absl/strings/str_cat.h"

namespace vectable {
namespace {

absl::Status UnknownNumber(const char* field, int number) {
  return absl::InvalidArgumentError(absl::StrCat(field, " ", number, " is unknown to this server"));
}

}  // namespace

absl::StatusOr<Precision> PrecisionFromProto(v1::Precision precision) {
  switch (precision) {
    case v1::PRECISION_UNSPECIFIED:
    case v1::PRECISION_FP32:
      return Precision::kFp32;
    case v1::PRECISION_FP16:
      return Precision::kFp16;
    case v1::PRECISION_BF16:
      return Precision::kBf16;
    case v1::PRECISION_INT8:
      return Precision::kInt8;
    case v1::PRECISION_INT4:
      return Precision::kInt4;
    default:
      return UnknownNumber("precision", precision);
  }
}

absl::StatusOr<Metric> MetricFromProto(v1::Metric metric) {
  switch (metric) {
    case v1::METRIC_UNSPECIFIED:
    case v1::METRIC_COSINE:
      return Metric::kCosine;
    case v1::METRIC_DOT:
      return Metric::kDot;
    case v1::METRIC_EUCLIDEAN:
      return Metric::kEuclidean;
    default:
      return UnknownNumber("metric", metric);
  }
}

absl::StatusOr<UpsertMode> UpsertModeFromProto(v1::UpsertMode mode) {
  switch (mode) {
    case v1::UPSERT_MODE_UNSPECIFIED:
    case v1::UPSERT_MODE_UPSERT:
      return UpsertMode::kUpsert;
    case v1::UPSERT_MODE_INSERT_ONLY:
      return UpsertMode::kInsertOnly;
    case v1::UPSERT_MODE_UPDATE_ONLY:
      return UpsertMode::kUpdateOnly;
    default:
      return UnknownNumber("mode", mode);
  }
}

absl::StatusOr<bool> SkipsBadRows(v1::OnBad on_bad) {
  switch (on_bad) {
    case v1::ON_BAD_UNSPECIFIED:
    case v1::ON_BAD_ERROR:
      return false;
    case v1::ON_BAD_SKIP:
      return true;
    default:
      return UnknownNumber("on_bad", on_bad);
  }
}

v1::Precision PrecisionToProto(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return v1::PRECISION_FP32;
    case Precision::kFp16:
      return v1::PRECISION_FP16;
    case Precision::kBf16:
      return v1::PRECISION_BF16;
    case Precision::kInt8:
      return v1::PRECISION_INT8;
    case Precision::kInt4:
      return v1::PRECISION_INT4;
  }
  return v1::PRECISION_UNSPECIFIED;
}

v1::Metric MetricToProto(Metric metric) {
  switch (metric) {
    case Metric::kCosine:
      return v1::METRIC_COSINE;
    case Metric::kDot:
      return v1::METRIC_DOT;
    case Metric::kEuclidean:
      return v1::METRIC_EUCLIDEAN;
  }
  return v1::METRIC_UNSPECIFIED;
}

v1::ShortReason ShortReasonToProto(ShortReason reason) {
  switch (reason) {
    case ShortReason::kNone:
      return v1::SHORT_REASON_UNSPECIFIED;
    case ShortReason::kTableSmaller:
      return v1::SHORT_REASON_TABLE_SMALLER;
    case ShortReason::kFiltered:
      return v1::SHORT_REASON_FILTERED;
    case ShortReason::kMinScore:
      return v1::SHORT_REASON_MIN_SCORE;
  }
  return v1::SHORT_REASON_UNSPECIFIED;
}

}  // namespace vectable
