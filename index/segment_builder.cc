#include "index/segment_builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/status_util.h"
#include "common/vector_math.h"
#include "index/exact_search.h"
#include "index/row_hash.h"

namespace vectable {
namespace {

constexpr size_t kMostQueries = 1000;  // that the recall is measured with
constexpr size_t kRowsPerQuery = 50;   // at least
constexpr size_t kQueriesAtOnce = 64;
constexpr size_t kDepth = 100;            // of the recalls
constexpr double kEnoughRecall = 0.9995;  // wider walks than that are of no use
constexpr uint32_t kFirstWidth = 10;
constexpr uint32_t kLastWidth = 2000;
constexpr size_t kRowsPerLook = 4096;

class Builder {
 public:
  Builder(Metric metric, const VectorCodec& codec, uint64_t version,
          const SegmentBuildOptions& options)
      : metric_(metric),
        codec_(codec),
        coder_(metric, codec.dimensions()),
        version_(version),
        options_(options) {}

  absl::StatusOr<std::shared_ptr<SealedSegment>> Run(const std::vector<SegmentSource>& sources) {
    Gather(sources);
    VT_ASSIGN_OR_RETURN(writer_, SegmentWriter::Create(options_.path));
    VT_RETURN_IF_ERROR(WriteRows());
    VT_RETURN_IF_ERROR(WriteMaps());
    VT_RETURN_IF_ERROR(WriteSearchColumns());
    if (wants_graph()) VT_RETURN_IF_ERROR(WriteGraph());
    VT_ASSIGN_OR_RETURN(OwnedFile file, writer_->Finish(facts_));
    coarse_.reset();
    fine_.reset();
    VT_ASSIGN_OR_RETURN(SegmentReader reader, SegmentReader::Open(std::move(file), options_.path));
    return SealedSegment::Open(std::move(reader), metric_, codec_);
  }

 private:
  struct Place {
    uint64_t row_id;
    const Segment* segment;
    uint32_t slot;
  };

  bool stopped() const { return options_.graph.stop && options_.graph.stop(); }
  static absl::Status Stopped() { return absl::CancelledError("the build was stopped"); }
  size_t rows() const { return places_.size(); }
  bool wants_graph() const { return rows() >= options_.graph_rows && can_be_coded_; }

  void Gather(const std::vector<SegmentSource>& sources) {
    for (const SegmentSource& source : sources) {
      // Rows are scored by rows: the squares of their norms must be floats under dot, too.
      can_be_coded_ =
          can_be_coded_ && source.segment->MaxNorm() <= MaxCodedNorm(Metric::kEuclidean);
      for (size_t slot = 0; slot < source.slots; ++slot) {
        if (!source.segment->IsLive(slot, version_)) continue;
        places_.push_back({*source.segment->Columns(slot).row_ids, source.segment.get(),
                           static_cast<uint32_t>(slot)});
      }
    }
    std::sort(places_.begin(), places_.end(),
              [](const Place& a, const Place& b) { return a.row_id < b.row_id; });
    // The rows that the recall is measured with go to the end.
    queries_ = wants_graph() ? std::min(kMostQueries, rows() / kRowsPerQuery) : 0;
    if (queries_ > 0) {
      std::vector<uint64_t> hashes;
      hashes.reserve(rows());
      for (const Place& place : places_) hashes.push_back(HashRowId(place.row_id));
      const auto nth = hashes.begin() + static_cast<std::ptrdiff_t>(queries_) - 1;
      std::nth_element(hashes.begin(), nth, hashes.end());
      std::stable_partition(places_.begin(), places_.end(), [last = *nth](const Place& place) {
        return HashRowId(place.row_id) > last;
      });
    }
    facts_.metric = metric_;
    facts_.precision = codec_.precision();
    facts_.dimensions = static_cast<uint32_t>(codec_.dimensions());
    facts_.slots = rows();
    facts_.sorted_slots = rows() - queries_;
  }

  // Writes a section of what `column` gives for each row in turn: bytes and their number.
  template <typename Column>
  absl::Status WriteColumn(SegmentSection section, const Column& column) {
    VT_RETURN_IF_ERROR(writer_->Begin(section));
    for (size_t i = 0; i < rows(); ++i) {
      if (i % kRowsPerLook == 0 && stopped()) return Stopped();
      const auto [data, bytes] = column(places_[i]);
      VT_RETURN_IF_ERROR(writer_->Append(data, bytes));
    }
    return absl::OkStatus();
  }

