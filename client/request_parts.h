#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/status_util.h"
#include "vectable/v1/types.pb.h"

namespace vectable {

// INVALID_ARGUMENT when `text` isn't valid UTF-8, which Protocol Buffers can't carry; all else is
// the server's to check.
absl::Status CheckText(std::string_view what, std::string_view text);

// CheckText of a table's name and of words.
absl::Status CheckTexts(const std::string& table, std::span<const std::string> words);

// How many rows or hits of so many bytes a unary reply holds, with some room left; 1 to `most`.
size_t RowsPerReply(size_t bytes_per_row, size_t most);

// Bytes that a row or hit takes in a reply besides its vector, with a usual word.
inline constexpr size_t kUsualRowBytes = 64;

void SetKeys(std::span<const std::string> words, v1::WordList* list);
void SetKeys(std::span<const uint64_t> row_ids, v1::RowIdList* list);

template <typename Request>
void SetKeys(std::span<const std::string> words, Request& request) {
  SetKeys(words, request.mutable_words());
}

template <typename Request>
void SetKeys(std::span<const uint64_t> row_ids, Request& request) {
  SetKeys(row_ids, request.mutable_row_ids());
}

// Calls `ask` for parts of `keys`, in order, of at most `part` keys. A part whose reply would be
// too large is halved; a server that is merely busy meets at most log2(part) more calls.
template <typename Key, typename Ask>
absl::Status AskInParts(std::span<const Key> keys, size_t part, const Ask& ask) {
  for (size_t i = 0; i < keys.size(); i += part) {
    const std::span<const Key> some = keys.subspan(i, std::min(part, keys.size() - i));
    absl::Status status = ask(some);
    if (absl::IsResourceExhausted(status) && some.size() > 1) {
      status = AskInParts(some, (some.size() + 1) / 2, ask);
    }
    VT_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

// Makes a request from `base` for each part of `keys` and puts the replies together, in order:
// lists one behind the other; `add_up` sees each part and what was collected before, for fields
// that are sums.
template <typename Reply, typename Request, typename Key, typename Call, typename AddUp>
absl::StatusOr<Reply> CollectInParts(std::span<const Key> keys, size_t part, const Request& base,
                                     const Call& call, const AddUp& add_up) {
  Reply all;
  const auto ask = [&](std::span<const Key> some) -> absl::Status {
    Request request = base;
    SetKeys(some, request);
    VT_ASSIGN_OR_RETURN(Reply reply, call(request));
    add_up(all, reply);
    all.MergeFrom(reply);
    return absl::OkStatus();
  };
  // The server has the words for a request without keys.
  VT_RETURN_IF_ERROR(keys.empty() ? ask(keys) : AskInParts(keys, part, ask));
  return all;
}

}  // namespace vectable
