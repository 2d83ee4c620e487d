#include "sizing/footprint.h"

#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/status_util.h"

namespace vectable {
namespace {

constexpr std::array<const char*, 7> kDecimalUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
constexpr std::array<const char*, 7> kBinaryUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

absl::StatusOr<uint64_t> Product(uint64_t a, uint64_t b, const char* what) {
  uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return absl::OutOfRangeError(absl::StrCat(a, " x ", b, " ", what, " don't fit 64 bits"));
  }
  return product;
}

std::string InUnits(uint64_t bytes, double step, const std::array<const char*, 7>& units) {
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  // What would be shown as "1000.00" belongs to the next unit.
  while ((unit == 0 ? value : value + 0.005) >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  return unit == 0 ? absl::StrCat(bytes, " ", units[0])
                   : absl::StrFormat("%.2f %s", value, units[unit]);
}

}  // namespace

absl::StatusOr<uint64_t> ParameterCount(uint64_t rows, uint64_t dimensions) {
  return Product(rows, dimensions, "parameters");
}

uint64_t CodeBytesPerRow(uint32_t dimensions, Precision precision) {
  return (uint64_t{dimensions} * BitsPerComponent(precision) + 7) / 8;
}

absl::StatusOr<uint64_t> NominalBytes(uint64_t rows, uint32_t dimensions, Precision precision) {
  return Product(rows, CodeBytesPerRow(dimensions, precision), "bytes");
}

std::string WithThousands(uint64_t number) {
  std::string digits = absl::StrCat(number);
  for (size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string FormatBytes(uint64_t bytes) {
  std::string exact = absl::StrCat(WithThousands(bytes), " B");
  if (bytes < 1000) return exact;
  return absl::StrCat(exact, " (", InUnits(bytes, 1000, kDecimalUnits), ", ",
                      InUnits(bytes, 1024, kBinaryUnits), ")");
}

}  // namespace vectable
