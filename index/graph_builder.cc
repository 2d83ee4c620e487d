#include "index/graph_builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <thread>

#include "index/background_threads.h"
#include "index/row_hash.h"

namespace vectable {
namespace {

constexpr uint32_t kMostLevels = 16;
constexpr size_t kSlotsPerLook = 64;  // between looks at whether to stop

// Half again the degree, and up to a whole cache line with the list's length.
size_t BaseRoom(size_t degree) {
  constexpr size_t kLine = kCacheLine / sizeof(uint32_t);
  const size_t lines = (degree + degree / 2 + kLine - 1) / kLine;
  return std::min(lines * kLine - 1, kMostLinks - 1);
}

}  // namespace

class GraphBuilder::RowQuery {
 public:
  explicit RowQuery(size_t dimensions) : codes_(PaddedCodes(dimensions), 0) {}

  void Set(const GraphBuilder& builder, uint32_t slot) {
    builder_ = &builder;
    const CodeRows rows = builder.codes_.rows();
    std::memcpy(codes_.data(), rows.row(slot), rows.dimensions);
    sum_ = builder.sums_[slot];
    factor_ = builder.codes_.scale(slot);
  }

  // scores[i] = that of slots[i], for at most kMostLinks slots.
  void Score(const uint32_t* slots, size_t count, float* scores) const {
    int32_t dots[kMostLinks];
    const BuildCodes& codes = builder_->codes_;
    DotCodesAt({codes_.data(), sum_}, codes.rows(), slots, count, dots);
    for (size_t i = 0; i < count; ++i) {
      scores[i] = factor_ * codes.scale(slots[i]) * static_cast<float>(dots[i]);
    }
    if (builder_->metric_ != Metric::kEuclidean) return;
    for (size_t i = 0; i < count; ++i) {
      const float norm = codes.norm(slots[i]);
      scores[i] -= 0.5F * norm * norm;
    }
  }
  // Starts to fetch what a score of the slot will need.
  void Prefetch(uint32_t slot) const {
    const CodeRows rows = builder_->codes_.rows();
    const char* const row = reinterpret_cast<const char*>(rows.row(slot));
    for (size_t i = 0; i < rows.stride; i += kCacheLine) __builtin_prefetch(row + i);
    __builtin_prefetch(row + rows.stride - 1);
  }

 private:
  std::vector<int8_t> codes_;
  const GraphBuilder* builder_ = nullptr;
  int32_t sum_ = 0;
  float factor_ = 0;
};

// What one thread works with.
struct GraphBuilder::Worker {
  Worker(size_t slots, size_t dimensions)
      : scratch(slots), query(dimensions), candidate(dimensions), other(dimensions) {}