  absl::Status WriteRows() {
    using Bytes = std::pair<const void*, size_t>;
    VT_RETURN_IF_ERROR(WriteColumn(SegmentSection::kCodes, [this](const Place& place) {
      return Bytes(place.segment->Columns(place.slot).codes, codec_.row_bytes());
    }));
    VT_RETURN_IF_ERROR(WriteColumn(SegmentSection::kSquaredNorms, [](const Place& place) {
      return Bytes(place.segment->Columns(place.slot).squared_norms, sizeof(double));
    }));
    VT_RETURN_IF_ERROR(WriteColumn(SegmentSection::kRowIds, [](const Place& place) {
      return Bytes(&place.row_id, sizeof(uint64_t));
    }));
    uint64_t end = 0;
    VT_RETURN_IF_ERROR(WriteColumn(SegmentSection::kWordEnds, [&end](const Place& place) {
      end += place.segment->Word(place.slot).size();
      return Bytes(&end, sizeof(end));
    }));
    return WriteColumn(SegmentSection::kWords, [](const Place& place) {
      const std::string_view word = place.segment->Word(place.slot);
      return Bytes(word.data(), word.size());
    });
  }

  absl::Status WriteMaps() {
    std::vector<uint32_t> map(MapEntries(rows()));
    const auto fill = [&](const auto& hash_of) {
      std::fill(map.begin(), map.end(), 0);
      for (uint32_t slot = 0; slot < rows(); ++slot) {
        size_t i = hash_of(places_[slot]) & (map.size() - 1);
        while (map[i] != 0) i = (i + 1) & (map.size() - 1);
        map[i] = slot + 1;
      }
    };
    fill([](const Place& place) { return HashOfWord(place.segment->Word(place.slot)); });
    VT_RETURN_IF_ERROR(
        writer_->Add(SegmentSection::kWordMap, map.data(), map.size() * sizeof(uint32_t)));
    fill([](const Place& place) { return HashRowId(place.row_id); });
    return writer_->Add(SegmentSection::kRowIdMap, map.data(), map.size() * sizeof(uint32_t));
  }

  // The columns that searches read, kept while the recall is measured.
  absl::Status WriteSearchColumns() {
    VT_ASSIGN_OR_RETURN(codes_, writer_->Map(SegmentSection::kCodes));
    columns_.codes = codes_.data();
    VT_RETURN_IF_ERROR(WriteHalves(SegmentSection::kCoarseCodes, coder_.coarse_stride(), coarse_,
                                   [](const RowColumns& row) { return row.coarse.row(0); }));
    columns_.coarse = coder_.coarse(coarse_.get());
    VT_RETURN_IF_ERROR(WriteHalves(SegmentSection::kFineCodes, coder_.fine_stride(), fine_,
                                   [](const RowColumns& row) { return row.fine.row(0); }));
    columns_.fine = coder_.fine(fine_.get());
    if (coder_.has_norms()) {
      norms_.reserve(rows());
      for (const Place& place : places_) {
        norms_.push_back(*place.segment->Columns(place.slot).norms);
      }
      columns_.norms = norms_.data();
      VT_RETURN_IF_ERROR(
          writer_->Add(SegmentSection::kNorms, norms_.data(), norms_.size() * sizeof(float)));
    }
    return absl::OkStatus();
  }

  template <typename RowOf>
  absl::Status WriteHalves(SegmentSection section, size_t stride, LargeArray<char>& halves,
                           const RowOf& row_of) {
    halves = AllocateCodes(rows() * stride, true);
    for (size_t i = 0; i < rows(); ++i) {
      const RowColumns from = places_[i].segment->Columns(places_[i].slot);
      std::memcpy(halves.get() + i * stride, row_of(from), stride);
    }
    return writer_->Add(section, halves.get(), rows() * stride);
  }

