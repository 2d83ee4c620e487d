#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vectable {

// A graph over the slots of a segment, as a search reads it: hierarchical navigable small worlds
// (Malkov and Yashunin, arXiv 1603.09320). Level 0 links every slot; the levels above link a few,
// which are numbered anew, 0 to node_count - 1, and lead to level 0. Lists end with kNoSlot where
// they aren't full. Holds no memory.
struct Graph {
  uint32_t degree = 0;              // of level 0: length of each list
  uint32_t upper_degree = 0;        // of the levels above
  const uint32_t* links = nullptr;  // slots x degree

  // The levels above: node i stands for slot upper_slots[i]; its lists, upper_degree each, of the
  // levels from 1 up, begin at upper_links[upper_offsets[i] * upper_degree] and name nodes.
  std::span<const uint32_t> upper_slots;
  std::span<const uint32_t> upper_offsets;  // one more than nodes
  std::span<const uint32_t> upper_links;
  uint32_t entry_node = 0;  // on the top level
  uint32_t top_level = 0;   // 0: there are no levels above, and entry_slot is where walks begin
  uint32_t entry_slot = 0;

  const uint32_t* links_of(uint32_t slot) const { return links + size_t{slot} * degree; }
  const uint32_t* upper_links_of(uint32_t node, uint32_t level) const {
    return upper_links.data() + size_t{upper_offsets[node] + level - 1} * upper_degree;
  }
};

}  // namespace vectable