  WalkScratch scratch;
  RowQuery query;
  RowQuery candidate;
  RowQuery other;
  std::vector<Scored> candidates;
  std::vector<Scored> chosen;
  std::vector<Scored> thinned;
};

BuildCodes::BuildCodes(const SearchCoder& coder, size_t slots)
    : slots_(slots),
      dimensions_(coder.dimensions()),
      stride_((dimensions_ + 3) / 4 * 4 + sizeof(float)),
      codes_(AllocateLarge<int8_t>(slots * stride_ + kReadBeyond, true)),
      norms_(coder.has_norms() ? slots : 0) {
  std::memset(codes_.get(), 0, slots * stride_ + kReadBeyond);
}

void BuildCodes::Set(size_t slot, const RowColumns& columns, size_t i) {
  JoinCodes(columns.coarse.row(i), columns.fine.row(i), dimensions_, codes_.get() + slot * stride_);
  const float scale = columns.coarse.scale(i);
  std::memcpy(codes_.get() + (slot + 1) * stride_ - sizeof(scale), &scale, sizeof(scale));
  if (!norms_.empty()) norms_[slot] = columns.norms[i];
}

GraphBuilder::GraphBuilder(Metric metric, BuildCodes codes, GraphOptions options)
    : metric_(metric),
      codes_(std::move(codes)),
      slots_(codes_.slots()),
      options_(std::move(options)),
      base_room_(BaseRoom(options_.degree)),
      upper_room_(options_.degree / 2),
      sums_(slots_),
      base_(AllocateLarge<Link>(slots_ * (1 + base_room_), true)),
      upper_index_(slots_, kNoSlot),
      locks_(std::make_unique<std::atomic<bool>[]>(slots_)) {
  uint32_t lists = 0;
  for (size_t slot = 0; slot < slots_; ++slot) {
    sums_[slot] = SumOfCodes(codes_.rows().row(slot), codes_.dimensions());
    new (&base_[slot * (1 + base_room_)]) Link(0);
    const uint32_t level = LevelOf(static_cast<uint32_t>(slot));
    if (level == 0) continue;
    upper_index_[slot] = lists;
    lists += level;
  }
  upper_ = std::make_unique<Link[]>(size_t{lists} * (1 + upper_room_));
}

GraphBuilder::~GraphBuilder() = default;

// Drawn by the slot's number: the levels don't depend on which thread comes first.
uint32_t GraphBuilder::LevelOf(uint32_t slot) const {
  const double uniform = (static_cast<double>(HashRowId(slot + 0x5eedULL) >> 11) + 0.5) * 0x1p-53;
  const double level = -std::log(uniform) / std::log(options_.degree / 2.0);
  return std::min(static_cast<uint32_t>(level), kMostLevels - 1);
}

GraphBuilder::List GraphBuilder::ListOf(uint32_t slot, uint32_t level) const {
  Link* const list = level == 0
                         ? &base_[size_t{slot} * (1 + base_room_)]
                         : &upper_[size_t{upper_index_[slot] + level - 1} * (1 + upper_room_)];
  return {list, list + 1};
}

float GraphBuilder::Turned(float score, uint32_t from, uint32_t to) const {
  if (metric_ != Metric::kEuclidean) return score;
  const float from_norm = codes_.norm(from);
  const float to_norm = codes_.norm(to);
  return score + 0.5F * (to_norm * to_norm - from_norm * from_norm);
}

size_t GraphBuilder::CopyList(uint32_t slot, uint32_t level, uint32_t* out) const {
  const List list = ListOf(slot, level);
  const size_t size = list.size->load(std::memory_order_acquire);
  for (size_t i = 0; i < size; ++i) out[i] = list.slots[i].load(std::memory_order_relaxed);
  return size;
}

bool GraphBuilder::AddUpTo(size_t end) {
  end_ = end;
  RunInBackground(options_.threads, [this] {
    Worker worker(slots_, codes_.dimensions());
    Run(worker);
  });
  return !stopped_;
}

void GraphBuilder::Run(Worker& worker) {
  for (size_t done = 0; !stopped_.load(std::memory_order_relaxed); ++done) {
    if (done % kSlotsPerLook == 0 && options_.stop && options_.stop()) {
      stopped_ = true;
      return;
    }
    const size_t slot = next_.fetch_add(1, std::memory_order_relaxed);
    if (slot >= end_) {
      next_.store(end_, std::memory_order_relaxed);
      return;
    }
    Insert(worker, static_cast<uint32_t>(slot));
  }
}

void GraphBuilder::Insert(Worker& worker, uint32_t slot) {
  const uint32_t level = LevelOf(slot);
  {
    absl::MutexLock lock(&entry_mu_);
    if (!any_) {
      any_ = true;
      entry_ = uint64_t{level} << 32 | slot;
      return;
    }
  }
  uint64_t entry = entry_.load(std::memory_order_acquire);
  const auto top = static_cast<uint32_t>(entry >> 32);
  auto at = static_cast<uint32_t>(entry);
  worker.query.Set(*this, slot);
  for (uint32_t l = top; l > level; --l) at = Descend(worker.query, l, at);
  if (at == slot) at = static_cast<uint32_t>(entry);
  for (uint32_t l = std::min(top, level);; --l) {
    SearchLevel(worker, worker.query, l, at, options_.width);
    const WalkPool& pool = worker.scratch.pool;
    worker.candidates.clear();
    // The slot may be there already: other threads link to it from the levels above.
    for (size_t i = 0; i < pool.size(); ++i) {
      if (pool.slot(i) != slot) worker.candidates.push_back({pool.score(i), pool.slot(i)});
    }
    if (!worker.candidates.empty()) at = worker.candidates.front().slot;
    Choose(worker, slot, worker.candidates, Degree(l), worker.chosen);
    StoreOwnList(slot, l, worker.chosen);
    const std::vector<Scored> chosen = worker.chosen;
    for (const Scored& one : chosen) {
      LinkBack(worker, one.slot, slot, Turned(one.score, slot, one.slot), l);
    }
    if (l == 0) break;
  }
  if (level > top) {
    absl::MutexLock lock(&entry_mu_);
    entry = entry_.load(std::memory_order_relaxed);
    if (level > entry >> 32) entry_.store(uint64_t{level} << 32 | slot, std::memory_order_release);
  }
}

void GraphBuilder::Lock(uint32_t slot) {
  while (locks_[slot].exchange(true, std::memory_order_acquire)) std::this_thread::yield();
}

void GraphBuilder::StoreOwnList(uint32_t slot, uint32_t level, const std::vector<Scored>& chosen) {
  Lock(slot);
  const List own = ListOf(slot, level);
  // What other threads have put there stays, as far as there is room.
  uint32_t others[kMostLinks];
  const size_t linked = CopyList(slot, level, others);
  size_t size = chosen.size();
  for (size_t i = 0; i < size; ++i) {
    own.slots[i].store(chosen[i].slot, std::memory_order_relaxed);
  }
  for (size_t i = 0; i < linked && size < Room(level); ++i) {
    const bool again = std::any_of(chosen.begin(), chosen.end(),
                                   [&](const Scored& one) { return one.slot == others[i]; });
    if (!again) own.slots[size++].store(others[i], std::memory_order_relaxed);
  }
  own.size->store(static_cast<uint32_t>(size), std::memory_order_release);
  locks_[slot].store(false, std::memory_order_release);
}

uint32_t GraphBuilder::Descend(const RowQuery& query, uint32_t level, uint32_t entry) const {
  uint32_t slots[kMostLinks];
  float scores[kMostLinks];
  float best;
  query.Score(&entry, 1, &best);
  while (true) {
    const size_t count = CopyList(entry, level, slots);
    if (count == 0) return entry;
    for (size_t i = 0; i < count; ++i) query.Prefetch(slots[i]);
    query.Score(slots, count, scores);
    const size_t nearest = std::max_element(scores, scores + count) - scores;
    if (!(scores[nearest] > best)) return entry;
    best = scores[nearest];
    entry = slots[nearest];
  }
}

void GraphBuilder::SearchLevel(Worker& worker, const RowQuery& query, uint32_t level,
                               uint32_t entry, size_t width) const {
  WalkPool& pool = worker.scratch.pool;
  VisitMarks& marks = worker.scratch.marks;
  pool.Begin(width);
  marks.Begin();
  uint32_t slots[kMostLinks];
  float scores[kMostLinks];
  query.Score(&entry, 1, scores);
  marks.Visit(entry);
  pool.Add(scores[0], entry, true);
  for (uint32_t slot = pool.TakeNext(); slot != kNoSlot; slot = pool.TakeNext()) {
    const size_t listed = CopyList(slot, level, slots);
    size_t count = 0;
    // Which slots were met before can't be guessed: no branch depends on it.
    for (size_t i = 0; i < listed; ++i) {
      const uint32_t linked = slots[i];
      query.Prefetch(linked);
      slots[count] = linked;
      count += marks.Visit(linked) ? 1 : 0;
    }
    query.Score(slots, count, scores);
    for (size_t i = 0; i < count; ++i) {
      if (!(scores[i] > pool.worst())) continue;
      pool.Add(scores[i], slots[i], true);
      const List list = ListOf(slots[i], level);
      for (size_t l = 0; l <= Room(level); l += kCacheLine / sizeof(Link)) {
        __builtin_prefetch(list.size + l);
      }
    }
  }
}

void GraphBuilder::Choose(Worker& worker, uint32_t slot, const std::vector<Scored>& candidates,
                          size_t most, std::vector<Scored>& chosen) const {
  chosen.clear();
  uint32_t slots[kMostLinks];
  float scores[8];
  for (const Scored& candidate : candidates) {
    if (chosen.size() == most) break;
    // Out where one chosen before is nearer to it than the slot is: that one leads there.
    const float near = Turned(candidate.score, slot, candidate.slot);
    worker.candidate.Set(*this, candidate.slot);
    bool out = false;
    for (size_t begin = 0; begin < chosen.size() && !out; begin += 8) {
      const size_t count = std::min<size_t>(chosen.size() - begin, 8);
      worker.candidate.Score(slots + begin, count, scores);
      out = std::any_of(scores, scores + count, [near](float score) { return score > near; });
    }
    if (out) continue;
    slots[chosen.size()] = candidate.slot;
    chosen.push_back(candidate);
  }
}

void GraphBuilder::LinkBack(Worker& worker, uint32_t from, uint32_t to, float score,
                            uint32_t level) {
  Lock(from);
  const List list = ListOf(from, level);
  const uint32_t size = list.size->load(std::memory_order_relaxed);
  if (size < Room(level)) {
    list.slots[size].store(to, std::memory_order_relaxed);
    list.size->store(size + 1, std::memory_order_release);
  } else {
    uint32_t slots[kMostLinks];
    float scores[kMostLinks];
    CopyList(from, level, slots);
    worker.other.Set(*this, from);
    worker.other.Score(slots, size, scores);
    worker.candidates.clear();
    for (size_t i = 0; i < size; ++i) worker.candidates.push_back({scores[i], slots[i]});
    worker.candidates.push_back({score, to});
    std::sort(worker.candidates.begin(), worker.candidates.end(),
              [](const Scored& a, const Scored& b) { return a.score > b.score; });
    Choose(worker, from, worker.candidates, Degree(level), worker.thinned);
    for (size_t i = 0; i < worker.thinned.size(); ++i) {
      list.slots[i].store(worker.thinned[i].slot, std::memory_order_relaxed);
    }
    list.size->store(static_cast<uint32_t>(worker.thinned.size()), std::memory_order_release);
  }
  locks_[from].store(false, std::memory_order_release);
}

void GraphBuilder::FinishList(Worker& worker, uint32_t slot, uint32_t* links) const {
  uint32_t listed[kMostLinks];
  float scores[kMostLinks];
  size_t size = CopyList(slot, 0, listed);
  if (size > options_.degree) {
    worker.other.Set(*this, slot);
    worker.other.Score(listed, size, scores);
    worker.candidates.clear();
    for (size_t i = 0; i < size; ++i) worker.candidates.push_back({scores[i], listed[i]});
    std::sort(worker.candidates.begin(), worker.candidates.end(),
              [](const Scored& a, const Scored& b) { return a.score > b.score; });
    Choose(worker, slot, worker.candidates, options_.degree, worker.thinned);
    size = worker.thinned.size();
    for (size_t i = 0; i < size; ++i) listed[i] = worker.thinned[i].slot;
  }
  std::copy_n(listed, size, links);
  std::fill(links + size, links + options_.degree, kNoSlot);
}

GraphData GraphBuilder::Finish() const {
  const size_t slots = end_;
  GraphData data;
  Graph& graph = data.graph;
  graph.degree = options_.degree;
  graph.upper_degree = options_.degree / 2;
  data.links = AllocateLarge<uint32_t>(slots * graph.degree, true);
  std::atomic<size_t> next = 0;
  RunInBackground(options_.threads, [&] {
    Worker worker(0, codes_.dimensions());
    while (true) {
      const size_t begin = next.fetch_add(kSlotsPerLook, std::memory_order_relaxed);
      if (begin >= slots) return;
      for (size_t slot = begin; slot < std::min(begin + kSlotsPerLook, slots); ++slot) {
        FinishList(worker, static_cast<uint32_t>(slot), &data.links[slot * graph.degree]);
      }
    }
  });
  std::vector<uint32_t> node_of(slots, kNoSlot);
  for (uint32_t slot = 0; slot < slots; ++slot) {
    if (LevelOf(slot) == 0) continue;
    node_of[slot] = static_cast<uint32_t>(data.upper_slots.size());
    data.upper_slots.push_back(slot);
  }
  uint32_t listed[kMostLinks];
  for (const uint32_t slot : data.upper_slots) {
    const uint32_t levels = LevelOf(slot);
    data.upper_offsets.push_back(
        static_cast<uint32_t>(data.upper_links.size() / graph.upper_degree));
    for (uint32_t level = 1; level <= levels; ++level) {
      const size_t size = CopyList(slot, level, listed);
      for (size_t i = 0; i < graph.upper_degree; ++i) {
        data.upper_links.push_back(i < size ? node_of[listed[i]] : kNoSlot);
      }
    }
  }
  data.upper_offsets.push_back(
      static_cast<uint32_t>(data.upper_links.size() / std::max(graph.upper_degree, 1U)));
  const uint64_t entry = entry_;
  graph.top_level = static_cast<uint32_t>(entry >> 32);
  graph.entry_slot = static_cast<uint32_t>(entry);
  graph.entry_node = graph.top_level > 0 ? node_of[graph.entry_slot] : 0;
  graph.links = data.links.get();
  graph.upper_slots = data.upper_slots;
  graph.upper_offsets = data.upper_offsets;
  graph.upper_links = data.upper_links;
  return data;
}

}  // namespace vectable
