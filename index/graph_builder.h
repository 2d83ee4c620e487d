#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/metric.h"
#include "index/graph.h"
#include "index/graph_walk.h"
#include "index/kernels/code_dots.h"
#include "index/large_array.h"
#include "index/row_block.h"
#include "index/search_codes.h"

namespace vectable {

struct GraphOptions {
  uint32_t degree = 32;  // links of a slot on level 0, 4 to 64; half as many on the levels above
  uint32_t width = 200;  // of the walks that look for links ("efConstruction")
  size_t threads = 1;
  std::function<bool()> stop;  // asked now and then by every thread; may be empty
};

// A graph and the memory it lies in.
struct GraphData {
  Graph graph;
  LargeArray<uint32_t> links;
  std::vector<uint32_t> upper_slots;
  std::vector<uint32_t> upper_offsets;
  std::vector<uint32_t> upper_links;
};

// The whole codes of rows, each row's followed by its scale, and their norms but under cosine.
class BuildCodes {
 public:
  BuildCodes(const SearchCoder& coder, size_t slots);

  // Takes the row at place `i` of such columns as that of the slot.
  void Set(size_t slot, const RowColumns& columns, size_t i);

  size_t slots() const { return slots_; }
  size_t dimensions() const { return dimensions_; }
  CodeRows rows() const { return {codes_.get(), stride_, dimensions_}; }
  float scale(size_t slot) const {
    float scale;
    std::memcpy(&scale, codes_.get() + (slot + 1) * stride_ - sizeof(scale), sizeof(scale));
    return scale;
  }
  float norm(size_t slot) const { return norms_.empty() ? 1 : norms_[slot]; }

 private:
  size_t slots_;
  size_t dimensions_;
  size_t stride_;
  LargeArray<int8_t> codes_;
  std::vector<float> norms_;
};

// Builds a graph over rows by their whole codes: each row in turn is linked to those of its nearest
// that lie in different directions, and they to it (Malkov and Yashunin, algorithms 1, 2 and 4).
//
// Not FAISS's own construction, whose distances are one virtual call each: here a list's scores are
// computed together and its rows fetched ahead. Lists may grow half again as long as they end, so
// that one is thinned out once in many additions. One thread gives the same graph every time;
// several give one that depends on their timing a little.
class GraphBuilder {
 public:
  // Norms are at most 4e18, so that scores are finite.
  GraphBuilder(Metric metric, BuildCodes codes, GraphOptions options);
  ~GraphBuilder();

  // Takes in the next slots, up to `end`. False when it was told to stop; the builder is then of no
  // use.
  bool AddUpTo(size_t end);

  // The graph of the slots taken in.
  GraphData Finish() const;

 private:
  using Link = std::atomic<uint32_t>;
  // A list of links: its length, then slots.
  struct List {
    Link* size;
    Link* slots;
  };
  struct Scored {
    float score;
    uint32_t slot;
  };
  // A row taken as a query.
  class RowQuery;
  struct Worker;

  uint32_t LevelOf(uint32_t slot) const;
  List ListOf(uint32_t slot, uint32_t level) const;
  size_t Room(uint32_t level) const { return level == 0 ? base_room_ : upper_room_; }
  size_t Degree(uint32_t level) const { return level == 0 ? options_.degree : options_.degree / 2; }

  void Run(Worker& worker);
  void Insert(Worker& worker, uint32_t slot);
  // Adds slots around the entry to the worker's pool; the best one is the next level's entry.
  void SearchLevel(Worker& worker, const RowQuery& query, uint32_t level, uint32_t entry,
                   size_t width) const;
  uint32_t Descend(const RowQuery& query, uint32_t level, uint32_t entry) const;
  size_t CopyList(uint32_t slot, uint32_t level, uint32_t* out) const;
  // Of candidates of `slot`, nearest first, those to link to.
  void Choose(Worker& worker, uint32_t slot, const std::vector<Scored>& candidates, size_t most,
              std::vector<Scored>& chosen) const;
  void Lock(uint32_t slot);  // its lists; to be let go by a store to locks_
  void StoreOwnList(uint32_t slot, uint32_t level, const std::vector<Scored>& chosen);
  // The slot's list on level 0 as the graph has it, filled up with kNoSlot.
  void FinishList(Worker& worker, uint32_t slot, uint32_t* links) const;
  void LinkBack(Worker& worker, uint32_t from, uint32_t to, float score, uint32_t level);
  // A score seen from `to`, given the one seen from `from`.
  float Turned(float score, uint32_t from, uint32_t to) const;

  const Metric metric_;
  const BuildCodes codes_;
  const size_t slots_;
  const GraphOptions options_;
  const size_t base_room_;  // links that a list can hold while it grows
  const size_t upper_room_;
  std::vector<int32_t> sums_;          // of each row's codes
  LargeArray<Link> base_;              // slots x (1 + base_room_)
  std::vector<uint32_t> upper_index_;  // of slots on the levels above, into upper_; by slot
  std::unique_ptr<Link[]> upper_;      // lists x (1 + upper_room_)
  std::unique_ptr<std::atomic<bool>[]> locks_;  // of slots' lists
  std::atomic<size_t> next_{0};
  size_t end_ = 0;
  std::atomic<bool> stopped_{false};

  mutable absl::Mutex entry_mu_;    // held while a slot that rises above all others comes in
  std::atomic<uint64_t> entry_{0};  // level << 32 | slot
  bool any_ = false;
};

}  // namespace vectable
