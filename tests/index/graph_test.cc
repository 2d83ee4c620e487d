// Graphs as they are built, and walks along them.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "common/vector_math.h"
#include "gtest/gtest.h"
#include "index/graph_builder.h"
#include "index/graph_walk.h"
#include "index/search_codes.h"
#include "tests/common/test_seed.h"
#include "tests/index/index_model.h"
#include "tests/index/test_data.h"

namespace vectable {
namespace {

// Rows with the columns that a graph is built from.
class GraphRows {
 public:
  GraphRows(Metric metric, std::vector<Vector> vectors)
      : metric_(metric),
        coder_(metric, vectors.front().size()),
        vectors_(std::move(vectors)),
        coarse_(AllocateCodes(vectors_.size() * coder_.coarse_stride(), false)),
        fine_(AllocateCodes(vectors_.size() * coder_.fine_stride(), false)) {
    std::vector<int8_t> scratch;
    for (size_t i = 0; i < vectors_.size(); ++i) {
      const double squared_norm = SquaredNormInDouble(vectors_[i]);
      coder_.EncodeRow(vectors_[i], squared_norm, coarse_.get() + i * coder_.coarse_stride(),
                       fine_.get() + i * coder_.fine_stride(), scratch);
      norms_.push_back(SearchCoder::Norm(squared_norm));
    }
    columns_.coarse = coder_.coarse(coarse_.get());
    columns_.fine = coder_.fine(fine_.get());
    if (coder_.has_norms()) columns_.norms = norms_.data();
  }

  BuildCodes build_codes() const {
    BuildCodes codes(coder_, size());
    for (size_t i = 0; i < size(); ++i) codes.Set(i, columns_, i);
    return codes;
  }
  Metric metric() const { return metric_; }
  const RowColumns& columns() const { return columns_; }
  size_t size() const { return vectors_.size(); }

  // The slots of the pool, or of all rows, by their true scores.
  std::vector<uint32_t> Ranked(const Vector& query, std::vector<uint32_t> slots, size_t k) const {
    const double squared_norm = SquaredNormInDouble(query);
    std::vector<std::pair<double, uint32_t>> scored;
    for (const uint32_t slot : slots) {
      const Vector& row = vectors_[slot];
      scored.emplace_back(-Score(metric_, query, squared_norm, row, SquaredNormInDouble(row)),
                          slot);
    }
    std::sort(scored.begin(), scored.end());
    std::vector<uint32_t> ranked;
    for (size_t i = 0; i < std::min(k, scored.size()); ++i) ranked.push_back(scored[i].second);
    return ranked;
  }
  std::vector<uint32_t> AllSlots() const {
    std::vector<uint32_t> slots(size());
    for (uint32_t i = 0; i < slots.size(); ++i) slots[i] = i;
    return slots;
  }

  // The slots that count after a walk for the query.
  std::vector<uint32_t> Walk(const Graph& graph, const Vector& query, const WalkFilter& filter,
                             size_t width) const {
    const CodedQuery coded(metric_, query);
    WalkScratch scratch(size());
    WalkGraph(graph, WalkQuery(metric_, columns_, coded), filter, width, scratch);
    std::vector<uint32_t> slots;
    for (size_t i = 0; i < scratch.pool.size(); ++i) {
      if (scratch.pool.counts(i)) slots.push_back(scratch.pool.slot(i));
    }
    return slots;
  }

