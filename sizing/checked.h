#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace vectable {

// A sum or product of unsigned 64-bit numbers that remembers whether it ever overflowed, so that a
// formula is written as it is read and checked once, at its end.
class Checked {
 public:
  explicit constexpr Checked(uint64_t value = 0) : value_(value) {}

  friend constexpr Checked operator+(Checked a, Checked b) {
    Checked sum;
    sum.overflow_ =
        __builtin_add_overflow(a.value_, b.value_, &sum.value_) || a.overflow_ || b.overflow_;
    return sum;
  }
  friend constexpr Checked operator*(Checked a, Checked b) {
    Checked product;
    product.overflow_ = __builtin_mul_overflow(a.value_, b.value_, &product.value_) ||
                        (a.overflow_ && !b.IsZero()) || (b.overflow_ && !a.IsZero());
    return product;
  }
  friend constexpr Checked operator+(Checked a, uint64_t b) { return a + Checked(b); }
  friend constexpr Checked operator*(Checked a, uint64_t b) { return a * Checked(b); }
  Checked& operator+=(Checked b) { return *this = *this + b; }
  Checked& operator+=(uint64_t b) { return *this = *this + Checked(b); }

  bool overflowed() const { return overflow_; }

  // The value; OUT_OF_RANGE, naming `what` ("the attention's parameters"), after an overflow.
  absl::StatusOr<uint64_t> Value(std::string_view what) const {
    if (!overflow_) return value_;
    return absl::OutOfRangeError(absl::StrCat(std::string(what), " don't fit 64 bits"));
  }

 private:
  constexpr bool IsZero() const { return value_ == 0 && !overflow_; }

  uint64_t value_ = 0;
  bool overflow_ = false;
};

}  // namespace vectable
