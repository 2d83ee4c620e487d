#include "server/scan_lister.h"

#include <limits>
#include <string>
#include <utility>

#include "common/status_util.h"
#include "server/messages.h"
#include "server/row_messages.h"

namespace vectable {

ScanLister::ScanLister(std::unique_ptr<RowScan> scan, ScanTokens tokens, uint64_t limit)
    : scan_(std::move(scan)),
      tokens_(std::move(tokens)),
      limit_(limit == 0 ? std::numeric_limits<uint64_t>::max() : limit) {}

absl::Status ScanLister::Next(v1::ScanResponse& response) {
  if (!begun_) VT_RETURN_IF_ERROR(Advance());
  size_t bytes = 0;
  std::string token;
  while (!done() && bytes < kScanReplyBytes) {
    token = tokens_.After(*ahead_);
    v1::Row* row = response.add_rows();
    FillRow(*std::move(ahead_), *row);
    bytes += BytesInReply(*row);
    ++listed_;
    VT_RETURN_IF_ERROR(Advance());
  }
  if (ahead_.has_value()) response.set_next_token(token);
  return absl::OkStatus();
}

absl::Status ScanLister::Advance() {
  begun_ = true;
  VT_ASSIGN_OR_RETURN(ahead_, scan_->Next());
  return absl::OkStatus();
}

}  // namespace vectable
