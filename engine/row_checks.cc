#include "engine/row_checks.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {

std::string RowLabel(size_t index, std::string_view word) {
  return absl::StrCat("row ", index, " (", Quoted(word), ")");
}

absl::Status BatchChecker::Encode(size_t index, const RowInput& row, std::string& codes) {
  const size_t begin = codes.size();
  absl::Status status = CheckWord(row.word, limits_.max_word_bytes);
  if (status.ok()) status = EncodeRowVector(codec_, spec_.metric, row.vector, codes);
  if (status.ok()) status = CheckKeys(row);
  if (status.ok()) return status;
  codes.resize(begin);
  return Annotate(status, RowLabel(index, row.word));
}

absl::Status BatchChecker::CheckKeys(const RowInput& row) {
  if (row.row_id && *row.row_id > kMaxRowId) {
    return absl::InvalidArgumentError(
        absl::StrCat("row id ", *row.row_id, " is above the greatest one, ", kMaxRowId));
  }
  if (row.row_id && row_ids_.contains(*row.row_id)) {
    return absl::InvalidArgumentError(
        absl::StrCat("row id ", *row.row_id, " is in the batch twice"));
  }
  if (!words_.insert(row.word).second) {
    return absl::InvalidArgumentError("the word is in the batch twice");
  }
  if (row.row_id) row_ids_.insert(*row.row_id);
  return absl::OkStatus();
}

absl::Status CheckKeyCount(size_t count, const Limits& limits) {
  if (count == 0) return absl::InvalidArgumentError("no words and no row ids are given");
  if (count > limits.max_keys) {
    return absl::InvalidArgumentError(
        absl::StrCat(count, " words or row ids in one request; the limit is ", limits.max_keys));
  }
  return absl::OkStatus();
}

absl::Status CheckSearch(size_t queries, const SearchOptions& options, const Limits& limits) {
  if (queries == 0) return absl::InvalidArgumentError("the request has no query");
  if (queries > limits.max_queries) {
    return absl::InvalidArgumentError(
        absl::StrCat(queries, " queries in one request; the limit is ", limits.max_queries));
  }
  if (options.k == 0 || options.k > limits.max_k) {
    return absl::InvalidArgumentError(
        absl::StrCat("k is ", options.k, "; it must be 1 to ", limits.max_k));
  }
  if (options.exclude_words.size() > limits.max_keys) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.exclude_words.size(), " excluded words; the limit is ", limits.max_keys));
  }
  if (!(options.recall > 0 && options.recall <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("recall is ", options.recall, "; it must be over 0, up to 1"));
  }
  if (options.min_score && std::isnan(*options.min_score)) {
    return absl::InvalidArgumentError("min_score is NaN");
  }
  return absl::OkStatus();
}

}  // namespace vectable