 private:
  const Metric metric_;
  const SearchCoder coder_;
  const std::vector<Vector> vectors_;
  const LargeArray<char> coarse_;
  const LargeArray<char> fine_;
  std::vector<float> norms_;
  RowColumns columns_;
};

std::vector<Vector> Vectors(TestData& data, size_t count) {
  std::vector<Vector> vectors;
  for (size_t i = 0; i < count; ++i) vectors.push_back(data.Next());
  return vectors;
}

// Rows close about a few centres.
std::vector<Vector> Clusters(TestData& data, size_t count, size_t clusters) {
  const std::vector<Vector> centres = Vectors(data, clusters);
  std::vector<Vector> vectors;
  for (size_t i = 0; i < count; ++i) {
    Vector vector = centres[data.random()() % clusters];
    const Vector offset = data.Next();
    for (size_t d = 0; d < vector.size(); ++d) vector[d] += 0.1F * offset[d];
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

GraphOptions SmallOptions() {
  GraphOptions options;
  options.degree = 16;
  options.width = 100;
  return options;
}

GraphData Build(const GraphRows& rows, const GraphOptions& options) {
  GraphBuilder builder(rows.metric(), rows.build_codes(), options);
  EXPECT_TRUE(builder.AddUpTo(rows.size()));
  return builder.Finish();
}

// Checks one list: distinct entries below `end`, not `self`, then kNoSlot to the end.
void CheckList(const uint32_t* links, uint32_t degree, uint32_t self, size_t end) {
  std::set<uint32_t> seen;
  uint32_t i = 0;
  for (; i < degree && links[i] != kNoSlot; ++i) {
    ASSERT_LT(links[i], end);
    ASSERT_NE(links[i], self);
    ASSERT_TRUE(seen.insert(links[i]).second) << "twice in a list: " << links[i];
  }
  for (; i < degree; ++i) ASSERT_EQ(links[i], kNoSlot);
}

void CheckLinks(const Graph& graph, size_t slots, const GraphOptions& options) {
  ASSERT_EQ(graph.degree, options.degree);
  ASSERT_EQ(graph.upper_degree, options.degree / 2);
  for (uint32_t slot = 0; slot < slots; ++slot) {
    ASSERT_NO_FATAL_FAILURE(CheckList(graph.links_of(slot), graph.degree, slot, slots));
  }
  const size_t nodes = graph.upper_slots.size();
  ASSERT_EQ(graph.upper_offsets.size(), nodes + 1);
  ASSERT_EQ(graph.upper_links.size(), size_t{graph.upper_offsets.back()} * graph.upper_degree);
  const auto level_of = [&](uint32_t node) {
    return graph.upper_offsets[node + 1] - graph.upper_offsets[node];
  };
  for (uint32_t node = 0; node < nodes; ++node) {
    ASSERT_LT(graph.upper_slots[node], slots);
    ASSERT_GT(level_of(node), 0U);
    ASSERT_LE(level_of(node), graph.top_level);
    for (uint32_t level = 1; level <= level_of(node); ++level) {
      const uint32_t* const links = graph.upper_links_of(node, level);
      ASSERT_NO_FATAL_FAILURE(CheckList(links, graph.upper_degree, node, nodes));
      for (uint32_t i = 0; i < graph.upper_degree && links[i] != kNoSlot; ++i) {
        ASSERT_GE(level_of(links[i]), level);
      }
    }
  }
  ASSERT_LT(graph.entry_slot, slots);
  if (graph.top_level > 0) {
    ASSERT_EQ(graph.upper_slots[graph.entry_node], graph.entry_slot);
    ASSERT_EQ(level_of(graph.entry_node), graph.top_level);
  }
}

// How many slots the links of level 0 lead to from the entry, itself among them.
size_t Reached(const Graph& graph, size_t slots) {
  std::vector<bool> seen(slots);
  std::vector<uint32_t> left = {graph.entry_slot};
  seen[graph.entry_slot] = true;
  size_t reached = 0;
  while (!left.empty()) {
    const uint32_t* const links = graph.links_of(left.back());
    left.pop_back();
    ++reached;
    for (uint32_t i = 0; i < graph.degree && links[i] != kNoSlot; ++i) {
      if (seen[links[i]]) continue;
      seen[links[i]] = true;
      left.push_back(links[i]);
    }
  }
  return reached;
}

bool SameGraph(const GraphData& a, const GraphData& b, size_t slots) {
  return std::memcmp(a.graph.links, b.graph.links, slots * a.graph.degree * sizeof(uint32_t)) ==
             0 &&
         a.upper_slots == b.upper_slots && a.upper_offsets == b.upper_offsets &&
         a.upper_links == b.upper_links && a.graph.entry_slot == b.graph.entry_slot &&
         a.graph.entry_node == b.graph.entry_node && a.graph.top_level == b.graph.top_level;
}

class GraphTest : public testing::TestWithParam<Metric> {
 protected:
  static constexpr size_t kDimensions = 16;
  static constexpr size_t kRows = 2000;

  GraphRows RandomRows(size_t count = kRows) { return {GetParam(), Vectors(data_, count)}; }
  GraphRows ClusteredRows() { return {GetParam(), Clusters(data_, kRows, 20)}; }

  // The share of the true 10 nearest that walks find, of rows that the filter allows.
  double Recall(const GraphRows& rows, const Graph& graph, const WalkFilter& filter, size_t width,
                const std::vector<Vector>& queries) {
    std::vector<uint32_t> allowed = rows.AllSlots();
    std::erase_if(allowed, [&](uint32_t slot) { return !filter.Allows(slot); });
    size_t found = 0;
    for (const Vector& query : queries) {
      const std::vector<uint32_t> truth = rows.Ranked(query, allowed, 10);
      for (const uint32_t slot : rows.Ranked(query, rows.Walk(graph, query, filter, width), 10)) {
        found += std::count(truth.begin(), truth.end(), slot);
      }
    }
    return static_cast<double>(found) / static_cast<double>(10 * queries.size());
  }

  TestData data_{Data::kRandom, kDimensions, TestSeed()};
};

TEST_P(GraphTest, ListsHoldDistinctSlotsUpToTheDegree) {
  for (const GraphRows& rows : {RandomRows(), ClusteredRows()}) {
    const GraphData data = Build(rows, SmallOptions());
    CheckLinks(data.graph, rows.size(), SmallOptions());
  }
}

// Thinned lists promise no more. Under dot, short rows are near to none, and of a cluster only its
// long rows are.
TEST_P(GraphTest, NearlyEverySlotIsReached) {
  const bool dot = GetParam() == Metric::kDot;
  const GraphRows random = RandomRows();
  const GraphData of_random = Build(random, SmallOptions());
  EXPECT_GE(Reached(of_random.graph, kRows), (dot ? 0.95 : 0.995) * kRows);
  const GraphRows clustered = ClusteredRows();
  const GraphData of_clustered = Build(clustered, SmallOptions());
  EXPECT_GE(Reached(of_clustered.graph, kRows), (dot ? 0.4 : 0.96) * kRows);
}

TEST_P(GraphTest, OneThreadGivesTheSameGraphEveryTime) {
  const GraphRows rows = RandomRows();
  EXPECT_TRUE(SameGraph(Build(rows, SmallOptions()), Build(rows, SmallOptions()), rows.size()));
}

TEST_P(GraphTest, SlotsMayBeAddedInParts) {
  const GraphRows rows = RandomRows();
  GraphBuilder builder(GetParam(), rows.build_codes(), SmallOptions());
  ASSERT_TRUE(builder.AddUpTo(kRows / 3));
  const GraphData part = builder.Finish();
  CheckLinks(part.graph, kRows / 3, SmallOptions());
  ASSERT_TRUE(builder.AddUpTo(kRows));
  EXPECT_TRUE(SameGraph(builder.Finish(), Build(rows, SmallOptions()), kRows));
}

TEST_P(GraphTest, SeveralThreadsGiveAGraphAsGood) {
  const GraphRows rows = RandomRows();
  GraphOptions options = SmallOptions();
  options.threads = 4;
  const GraphData data = Build(rows, options);
  ASSERT_NO_FATAL_FAILURE(CheckLinks(data.graph, rows.size(), options));
  EXPECT_GE(Recall(rows, data.graph, {}, 200, Vectors(data_, 50)), 0.95);
}

TEST_P(GraphTest, AWideWalkFindsTheNearest) {
  const GraphRows rows = RandomRows(3000);
  const GraphData data = Build(rows, SmallOptions());
  EXPECT_GE(Recall(rows, data.graph, {}, 200, Vectors(data_, 100)), 0.95);
}

TEST_P(GraphTest, AWalkGivesItsWidthOfSlotsEachOnce) {
  const GraphRows rows = RandomRows();
  const GraphData data = Build(rows, SmallOptions());
  for (const size_t width : {1, 10, 150}) {
    const std::vector<uint32_t> slots = rows.Walk(data.graph, data_.Next(), {}, width);
    EXPECT_EQ(slots.size(), width);
    EXPECT_EQ(std::set<uint32_t>(slots.begin(), slots.end()).size(), width);
  }
}

TEST_P(GraphTest, AWalkPassesThroughSlotsThatDoNotCount) {
  const GraphRows rows = RandomRows();
  const GraphData data = Build(rows, SmallOptions());
  std::vector<uint64_t> row_ids(rows.size());
  std::vector<DeathMark> dead_at(rows.size());
  for (size_t slot = 0; slot < rows.size(); ++slot) {
    row_ids[slot] = slot % 2;
    if (slot % 3 != 0) dead_at[slot] = 1 + slot % 2;
  }
  WalkFilter filter;
  filter.dead_at = dead_at.data();
  filter.version = 1;  // those dead in 2 live
  filter.row_ids = row_ids.data();
  filter.end = 1;
  filter.excluded = {0, 6, 12};
  const std::vector<Vector> queries = Vectors(data_, 30);
  for (const Vector& query : queries) {
    const std::vector<uint32_t> slots = rows.Walk(data.graph, query, filter, 100);
    EXPECT_EQ(slots.size(), 100U);
    for (const uint32_t slot : slots) {
      ASSERT_EQ(slot % 6, 0U);
      ASSERT_GT(slot, 12U);
    }
  }
  EXPECT_GE(Recall(rows, data.graph, filter, 100, queries), 0.95);
}

TEST_P(GraphTest, StopEndsIt) {
  const GraphRows rows = RandomRows();
  for (const size_t threads : {1, 3}) {
    std::atomic<int> looks = 0;
    GraphOptions options = SmallOptions();
    options.threads = threads;
    options.stop = [&looks] { return ++looks > 4; };
    GraphBuilder builder(GetParam(), rows.build_codes(), options);
    EXPECT_FALSE(builder.AddUpTo(rows.size()));
    EXPECT_LE(looks, 4 + static_cast<int>(threads));
  }
}

// As long as no list is full.
TEST_P(GraphTest, FewRowsAreAllFound) {
  for (const size_t count : {1, 2, 3, 10, 17}) {
    const GraphRows rows = RandomRows(count);
    const GraphData data = Build(rows, SmallOptions());
    ASSERT_NO_FATAL_FAILURE(CheckLinks(data.graph, count, SmallOptions()));
    std::vector<uint32_t> slots = rows.Walk(data.graph, data_.Next(), {}, 100);
    std::sort(slots.begin(), slots.end());
    EXPECT_EQ(slots, rows.AllSlots());
  }
}

TEST_P(GraphTest, EqualRowsWork) {
  const GraphRows rows(GetParam(), std::vector<Vector>(500, data_.Next()));
  const GraphData data = Build(rows, SmallOptions());
  ASSERT_NO_FATAL_FAILURE(CheckLinks(data.graph, rows.size(), SmallOptions()));
  EXPECT_EQ(rows.Walk(data.graph, data_.Next(), {}, 10).size(), 10U);
}

INSTANTIATE_TEST_SUITE_P(Metrics, GraphTest,
                         testing::Values(Metric::kCosine, Metric::kDot, Metric::kEuclidean),
                         [](const auto& test) { return std::string(MetricName(test.param)); });

TEST(WalkPoolTest, KeepsTheNearestInOrder) {
  WalkPool pool;
  pool.Begin(3);
  for (const uint32_t slot : {5, 1, 4, 2, 3}) pool.Add(static_cast<float>(slot), slot, true);
  ASSERT_EQ(pool.size(), 3U);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(pool.slot(i), 5 - i);
  EXPECT_EQ(pool.worst(), 3.0F);
}

TEST(WalkPoolTest, SlotsThatDoNotCountTakeNoPlace) {
  WalkPool pool;
  pool.Begin(2);
  for (uint32_t slot = 0; slot < 10; ++slot) {
    pool.Add(static_cast<float>(slot), slot, slot == 3 || slot == 6);
  }
  // Those nearer than the last that counts stay.
  ASSERT_EQ(pool.size(), 7U);
  EXPECT_EQ(pool.slot(6), 3U);
  EXPECT_TRUE(pool.counts(6));
  EXPECT_FALSE(pool.counts(0));
}

TEST(WalkPoolTest, EachSlotIsTakenOnceNearestFirst) {
  WalkPool pool;
  pool.Begin(10);
  pool.Add(1, 11, true);
  pool.Add(3, 33, false);
  EXPECT_EQ(pool.TakeNext(), 33U);
  pool.Add(4, 44, true);
  EXPECT_EQ(pool.TakeNext(), 44U);
  EXPECT_EQ(pool.TakeNext(), 11U);
  EXPECT_EQ(pool.TakeNext(), kNoSlot);
}

TEST(VisitMarksTest, ManyWalksDoNotMixUp) {
  VisitMarks marks(2);
  for (int walk = 0; walk < 600; ++walk) {
    marks.Begin();
    ASSERT_TRUE(marks.Visit(0));
    ASSERT_FALSE(marks.Visit(0));
    if (walk % 100 != 0) continue;
    ASSERT_TRUE(marks.Visit(1));
  }
}

}  // namespace
}  // namespace vectable
