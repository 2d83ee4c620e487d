#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vectable {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& value) {
  return value.status();
}

// EXPECT_THAT(expr, IsOk()); the expression is a Status or a StatusOr.
MATCHER(IsOk, "is OK") {
  *result_listener << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

// The code, and a text that the message holds.
MATCHER_P2(StatusIs, code, text,
           std::string("has ") + absl::StatusCodeToString(code) + " and '" + text + "'") {
  *result_listener << StatusOf(arg).ToString();
  return StatusOf(arg).code() == code &&
         std::string(StatusOf(arg).message()).find(text) != std::string::npos;
}

}  // namespace vectable
