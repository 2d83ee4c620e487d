#include "client/proto_names.h"

namespace vectable {

v1::Precision ToProto(Precision precision) {
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

v1::Metric ToProto(Metric metric) {
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

std::string_view NameOf(v1::Precision precision) {
  for (const Precision known : kAllPrecisions) {
    if (ToProto(known) == precision) return PrecisionName(known);
  }
  return "unknown";
}

std::string_view NameOf(v1::Metric metric) {
  for (const Metric known : {Metric::kCosine, Metric::kDot, Metric::kEuclidean}) {
    if (ToProto(known) == metric) return MetricName(known);
  }
  return "unknown";
}

std::string_view NameOf(v1::SearchMethod method) {
  if (method == v1::SEARCH_METHOD_EXACT) return "exact";
  if (method == v1::SEARCH_METHOD_GRAPH) return "graph";
  return "unknown";
}

std::string_view NameOf(v1::ShortReason reason) {
  if (reason == v1::SHORT_REASON_UNSPECIFIED) return "";
  if (reason == v1::SHORT_REASON_TABLE_SMALLER) return "table_smaller";
  if (reason == v1::SHORT_REASON_FILTERED) return "filtered";
  if (reason == v1::SHORT_REASON_MIN_SCORE) return "min_score";
  return "unknown";
}

}  // namespace vectable
