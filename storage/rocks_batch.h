#pragma once

#include <cstdint>
#include <span>

#include "rocksdb/write_batch.h"
#include "storage/rocks_families.h"
#include "storage/store.h"

namespace vectable {

// Adds commits of a table, and its catalogue row as it is after them. A batch in memory refuses
// nothing but a size limit, which isn't set.
void AddCommits(const RocksFamilies& all, const TableFamilies& families, const TableRecord& after,
                std::span<const Commit> commits, rocksdb::WriteBatch& batch);

// Adds the removal of a table's log entries after `from` up to `through`; none are before.
void AddTrim(const RocksFamilies& all, uint32_t table_id, uint64_t from, uint64_t through,
             rocksdb::WriteBatch& batch);

// Adds the removal of a table from the catalogue, with its log.
void AddDrop(const RocksFamilies& all, uint32_t table_id, rocksdb::WriteBatch& batch);

// Adds a catalogue row without its counters.
void AddTable(const RocksFamilies& all, const TableRecord& record, rocksdb::WriteBatch& batch);

}  // namespace vectable
