// Measures hnswlib: `vectable_hnswlib_bench DATA_SET M`, then commands on stdin, as index_bench.cc
// has them: build, walks, open. Compiled for the machine's own processor.

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/data_set.h"
#include "bench/measure.h"
#include "hnswlib/hnswlib.h"

namespace vectable {
namespace {

constexpr size_t kBuildWidth = 200;  // "efConstruction"

class HnswlibBench {
 public:
  HnswlibBench(const std::string& path, size_t degree)
      : data_(OpenOrDie(path)), degree_(degree), space_(data_.dimensions()) {}

  nlohmann::json Build(size_t threads, const std::string& path) {
    graph_.reset();
    const Stopwatch watch;
    graph_ = std::make_unique<Graph>(&space_, data_.rows(), degree_, kBuildWidth);
    graph_->addPoint(data_.row(0).data(), 0);
    std::atomic<size_t> next{1};
    std::vector<std::thread> workers;
    for (size_t t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        for (size_t i = next++; i < data_.rows(); i = next++) {
          graph_->addPoint(data_.row(i).data(), i);
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
    const double build_seconds = watch.seconds();
    const Stopwatch save;
    graph_->saveIndex(path);
    return {{"threads", threads},
            {"build_seconds", build_seconds},
            {"save_seconds", save.seconds()},
            {"file_bytes", FileBytes(path)}};
  }

  nlohmann::json Walks(size_t queries, const std::vector<size_t>& widths) {
    nlohmann::json points = nlohmann::json::array();
    for (const size_t width : widths) {
      points.push_back(Measure(*graph_, queries, width));
      points.back()["width"] = width;
    }
    return points;
  }

  nlohmann::json Open(const std::string& path, size_t width) {
    const Stopwatch watch;
    Graph graph(&space_, path);
    graph.searchKnn(data_.query(0).data(), kTruthDepth);
    nlohmann::json opened = {{"seconds_to_first_answer", watch.seconds()}};
    Measure(graph, data_.queries(), width);
    opened.update(ResidentMemory());
    return opened;
  }

 private:
  using Graph = hnswlib::HierarchicalNSW<float>;

  static DataSet OpenOrDie(const std::string& path) {
    absl::StatusOr<DataSet> data = DataSet::Open(path);
    if (!data.ok()) Die(data.status().ToString());
    return *std::move(data);
  }

  nlohmann::json Measure(Graph& graph, size_t queries, size_t width) const {
    graph.setEf(width);
    return MeasureQueries(data_, queries, 1, [&](size_t q, size_t, FoundRows* found) {
      auto nearest = graph.searchKnn(data_.query(q).data(), kTruthDepth);
      for (; !nearest.empty(); nearest.pop()) found->push_back(nearest.top().second);
    });
  }

  const DataSet data_;
  const size_t degree_;
  hnswlib::InnerProductSpace space_;
  std::unique_ptr<Graph> graph_;
};

int Main(const std::string& path, size_t degree) {
  HnswlibBench bench(path, degree);
  return RunCommands(
      {{"build", [&](const Arguments& a) { return bench.Build(NumberAt(a, 0), a.at(1)); }},
       {"walks",
        [&](const Arguments& a) { return bench.Walks(NumberAt(a, 0), NumbersFrom(a, 1)); }},
       {"open", [&](const Arguments& a) { return bench.Open(a.at(0), NumberAt(a, 1)); }}});
}

}  // namespace
}  // namespace vectable

int main(int argc, char** argv) {
  if (argc != 3) vectable::Die("usage: vectable_hnswlib_bench DATA_SET M < COMMANDS");
  return vectable::Main(argv[1], std::stoull(argv[2]));
}
