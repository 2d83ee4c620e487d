#pragma once

#include <cstdint>

namespace vectable {

// The memory that an index holds, by what it is for. Bytes of the pages that were touched.
struct IndexMemory {
  uint64_t codes = 0;         // the rows at the table's precision, scales with them
  uint64_t search_codes = 0;  // what searches look through first
  uint64_t words = 0;
  uint64_t id_maps = 0;    // word -> slot and row id -> slot
  uint64_t row_state = 0;  // norms and marks of dead rows
  uint64_t graph = 0;      // links between rows, and what walks along them mark
  // Of segment files, mapped: in memory as far as it was read, and given up where memory is short.
  uint64_t mapped = 0;
  // Of all these, what the segment takes that new rows go to.
  uint64_t growing_segment = 0;

  // What the index holds itself: all but what is mapped.
  uint64_t total() const { return codes + search_codes + words + id_maps + row_state + graph; }

  // Adds the parts; growing_segment stays.
  void Add(const IndexMemory& other) {
    codes += other.codes;
    search_codes += other.search_codes;
    words += other.words;
    id_maps += other.id_maps;
    row_state += other.row_state;
    graph += other.graph;
    mapped += other.mapped;
  }
};

}  // namespace vectable
