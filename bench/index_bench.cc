// Measures our index in process: `vectable_index_bench DATA_SET`, then commands on stdin, each
// answered by a line of JSON:
//
//   build THREADS FILE     fills an index and merges it into one segment with a graph, in FILE
//   walks QUERIES WIDTH..  walks of these widths along the graph alone
//   asked RECALL QUERIES BATCH  searches as the engine does them; RECALL 0 is exact
//   open FILE WIDTH        a segment's first answer, and the memory after QUERIES walks
//
// All searches are on one thread.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/data_set.h"
#include "bench/measure.h"
#include "index/faiss_backend.h"
#include "index/row_filter.h"
#include "index/sealed_segment.h"
#include "index/segment_builder.h"
#include "index/table_index.h"

namespace vectable {
namespace {

constexpr Metric kMetric = Metric::kCosine;

template <typename Value>
Value OrDie(absl::StatusOr<Value> value) {
  if (!value.ok()) Die(value.status().ToString());
  return *std::move(value);
}

// Appends the ids of the hits.
void AppendRows(const std::vector<IndexHit>& hits, FoundRows& rows) {
  for (const IndexHit& hit : hits) rows.push_back(hit.row.row_id);
}

class IndexBench {
 public:
  explicit IndexBench(const std::string& path)
      : data_(OrDie(DataSet::Open(path))),
        codec_(Precision::kFp32, data_.dimensions()),
        backend_(MakeFaissBackend()) {
    options_.k = kTruthDepth;
  }

  nlohmann::json Build(size_t threads, const std::string& path) {
    segment_.reset();
    index_ = std::make_unique<TableIndex>(kMetric, codec_, *backend_);
    const Stopwatch fill;
    Fill();
    const double fill_seconds = fill.seconds();
    const Stopwatch merge;
    Merge(threads, path);
    const double merge_seconds = merge.seconds();
    nlohmann::json curve = nlohmann::json::array();
    for (const RecallPoint& point : segment_->curve().points()) {
      curve.push_back({{"width", point.width}, {"recall", point.at_10}});
    }
    return {{"threads", threads},
            {"build_seconds", fill_seconds + merge_seconds},
            {"fill_seconds", fill_seconds},
            {"merge_seconds", merge_seconds},
            {"graph", segment_->has_graph()},
            {"file_bytes", segment_->file_bytes()},
            {"measured_by_builder", curve}};
  }

  nlohmann::json Walks(size_t queries, const std::vector<size_t>& widths) const {
    nlohmann::json points = nlohmann::json::array();
    if (!segment_->has_graph()) return points;
    for (const size_t width : widths) {
      points.push_back(MeasureQueries(
          data_, queries, 1,
          [&](size_t first, size_t, FoundRows* found) { Walk(*segment_, first, width, *found); }));
      points.back()["width"] = width;
    }
    return points;
  }

  nlohmann::json Asked(double recall, size_t queries, size_t batch) const {
    IndexSearchOptions options = options_;
    if (recall > 0) options.recall = recall;
    const std::shared_ptr<const IndexSnapshot> snapshot = index_->snapshot();
    bool exact = true;
    uint32_t width = 0;
    nlohmann::json point =
        MeasureQueries(data_, queries, batch, [&](size_t first, size_t count, FoundRows* found) {
          std::vector<IndexQuery> asked(count);
          for (size_t i = 0; i < count; ++i) asked[i].vector = data_.query(first + i);
          const std::vector<IndexResult> results = OrDie(snapshot->Search(asked, options));
          for (size_t i = 0; i < count; ++i) AppendRows(results[i].hits, found[i]);
          exact = exact && results[0].exact;
          width = std::max(width, results[0].width);
        });
    point["asked_recall"] = recall;
    point["exact"] = exact;
    point["width"] = width;
    return point;
  }

  nlohmann::json Open(const std::string& path, size_t width) const {
    const Stopwatch watch;
    const std::shared_ptr<SealedSegment> segment =
        OrDie(SealedSegment::Open(OrDie(SegmentReader::Open(path)), kMetric, codec_));
    const auto answer = [&](size_t first, size_t, FoundRows* found) {
      Walk(*segment, first, width, *found);
    };
    FoundRows found;
    if (segment->has_graph()) answer(0, 1, &found);
    nlohmann::json opened = {{"seconds_to_first_answer", watch.seconds()}};
    if (segment->has_graph()) MeasureQueries(data_, data_.queries(), 1, answer);
    opened.update(ResidentMemory());
    return opened;
  }

 private:
  void Fill() {
    std::string codes;
    for (size_t i = 0; i < data_.rows(); ++i) {
      codes.clear();
      const absl::Status encoded = EncodeRowVector(codec_, kMetric, data_.row(i), codes);
      if (!encoded.ok()) Die(encoded.ToString());
      index_->Put(i, absl::StrCat("w", i), codes);
    }
    index_->Publish(1);
  }

  void Merge(size_t threads, const std::string& path) {
    const std::optional<MergePlan> plan = index_->PlanMerge({.everything = true});
    if (!plan) Die("there is nothing to merge");
    std::vector<SegmentSource> sources;
    for (const IndexSnapshot::Part& part : plan->sources) {
      sources.push_back({part.segment, part.slots});
    }
    SegmentBuildOptions options;
    options.path = path;
    options.graph.threads = threads;
    segment_ = OrDie(BuildSegment(kMetric, codec_, sources, plan->version, options));
    index_->InstallMerged(*plan, segment_);
  }

  // One walk with all that a search does around it.
  void Walk(const SealedSegment& segment, size_t q, size_t width, FoundRows& found) const {
    const IndexQuery query{data_.query(q), {}};
    const CodedQuery coded(kMetric, query.vector);
    const RowFilter filter(query, options_, kLatestVersion);
    TopHits top(kTruthDepth);
    segment.Walk(query, coded, filter, width, kTruthDepth, top);
    AppendRows(top.Take(), found);
  }

  const DataSet data_;
  const VectorCodec codec_;
  const std::unique_ptr<BatchBackend> backend_;
  IndexSearchOptions options_;
  std::unique_ptr<TableIndex> index_;
  std::shared_ptr<SealedSegment> segment_;
};

int Main(const std::string& path) {
  IndexBench bench(path);
  const Commands commands = {
      {"build", [&](const Arguments& a) { return bench.Build(NumberAt(a, 0), a.at(1)); }},
      {"walks", [&](const Arguments& a) { return bench.Walks(NumberAt(a, 0), NumbersFrom(a, 1)); }},
      {"asked",
       [&](const Arguments& a) {
         return bench.Asked(std::stod(a.at(0)), NumberAt(a, 1), NumberAt(a, 2));
       }},
      {"open", [&](const Arguments& a) { return bench.Open(a.at(0), NumberAt(a, 1)); }}};
  return RunCommands(commands);
}

}  // namespace
}  // namespace vectable

int main(int argc, char** argv) {
  if (argc != 2) vectable::Die("usage: vectable_index_bench DATA_SET < COMMANDS");
  return vectable::Main(argv[1]);
}
