#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "engine/snapshot_folder.h"
#include "engine/table.h"
#include "engine/types.h"
#include "vectable/v1/admin.pb.h"
#include "vectable/v1/table.pb.h"

namespace vectable {

// What the client asks to create; the engine checks name, dimensions and dimension names.
// INVALID_ARGUMENT for an unknown enum number; RESOURCE_EXHAUSTED when the dimension names alone
// would fill a reply of `max_reply_bytes`, so that no reply could describe the table.
absl::StatusOr<TableSpec> TableSpecFromProto(const v1::CreateTableRequest& request,
                                             size_t max_reply_bytes);

v1::Table TableToProto(const TableDescription& table);

// With the segments of its index.
v1::Table WholeTableToProto(const Table& table);

// A snapshot as a message, its tables by name.
v1::Snapshot SnapshotToProto(const SnapshotDescription& snapshot);

}  // namespace vectable
