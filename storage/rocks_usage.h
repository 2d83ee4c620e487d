#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rocksdb/db.h"
#include "storage/rocks_families.h"
#include "storage/table_record.h"
#include "storage/usage.h"

namespace vectable {

// Measures an open database with these tables, whose data directory is `directory`. What changes
// meanwhile may be counted among the obsolete files, never twice. INTERNAL when the directory can't
// be read.
absl::StatusOr<StoreUsage> MeasureUsage(rocksdb::DB& db, const RocksFamilies& families,
                                        const std::vector<TableRecord>& tables,
                                        const std::string& directory);

}  // namespace vectable
