#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "engine/table.h"
#include "server/scan_token.h"
#include "vectable/v1/row.pb.h"

namespace vectable {

// A reply of a listing ends with the row that brings it to this size.
inline constexpr size_t kScanReplyBytes = size_t{256} << 10;

// Cuts a scan into replies. Holds one row ahead and nothing else. Not thread-safe.
class ScanLister {
 public:
  // Lists at most `limit` rows, 0 for all.
  ScanLister(std::unique_ptr<RowScan> scan, ScanTokens tokens, uint64_t limit);

  // Fills `response`, which is empty, with the next rows; none at the end. The token says whether
  // there is more in the range, also when the limit is what ends the listing.
  absl::Status Next(v1::ScanResponse& response);

  // Whether there is nothing left to list.
  bool done() const { return begun_ && (!ahead_.has_value() || listed_ == limit_); }

 private:
  absl::Status Advance();

  const std::unique_ptr<RowScan> scan_;
  const ScanTokens tokens_;
  const uint64_t limit_;  // never reached when there is none
  uint64_t listed_ = 0;
  bool begun_ = false;
  std::optional<RowValue> ahead_;
};

}  // namespace vectable
