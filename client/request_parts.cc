#include "client/request_parts.h"

#include <fmt/format.h>

#include "common/limits.h"
#include "common/names.h"

namespace vectable {

absl::Status CheckText(std::string_view what, std::string_view text) {
  if (IsValidUtf8(text)) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("{} {} is not valid UTF-8", what, Quoted(text)));
}

absl::Status CheckTexts(const std::string& table, std::span<const std::string> words) {
  VT_RETURN_IF_ERROR(CheckText("table name", table));
  for (const std::string& word : words) VT_RETURN_IF_ERROR(CheckText("word", word));
  return absl::OkStatus();
}

size_t RowsPerReply(size_t bytes_per_row, size_t most) {
  const size_t budget = Limits().max_reply_bytes / 8 * 7;
  return std::clamp<size_t>(budget / bytes_per_row, 1, most);
}

void SetKeys(std::span<const std::string> words, v1::WordList* list) {
  list->mutable_words()->Add(words.begin(), words.end());
}

void SetKeys(std::span<const uint64_t> row_ids, v1::RowIdList* list) {
  list->mutable_row_ids()->Add(row_ids.begin(), row_ids.end());
}

}  // namespace vectable
