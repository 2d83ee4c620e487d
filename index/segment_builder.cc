#include "index/segment_builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/status_util.h"
#include "index/recall_measurement.h"
#include "index/row_hash.h"

namespace vectable {
namespace {

constexpr size_t kMostQueries = 1000;  // that the recall is measured with
constexpr size_t kRowsPerQuery = 50;   // at least
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
    uint32_t hash = 0;
    bool whole = true;
    VT_RETURN_IF_ERROR(WriteColumn(SegmentSection::kRowHashes, [&](const Place& place) {
      whole = whole && place.segment->IsWhole(place.slot);
      hash = HashOfRow(place.segment->Columns(place.slot).codes, codec_.row_bytes());
      return Bytes(&hash, sizeof(hash));
    }));
    if (!whole) return absl::DataLossError("a row of the index isn't what was written");
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
      const RecallSample sample = {metric_,
                                   codec_,
                                   columns_,
                                   rows() - queries_,
                                   queries_,
                                   options_.graph.threads,
                                   options_.graph.stop};
      const GraphData most = builder.Finish();
      VT_ASSIGN_OR_RETURN(points, MeasureRecall(sample, most.graph));
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

}  // namespace

absl::StatusOr<std::shared_ptr<SealedSegment>> BuildSegment(
    Metric metric, const VectorCodec& codec, const std::vector<SegmentSource>& sources,
    uint64_t version, const SegmentBuildOptions& options) {
  return Builder(metric, codec, version, options).Run(sources);
}

}  // namespace vectable
