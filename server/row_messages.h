#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/types.h"
#include "vectable/v1/row.pb.h"

namespace vectable {

// The rows of a request, pointing into it. The engine checks them.
std::vector<RowInput> RowInputsFromProto(
    const google::protobuf::RepeatedPtrField<v1::UpsertRow>& rows);

// The keys of a request, pointing into it. INVALID_ARGUMENT when it has neither words nor row ids.
absl::StatusOr<RowKeys> KeysFromProto(const v1::GetRequest& request);
absl::StatusOr<RowKeys> KeysFromProto(const v1::DeleteRequest& request);
size_t KeyCount(const RowKeys& keys);
// `count` of the keys from `begin` on; both within the keys.
RowKeys KeyRange(const RowKeys& keys, size_t begin, size_t count);

// The range of a listing from its beginning; the engine checks it.
ScanRange ScanRangeFromProto(const v1::ScanRequest& request);

// For requests that write: RESOURCE_EXHAUSTED, before anything is written, when the reply could be
// over `max_reply_bytes`: it holds the ids of all rows written, or all keys that weren't there.
absl::Status CheckIdsFitReply(size_t rows, size_t max_reply_bytes);
absl::Status CheckKeysFitReply(const RowKeys& keys, size_t max_reply_bytes);

// Fills `row` from a row read with or without its vector.
void FillRow(RowValue value, v1::Row& row);

void FillUpsertResponse(const UpsertOutcome& outcome, v1::UpsertResponse& response);

// Fills all but the batch number. Left-out rows are listed as far as the message stays under
// `max_reply_bytes`; returns whether all of them are.
bool FillUpsertStreamResponse(const UpsertOutcome& outcome,
                              const google::protobuf::RepeatedPtrField<v1::UpsertRow>& rows,
                              size_t max_reply_bytes, v1::UpsertStreamResponse& response);

// `keys` are those asked for.
void FillDeleteResponse(const DeleteOutcome& outcome, const RowKeys& keys,
                        v1::DeleteResponse& response);

}  // namespace vectable
