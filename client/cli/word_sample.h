#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/client.h"
#include "vectable/v1/table.pb.h"

namespace vectable {

// Up to `count` different words of a table, chosen by `seed`: the same ones as long as the table is
// the same. `table` is its description, by GetTable.
//
// No vectors are sent, and never the whole of a large table: row ids are drawn, and those in use
// are read. A table of at most 100,000 rows is listed instead, and of one whose ids lie far apart
// (fewer than one in 64 in use) the first million rows by id are: only those can then be chosen.
//
// Looks at `interrupted` now and then: CANCELLED. Other errors are the server's.
absl::StatusOr<std::vector<std::string>> SampleWords(Client& client, const v1::Table& table,
                                                     size_t count, uint64_t seed,
                                                     const std::function<bool()>& interrupted);

}  // namespace vectable
