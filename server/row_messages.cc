#include "server/row_messages.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "server/grpc_status.h"
#include "server/messages.h"
#include "server/text.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

using google::protobuf::RepeatedPtrField;

// A row id in a packed field; ids are below 2^63.
constexpr size_t kRowIdBytes = 9;
// Room in a reply for its counts.
constexpr size_t kCountsBytes = 64;

template <class Request>
absl::StatusOr<RowKeys> KeysOf(const Request& request) {
  switch (request.keys_case()) {
    case Request::kWords:
      return RowKeys(std::vector<std::string_view>(request.words().words().begin(),
                                                   request.words().words().end()));
    case Request::kRowIds:
      return RowKeys(std::vector<uint64_t>(request.row_ids().row_ids().begin(),
                                           request.row_ids().row_ids().end()));
    case Request::KEYS_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(absl::StrCat("table ", Quoted(request.table()),
                                                 ": the request has neither words nor row ids"));
}

}  // namespace

std::vector<RowInput> RowInputsFromProto(const RepeatedPtrField<v1::UpsertRow>& rows) {
  std::vector<RowInput> inputs;
  inputs.reserve(rows.size());
  for (const v1::UpsertRow& row : rows) {
    RowInput& input = inputs.emplace_back();
    input.word = row.word();
    input.vector = std::span<const float>(row.vector().values().data(),
                                          static_cast<size_t>(row.vector().values_size()));
    if (row.has_row_id()) input.row_id = row.row_id();
  }
  return inputs;
}

absl::StatusOr<RowKeys> KeysFromProto(const v1::GetRequest& request) { return KeysOf(request); }
absl::StatusOr<RowKeys> KeysFromProto(const v1::DeleteRequest& request) { return KeysOf(request); }

size_t KeyCount(const RowKeys& keys) {
  return std::visit([](const auto& list) { return list.size(); }, keys);
}

RowKeys KeyRange(const RowKeys& keys, size_t begin, size_t count) {
  return std::visit(
      [&](const auto& list) -> RowKeys {
        const auto first = list.begin() + static_cast<ptrdiff_t>(begin);
        return std::decay_t<decltype(list)>(first, first + static_cast<ptrdiff_t>(count));
      },
      keys);
}

ScanRange ScanRangeFromProto(const v1::ScanRequest& request) {
  if (request.range_case() == v1::ScanRequest::kWordPrefix) {
    return WordPrefix{.prefix = request.word_prefix(), .after = std::nullopt};
  }
  RowIdRange range;
  range.begin = request.row_ids().begin();
  if (request.row_ids().has_end()) range.end = request.row_ids().end();
  return range;
}

absl::Status CheckIdsFitReply(size_t rows, size_t max_reply_bytes) {
  const size_t fits = (max_reply_bytes - std::min(max_reply_bytes, kCountsBytes)) / kRowIdBytes;
  if (rows <= fits) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the request has ", WithThousands(rows), " rows; the ids of at most ", WithThousands(fits),
      " fit in a reply of ", WithThousands(max_reply_bytes), " bytes"));
}

absl::Status CheckKeysFitReply(const RowKeys& keys, size_t max_reply_bytes) {
  size_t bytes = kCountsBytes;
  if (const auto* words = std::get_if<std::vector<std::string_view>>(&keys)) {
    for (const std::string_view word : *words) bytes += StringBytesInReply(word.size());
  } else {
    bytes += KeyCount(keys) * kRowIdBytes;
  }
  if (bytes <= max_reply_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the request's ", WithThousands(KeyCount(keys)), " keys take up to ", WithThousands(bytes),
      " bytes in a reply; the limit is ", WithThousands(max_reply_bytes)));
}

void FillRow(RowValue value, v1::Row& row) {
  row.set_word(std::move(value.word));
  row.set_row_id(value.row_id);
  if (value.vector.empty()) return;
  row.mutable_vector()->mutable_values()->Add(value.vector.begin(), value.vector.end());
}

void FillUpsertResponse(const UpsertOutcome& outcome, v1::UpsertResponse& response) {
  response.set_inserted(outcome.inserted);
  response.set_replaced(outcome.replaced);
  response.set_sequence(outcome.sequence);
  response.mutable_row_ids()->Add(outcome.row_ids.begin(), outcome.row_ids.end());
}

bool FillUpsertStreamResponse(const UpsertOutcome& outcome,
                              const RepeatedPtrField<v1::UpsertRow>& rows, size_t max_reply_bytes,
                              v1::UpsertStreamResponse& response) {
  response.set_inserted(outcome.inserted);
  response.set_replaced(outcome.replaced);
  if (outcome.sequence != 0) response.set_sequence(outcome.sequence);
  size_t bytes = kCountsBytes;
  for (const RejectedRow& rejected : outcome.rejected) {
    v1::RejectedRow entry;
    entry.set_index(static_cast<uint32_t>(rejected.index));
    entry.set_word(ReplaceInvalidUtf8(rows.Get(static_cast<int>(rejected.index)).word()));
    entry.set_reason(ToErrorText(rejected.reason));
    bytes += BytesInReply(entry);
    if (bytes > max_reply_bytes) return false;
    *response.add_rejected() = std::move(entry);
  }
  return true;
}

void FillDeleteResponse(const DeleteOutcome& outcome, const RowKeys& keys,
                        v1::DeleteResponse& response) {
  response.set_deleted(outcome.deleted);
  if (outcome.sequence != 0) response.set_sequence(outcome.sequence);
  for (const size_t place : outcome.missing) {
    if (const auto* words = std::get_if<std::vector<std::string_view>>(&keys)) {
      response.add_missing_words(std::string((*words)[place]));
    } else {
      response.add_missing_row_ids(std::get<std::vector<uint64_t>>(keys)[place]);
    }
  }
}

}  // namespace vectable
