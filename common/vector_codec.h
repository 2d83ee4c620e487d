#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/metric.h"
#include "common/precision.h"

namespace vectable {

// Between vectors and the codes that stand for them at one precision: the only place that knows
// their bytes. The same vector gives the same codes on every machine.
//
//   fp32  d x 4 bytes, IEEE 754 binary32, every bit kept
//   fp16  d x 2 bytes, binary16, rounded to nearest even
//   bf16  d x 2 bytes, the upper half of binary32, rounded to nearest even
//   int8  a binary32 scale, then d codes from -127 to 127; a value is code x scale
//   int4  a binary32 scale, then ceil(d / 2) bytes: codes from -7 to 7, two's complement, the first
//         of each pair in the low half; a value is code x scale; an unused half is 0
//
// All little-endian. The scale of int8 maps the largest magnitude to 127; that of int4 is chosen to
// make the squared error small, which may clip the largest values. Both map a decoded vector to
// itself. Values are decoded with one rounding, to binary32. A copyable value.
class VectorCodec {
 public:
  VectorCodec(Precision precision, size_t dimensions)
      : precision_(precision), dimensions_(dimensions) {}

  Precision precision() const { return precision_; }
  size_t dimensions() const { return dimensions_; }

  // Bytes of one vector: codes and, at int8 and int4, the scale.
  size_t row_bytes() const { return scale_bytes() + code_bytes(); }
  // Bytes of one vector's codes: ceil(d x bits / 8).
  size_t code_bytes() const { return (dimensions_ * BitsPerComponent(precision_) + 7) / 8; }
  // Bytes of one vector's scale: 4 at int8 and int4, else 0.
  size_t scale_bytes() const;

  // Appends the codes of a vector of finite values, `dimensions` long. INVALID_ARGUMENT for a value
  // that rounds beyond the greatest of fp16 or bf16; `out` is then as it was.
  absl::Status Encode(std::span<const float> vector, std::string& out) const;

  // DATA_LOSS unless `codes` has the length of one vector.
  absl::Status CheckLength(std::string_view codes) const;

  // Decodes `count` vectors that lie back to back: `rows` has count x row_bytes() bytes, `out` room
  // for count x dimensions values. Uses the widest vector instructions at hand.
  void Decode(const char* rows, size_t count, float* out) const;

 private:
  Precision precision_;
  size_t dimensions_;
};

// Appends the codes of a row's vector to `codes`, or says why it can't be stored: as CheckVector,
// for a value out of the precision's range and, under cosine, for a vector that rounds to zero.
// INVALID_ARGUMENT; `codes` is then as it was.
absl::Status EncodeRowVector(const VectorCodec& codec, Metric metric, std::span<const float> vector,
                             std::string& codes);

}  // namespace vectable
