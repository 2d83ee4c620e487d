#include "sizing/footprint.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/names.h"
#include "common/status_util.h"
#include "common/vector_codec.h"

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

absl::StatusOr<uint64_t> StoredBytes(uint64_t rows, uint32_t dimensions, Precision precision) {
  return Product(rows, VectorCodec(precision, dimensions).row_bytes(), "bytes");
}

absl::StatusOr<uint64_t> ParseBytes(std::string_view text) {
  const auto bad = [text] {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(text), " is no number of bytes; write it like 1500, 50MB or 1.5GiB"));
  };
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string number(text.substr(0, digits));
  std::string unit = absl::AsciiStrToLower(std::string(text.substr(digits)));
  absl::StripLeadingAsciiWhitespace(&unit);
  double value = 0;
  if (number.empty() || !absl::SimpleAtod(number, &value)) return bad();
  if (unit.empty()) unit = "b";
  double factor = 0;
  double decimal = 1;
  double binary = 1;
  for (const char prefix : {'\0', 'k', 'm', 'g', 't', 'p'}) {
    const std::string letter = prefix == '\0' ? "" : std::string(1, prefix);
    if (unit == absl::StrCat(letter, "b")) factor = decimal;
    if (prefix != '\0' && unit == absl::StrCat(letter, "ib")) factor = binary;
    decimal *= 1000;
    binary *= 1024;
  }
  if (factor == 0) return bad();
  const double bytes = value * factor;
  if (bytes < 1) return absl::InvalidArgumentError(absl::StrCat(Quoted(text), " is below a byte"));
  if (bytes >= 0x1p64) {
    return absl::InvalidArgumentError(absl::StrCat(Quoted(text), " doesn't fit 64 bits"));
  }
  return static_cast<uint64_t>(bytes);
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
