#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/precision.h"

namespace vectable {

// rows x dimensions. OUT_OF_RANGE when it doesn't fit 64 bits.
absl::StatusOr<uint64_t> ParameterCount(uint64_t rows, uint64_t dimensions);

// Bytes of one row's codes: ceil(dimensions x bits / 8); rows don't share a byte.
uint64_t CodeBytesPerRow(uint32_t dimensions, Precision precision);

// Bytes of all codes: rows x CodeBytesPerRow, without scales, words or any other overhead.
// OUT_OF_RANGE when it doesn't fit 64 bits.
absl::StatusOr<uint64_t> NominalBytes(uint64_t rows, uint32_t dimensions, Precision precision);

// Bytes of all codes and of the rows' scales (4 bytes a row at int8 and int4): what storage and
// index keep of the vectors. OUT_OF_RANGE when it doesn't fit 64 bits.
absl::StatusOr<uint64_t> StoredBytes(uint64_t rows, uint32_t dimensions, Precision precision);

// Digits in groups of three: "34,147,900".
std::string WithThousands(uint64_t number);

// Exact bytes first, then decimal and binary units told apart: "24 B",
// "497,759,232 B (497.76 MB, 474.70 MiB)".
std::string FormatBytes(uint64_t bytes);

// A number of bytes as people write it: "1500", "50MB", "1.5 GiB", "64kb"; B, kB to PB are powers
// of 1,000, KiB to PiB of 1,024, in any case. INVALID_ARGUMENT for anything else, for less than a
// byte and for what doesn't fit 64 bits.
absl::StatusOr<uint64_t> ParseBytes(std::string_view text);

}  // namespace vectable
