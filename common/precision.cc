#include "common/precision.h"

namespace vectable {

uint32_t BitsPerComponent(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return 32;
    case Precision::kFp16:
    case Precision::kBf16:
      return 16;
    case Precision::kInt8:
      return 8;
    case Precision::kInt4:
      return 4;
  }
  return 0;
}

std::string_view PrecisionName(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kFp16:
      return "fp16";
    case Precision::kBf16:
      return "bf16";
    case Precision::kInt8:
      return "int8";
    case Precision::kInt4:
      return "int4";
  }
  return "unknown";
}

std::optional<Precision> ParsePrecision(std::string_view name) {
  for (Precision precision : kAllPrecisions) {
    if (PrecisionName(precision) == name) return precision;
  }
  return std::nullopt;
}

std::optional<Precision> PrecisionFromNumber(uint8_t number) {
  for (Precision precision : kAllPrecisions) {
    if (static_cast<uint8_t>(precision) == number) return precision;
  }
  return std::nullopt;
}

}  // namespace vectable
