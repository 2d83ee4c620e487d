#include "index/graph_walk.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace vectable {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

// The nearest node to the query on the level, from a node on it.
uint32_t Descend(const Graph& graph, const CoarseQuery& query, uint32_t level, uint32_t node,
                 float& best) {
  uint32_t slots[kMostLinks];
  float scores[kMostLinks];
  while (true) {
    const uint32_t* const links = graph.upper_links_of(node, level);
    size_t count = 0;
    while (count < graph.upper_degree && links[count] != kNoSlot) {
      slots[count] = graph.upper_slots[links[count]];
      __builtin_prefetch(query.rows.row(slots[count]));
      ++count;
    }
    if (count == 0) return node;
    ScoreCoarseAt(query, slots, count, scores);
    const size_t nearest = std::max_element(scores, scores + count) - scores;
    if (!(scores[nearest] > best)) return node;
    best = scores[nearest];
    node = links[nearest];
  }
}

}  // namespace

CoarseQuery WalkQuery(Metric metric, const RowColumns& columns, const CodedQuery& coded) {
  return {coded.query(),
          coded.bounds.factor,
          columns.coarse,
          {columns.norms, metric == Metric::kEuclidean}};
}

void WalkPool::Begin(size_t width) {
  width_ = width;
  counting_ = 0;
  next_ = 0;
  worst_ = kNothing;
  scores_.clear();
  slots_.clear();
}

void WalkPool::Add(float score, uint32_t slot, bool counts) {
  if (!(score > worst_)) return;
  // The place, by a search without branches that could be guessed wrong.
  size_t place = 0;
  for (size_t left = scores_.size(); left > 0;) {
    const size_t half = (left + 1) / 2;
    place += scores_[place + half - 1] >= score ? half : 0;
    left -= half;
  }
  scores_.push_back(0);
  slots_.push_back(0);
  const size_t moved = scores_.size() - 1 - place;
  float* const scores = scores_.data() + place;
  uint32_t* const slots = slots_.data() + place;
  std::memmove(scores + 1, scores, moved * sizeof(float));
  std::memmove(slots + 1, slots, moved * sizeof(uint32_t));
  scores_[place] = score;
  slots_[place] = counts ? slot : slot | kSkipped;
  next_ = std::min(next_, place);
  counting_ += counts ? 1 : 0;
  if (counting_ >= width_) DropWorst();
}

void WalkPool::DropWorst() {
  while (counting_ > width_ || !counts(scores_.size() - 1)) {
    counting_ -= counts(scores_.size() - 1) ? 1 : 0;
    scores_.pop_back();
    slots_.pop_back();
  }
  next_ = std::min(next_, scores_.size());
  worst_ = scores_.back();
}

uint32_t WalkPool::TakeNext() {
  while (next_ < slots_.size() && (slots_[next_] & kTaken) != 0) ++next_;
  if (next_ == slots_.size()) return kNoSlot;
  const uint32_t taken = slots_[next_] & kSlotMask;
  slots_[next_++] |= kTaken;
  return taken;
}

std::unique_ptr<WalkScratch> WalkScratchPool::Take() {
  {
    absl::MutexLock lock(&mu_);
    if (!free_.empty()) {
      std::unique_ptr<WalkScratch> scratch = std::move(free_.back());
      free_.pop_back();
      return scratch;
    }
    ++made_;
  }
  return std::make_unique<WalkScratch>(slots_);
}

void WalkScratchPool::Return(std::unique_ptr<WalkScratch> scratch) {
  absl::MutexLock lock(&mu_);
  free_.push_back(std::move(scratch));
}

size_t WalkScratchPool::bytes() const {
  absl::MutexLock lock(&mu_);
  return made_ * slots_;
}

void WalkGraph(const Graph& graph, const CoarseQuery& query, const WalkFilter& filter, size_t width,
               WalkScratch& scratch) {
  const bool all = filter.all();
  WalkPool& pool = scratch.pool;
  VisitMarks& marks = scratch.marks;
  pool.Begin(width);
  const uint8_t walk = marks.Begin();
  uint32_t start = graph.entry_slot;
  float score;
  if (graph.top_level > 0) {
    uint32_t node = graph.entry_node;
    start = graph.upper_slots[node];
    ScoreCoarseAt(query, &start, 1, &score);
    for (uint32_t level = graph.top_level; level > 0; --level) {
      node = Descend(graph, query, level, node, score);
    }
    start = graph.upper_slots[node];
  } else {
    ScoreCoarseAt(query, &start, 1, &score);
  }
  marks.Visit(start);
  pool.Add(score, start, all || filter.Allows(start));

  uint32_t slots[kMostLinks + 16];
  float scores[kMostLinks + 16];
  for (uint32_t slot = pool.TakeNext(); slot != kNoSlot; slot = pool.TakeNext()) {
    const size_t count = ScoreUnvisited(query, graph.links_of(slot), graph.degree, marks.marks(),
                                        walk, pool.worst(), slots, scores);
    for (size_t i = 0; i < count; ++i) {
      if (!(scores[i] > pool.worst())) continue;
      pool.Add(scores[i], slots[i], all || filter.Allows(slots[i]));
      // The lists of slots that come in are likely to be read.
      const char* const list = reinterpret_cast<const char*>(graph.links_of(slots[i]));
      __builtin_prefetch(list);
      __builtin_prefetch(list + 64);
    }
  }
}

}  // namespace vectable