  absl::Status WriteGraph() {
    BuildCodes codes(coder_, rows());
    for (size_t i = 0; i < rows(); ++i) codes.Set(i, columns_, i);
    GraphBuilder builder(metric_, std::move(codes), options_.graph);
    if (!builder.AddUpTo(rows() - queries_)) return Stopped();
    std::vector<RecallPoint> points;
    if (queries_ > 0) {
      VT_RETURN_IF_ERROR(Measure(builder.Finish(), points));
      if (!builder.AddUpTo(rows())) return Stopped();
    }
    const GraphData data = builder.Finish();
    const auto add = [this](SegmentSection section, std::span<const uint32_t> numbers) {
      return writer_->Add(section, numbers.data(), numbers.size_bytes());
    };
    VT_RETURN_IF_ERROR(add(SegmentSection::kLinks, {data.graph.links, rows() * data.graph.degree}));
    VT_RETURN_IF_ERROR(add(SegmentSection::kUpperSlots, data.upper_slots));
    VT_RETURN_IF_ERROR(add(SegmentSection::kUpperOffsets, data.upper_offsets));
    VT_RETURN_IF_ERROR(add(SegmentSection::kUpperLinks, data.upper_links));
    VT_RETURN_IF_ERROR(writer_->Add(SegmentSection::kRecallCurve, points.data(),
                                    points.size() * sizeof(RecallPoint)));
    facts_.degree = data.graph.degree;
    facts_.upper_degree = data.graph.upper_degree;
    facts_.top_level = data.graph.top_level;
    facts_.entry_node = data.graph.entry_node;
    facts_.entry_slot = data.graph.entry_slot;
    return absl::OkStatus();
  }

  // The rows that the queries are.
  std::span<const float> QueryVector(size_t q, std::vector<float>& scratch) const {
    return RowBlock::VectorOf(codec_, columns_.codes + (rows() - queries_ + q) * codec_.row_bytes(),
                              scratch);
  }

  absl::Status Measure(const GraphData& data, std::vector<RecallPoint>& points) const {
    std::vector<std::vector<uint32_t>> truth;
    VT_RETURN_IF_ERROR(FindTruth(truth));
    WalkScratch scratch(rows());
    double before = -1;
    for (uint32_t width = kFirstWidth; width <= kLastWidth; width += (width * 2 + 4) / 5) {
      RecallPoint point;
      point.width = width;
      VT_RETURN_IF_ERROR(MeasureWidth(data.graph, truth, scratch, point));
      points.push_back(point);
      // What a walk hasn't found by now it won't find by being wider.
      if (point.at_10 >= kEnoughRecall && point.at_100 >= kEnoughRecall) break;
      if (width > 4 * kDepth && point.at_100 <= before) break;
      before = point.at_100;
    }
    return absl::OkStatus();
  }

  absl::Status FindTruth(std::vector<std::vector<uint32_t>>& truth) const;

  absl::Status MeasureWidth(const Graph& graph, const std::vector<std::vector<uint32_t>>& truth,
                            WalkScratch& scratch, RecallPoint& point) const {
    size_t found_10 = 0;
    size_t found_100 = 0;
    size_t wanted_10 = 0;
    size_t wanted_100 = 0;
    std::vector<float> query_scratch;
    std::vector<float> row_scratch;
    for (size_t q = 0; q < queries_; ++q) {
      if (q % kQueriesAtOnce == 0 && stopped()) return Stopped();
      const std::span<const float> query = QueryVector(q, query_scratch);
      const CodedQuery coded(metric_, query);
      WalkGraph(graph, WalkQuery(metric_, columns_, coded), WalkFilter(), point.width, scratch);
      const double squared_norm = SquaredNormInDouble(query);
      std::vector<std::pair<double, uint32_t>> scored;
      // As deep as a search for so many goes.
      const size_t depth = std::min(scratch.pool.size(), CandidatesFor(kDepth, point.width));
      for (size_t i = 0; i < depth; ++i) {
        const uint32_t slot = scratch.pool.slot(i);
        const std::span<const float> row =
            RowBlock::VectorOf(codec_, columns_.codes + slot * codec_.row_bytes(), row_scratch);
        scored.emplace_back(-Score(metric_, query, squared_norm, row, SquaredNormInDouble(row)),
                            slot);
      }
      const auto found = [&](size_t k) {
        k = std::min(k, truth[q].size());
        std::vector<std::pair<double, uint32_t>> nearest(
            scored.begin(), scored.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                 scored.size(), CandidatesFor(k, point.width))));
        std::sort(nearest.begin(), nearest.end());
        size_t count = 0;
        for (size_t i = 0; i < std::min(k, nearest.size()); ++i) {
          count += std::count(truth[q].begin(), truth[q].begin() + static_cast<std::ptrdiff_t>(k),
                              nearest[i].second);
        }
        return count;
      };
      found_10 += found(10);
      found_100 += found(kDepth);
      wanted_10 += std::min<size_t>(10, truth[q].size());
      wanted_100 += std::min(kDepth, truth[q].size());
    }
    point.at_10 = static_cast<float>(found_10) / static_cast<float>(wanted_10);
    point.at_100 = static_cast<float>(found_100) / static_cast<float>(wanted_100);
    return absl::OkStatus();
  }

