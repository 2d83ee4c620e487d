#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sizing/json_scan.h"

namespace vectable {

inline constexpr size_t kMaxFlatJsonMembers = 10'000;

// The members of a JSON object that are scalars, and the first strings of arrays: as much of a
// configuration as anyone asks for, in not much more memory than the text. Nested objects are known
// by name alone.
class FlatJson {
 public:
  // INVALID_ARGUMENT for a text over `max_bytes`, of something else than an object, of more than
  // kMaxFlatJsonMembers, or as ScanJson. Of a member given twice, the last counts.
  static absl::StatusOr<FlatJson> Parse(std::string_view text, size_t max_bytes);

  // Whether the member is there and isn't null.
  bool Has(const std::string& name) const;

  // The member, or nothing where it is missing or null. INVALID_ARGUMENT names a member of another
  // type, a negative number, a fraction.
  absl::StatusOr<std::optional<uint64_t>> Number(const std::string& name) const;
  absl::StatusOr<std::optional<bool>> Bool(const std::string& name) const;
  absl::StatusOr<std::optional<std::string>> String(const std::string& name) const;
  // The first string of an array; empty where there is none.
  std::string FirstString(const std::string& name) const;

 private:
  friend class FlatJsonVisitor;

  const JsonScalar* Find(const std::string& name) const;

  std::map<std::string, JsonScalar> scalars_;
  std::map<std::string, std::string> first_strings_;  // of arrays
  std::map<std::string, bool> nested_;                // whether it is an object, else an array
};

}  // namespace vectable
