#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/types.h"

namespace vectable {

// Where a listing goes on. A token is of one listing (table and range), and useless for another; it
// survives a restart of the server and a rename of the table.
class ScanTokens {
 public:
  // Tokens of the listing of `range` in the table created at `created_unix_micros`.
  ScanTokens(int64_t created_unix_micros, ScanRange range);

  // The token for going on after the row (its id, or its word, by the kind of the range).
  std::string After(const RowValue& row) const;

  // What is left of the range after the token's row. INVALID_ARGUMENT for a token that is
  // damaged, made by a newer version, or of another listing.
  absl::StatusOr<ScanRange> Rest(std::string_view token) const;

 private:
  bool by_word() const { return std::holds_alternative<WordPrefix>(range_); }

  const ScanRange range_;
  const uint64_t listing_;  // a hash of table and range
};

}  // namespace vectable