  const Metric metric_;
  const VectorCodec codec_;
  const SearchCoder coder_;
  const uint64_t version_;
  const SegmentBuildOptions& options_;
  std::vector<Place> places_;  // by slot of the new segment
  bool can_be_coded_ = true;   // no norm is too great
  size_t queries_ = 0;         // the last slots, which the recall is measured with
  SegmentFacts facts_;
  std::unique_ptr<SegmentWriter> writer_;
  FileMapping codes_;
  LargeArray<char> coarse_;
  LargeArray<char> fine_;
  std::vector<float> norms_;
  RowColumns columns_;
};

// Marks of rows none of which is dead, and ids that are slots: a search over a segment that isn't
// there yet.
class PlainSegment final : public Segment {
 public:
  PlainSegment(Metric metric, VectorCodec codec, const RowColumns& columns, size_t rows)
      : Segment(metric, codec, BlockRowsFor(codec.dimensions())),
        columns_(columns),
        squared_norms_(rows),
        row_ids_(rows),
        dead_at_(rows) {
    std::vector<float> scratch;
    for (size_t i = 0; i < rows; ++i) {
      row_ids_[i] = i;
      squared_norms_[i] = SquaredNormInDouble(
          RowBlock::VectorOf(codec, columns.codes + i * codec.row_bytes(), scratch));
      if (columns.norms != nullptr) max_norm_ = std::max<double>(max_norm_, columns.norms[i]);
    }
  }

  RowColumns Columns(size_t slot) const override {
    RowColumns columns = columns_;
    columns.codes += slot * codec().row_bytes();
    columns.coarse.rows += slot * columns.coarse.stride;
    columns.fine.rows += slot * columns.fine.stride;
    if (columns.norms != nullptr) columns.norms += slot;
    columns.squared_norms = &squared_norms_[slot];
    columns.row_ids = &row_ids_[slot];
    columns.dead_at = &dead_at_[slot];
    return columns;
  }
  std::string_view Word(size_t /*slot*/) const override { return {}; }
  uint32_t FindWord(std::string_view, size_t, uint64_t) const override { return kNoSlot; }
  uint32_t FindRowId(uint64_t, size_t, uint64_t) const override { return kNoSlot; }
  double MaxNorm() const override { return max_norm_; }
  IndexMemory Memory(size_t) const override { return {}; }
  size_t slots() const override { return row_ids_.size(); }
  void MarkDead(size_t, uint64_t) override {}

 private:
  const RowColumns columns_;
  std::vector<double> squared_norms_;
  std::vector<uint64_t> row_ids_;
  std::vector<DeathMark> dead_at_;
  double max_norm_ = 0;
};

absl::Status Builder::FindTruth(std::vector<std::vector<uint32_t>>& truth) const {
  const size_t known = rows() - queries_;
  const PlainSegment segment(metric_, codec_, columns_, known);
  IndexSearchOptions options;
  options.k = kDepth;
  options.keep_going = [this] { return stopped() ? Stopped() : absl::OkStatus(); };
  for (size_t begin = 0; begin < queries_; begin += kQueriesAtOnce) {
    const size_t count = std::min(kQueriesAtOnce, queries_ - begin);
    std::vector<std::vector<float>> vectors(count);
    std::vector<IndexQuery> queries(count);
    std::vector<float> scratch;
    for (size_t q = 0; q < count; ++q) {
      const std::span<const float> vector = QueryVector(begin + q, scratch);
      vectors[q].assign(vector.begin(), vector.end());
      queries[q].vector = vectors[q];
    }
    ExactSearch search(metric_, kLatestVersion, queries, options);
    for (size_t i = 0; i < segment.BlockCount(known); ++i) {
      VT_RETURN_IF_ERROR(search.AddBlock(segment.Block(i, known)));
    }
    VT_ASSIGN_OR_RETURN(const std::vector<IndexResult> results, search.Finish());
    for (const IndexResult& result : results) {
      std::vector<uint32_t>& nearest = truth.emplace_back();
      for (const IndexHit& hit : result.hits) {
        nearest.push_back(static_cast<uint32_t>(hit.row.row_id));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<SealedSegment>> BuildSegment(
    Metric metric, const VectorCodec& codec, const std::vector<SegmentSource>& sources,
    uint64_t version, const SegmentBuildOptions& options) {
  return Builder(metric, codec, version, options).Run(sources);
}

}  // namespace vectable
