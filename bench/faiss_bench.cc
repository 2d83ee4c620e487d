// Measures FAISS as the distribution has it: `vectable_faiss_bench DATA_SET`, then commands on
// stdin, each answered by a line of JSON:
//
//   exact QUERIES BATCH    IndexFlatIP
//   build THREADS FILE     IndexHNSWFlat, M 32; takes minutes
//   walks QUERIES WIDTH..  walks along it
//   open FILE WIDTH        its first answer after a load, and its memory
//
// Searches are on as many threads as OMP_NUM_THREADS and OPENBLAS_NUM_THREADS say: set both to 1,
// and OMP_WAIT_POLICY to PASSIVE.

#include <omp.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/data_set.h"
#include "bench/measure.h"
#include "faiss/IndexFlat.h"
#include "faiss/IndexHNSW.h"
#include "faiss/index_io.h"

namespace vectable {
namespace {

constexpr int kDegree = 32;
constexpr int kBuildWidth = 200;

class FaissBench {
 public:
  explicit FaissBench(const std::string& path) : data_(OpenOrDie(path)) {}

  nlohmann::json Exact(size_t queries, size_t batch) {
    if (flat_ == nullptr) {
      flat_ = std::make_unique<faiss::IndexFlatIP>(dimensions());
      flat_->add(static_cast<faiss::Index::idx_t>(data_.rows()), data_.base());
    }
    return Measure(*flat_, queries, batch);
  }

  nlohmann::json Build(size_t threads, const std::string& path) {
    graph_.reset();
    const int threads_before = omp_get_max_threads();
    omp_set_num_threads(static_cast<int>(threads));
    const Stopwatch watch;
    graph_ =
        std::make_unique<faiss::IndexHNSWFlat>(dimensions(), kDegree, faiss::METRIC_INNER_PRODUCT);
    graph_->hnsw.efConstruction = kBuildWidth;
    graph_->add(static_cast<faiss::Index::idx_t>(data_.rows()), data_.base());
    const double build_seconds = watch.seconds();
    omp_set_num_threads(threads_before);
    const Stopwatch save;
    faiss::write_index(graph_.get(), path.c_str());
    return {{"threads", threads},
            {"build_seconds", build_seconds},
            {"save_seconds", save.seconds()},
            {"file_bytes", FileBytes(path)}};
  }

  nlohmann::json Walks(size_t queries, const std::vector<size_t>& widths) {
    nlohmann::json points = nlohmann::json::array();
    for (const size_t width : widths) {
      graph_->hnsw.efSearch = static_cast<int>(width);
      points.push_back(Measure(*graph_, queries, 1));
      points.back()["width"] = width;
    }
    return points;
  }

  nlohmann::json Open(const std::string& path, size_t width) const {
    const Stopwatch watch;
    const std::unique_ptr<faiss::Index> index(faiss::read_index(path.c_str()));
    dynamic_cast<faiss::IndexHNSW&>(*index).hnsw.efSearch = static_cast<int>(width);
    FoundRows found;
    Search(*index, 0, 1, &found);
    nlohmann::json opened = {{"seconds_to_first_answer", watch.seconds()}};
    Measure(*index, data_.queries(), 1);
    opened.update(ResidentMemory());
    return opened;
  }

 private:
  static DataSet OpenOrDie(const std::string& path) {
    absl::StatusOr<DataSet> data = DataSet::Open(path);
    if (!data.ok()) Die(data.status().ToString());
    return *std::move(data);
  }

  int dimensions() const { return static_cast<int>(data_.dimensions()); }

  nlohmann::json Measure(const faiss::Index& index, size_t queries, size_t batch) const {
    return MeasureQueries(data_, queries, batch, [&](size_t first, size_t count, FoundRows* found) {
      Search(index, first, count, found);
    });
  }

  void Search(const faiss::Index& index, size_t first, size_t count, FoundRows* found) const {
    std::vector<float> scores(count * kTruthDepth);
    std::vector<faiss::Index::idx_t> rows(count * kTruthDepth);
    index.search(static_cast<faiss::Index::idx_t>(count), data_.query(first).data(), kTruthDepth,
                 scores.data(), rows.data());
    for (size_t i = 0; i < rows.size(); ++i) {
      found[i / kTruthDepth].push_back(static_cast<uint64_t>(rows[i]));
    }
  }

  const DataSet data_;
  std::unique_ptr<faiss::IndexFlatIP> flat_;
  std::unique_ptr<faiss::IndexHNSWFlat> graph_;
};

int Main(const std::string& path) {
  FaissBench bench(path);
  return RunCommands(
      {{"exact", [&](const Arguments& a) { return bench.Exact(NumberAt(a, 0), NumberAt(a, 1)); }},
       {"build", [&](const Arguments& a) { return bench.Build(NumberAt(a, 0), a.at(1)); }},
       {"walks",
        [&](const Arguments& a) { return bench.Walks(NumberAt(a, 0), NumbersFrom(a, 1)); }},
       {"open", [&](const Arguments& a) { return bench.Open(a.at(0), NumberAt(a, 1)); }}});
}

}  // namespace
}  // namespace vectable

int main(int argc, char** argv) {
  if (argc != 2) vectable::Die("usage: vectable_faiss_bench DATA_SET < COMMANDS");
  return vectable::Main(argv[1]);
}
