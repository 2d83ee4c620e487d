// Measures a running server through our client: `vectable_served_bench DATA_SET TABLE`, then
// commands on stdin, each answered by a line of JSON:
//
//   nearest HOST:PORT RECALL QUERIES BATCH  requests one after another; RECALL 1 is exact
//   first HOST:PORT                         connects and asks once
//
// The table's rows have the ids that they have in the data set. Against a server that answers
// anything at once, nearest tells what the call itself costs.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/data_set.h"
#include "bench/measure.h"
#include "client/client.h"

namespace vectable {
namespace {

class ServedBench {
 public:
  ServedBench(const std::string& path, std::string table)
      : data_(OpenOrDie(path)), table_(std::move(table)) {}

  nlohmann::json Nearest(const std::string& server, double recall, size_t queries, size_t batch) {
    Client& client = ClientOf(server);
    std::vector<double> engine_micros;
    nlohmann::json point =
        MeasureQueries(data_, queries, batch, [&](size_t first, size_t count, FoundRows* found) {
          const v1::NearestResponse reply = Ask(client, recall, first, count);
          engine_micros.push_back(static_cast<double>(reply.engine_micros()));
          for (size_t i = 0; i < count; ++i) {
            for (const v1::Hit& hit : reply.results(static_cast<int>(i)).hits()) {
              found[i].push_back(hit.row_id());
            }
          }
        });
    std::sort(engine_micros.begin(), engine_micros.end());
    point["engine_p50_us"] = engine_micros[engine_micros.size() / 2];
    point["asked_recall"] = recall;
    return point;
  }

  nlohmann::json First(const std::string& server) {
    const v1::NearestResponse reply = Ask(ClientOf(server), 0, 0, 1);
    return {{"hits", reply.results(0).hits_size()},
            {"graph", reply.method() == v1::SEARCH_METHOD_GRAPH}};
  }

 private:
  static DataSet OpenOrDie(const std::string& path) {
    absl::StatusOr<DataSet> data = DataSet::Open(path);
    if (!data.ok()) Die(data.status().ToString());
    return *std::move(data);
  }

  Client& ClientOf(const std::string& server) {
    std::unique_ptr<Client>& client = clients_[server];
    if (client == nullptr) {
      auto connected = Client::Connect({.server = server});
      if (!connected.ok()) Die(connected.status().ToString());
      client = *std::move(connected);
    }
    return *client;
  }

  v1::NearestResponse Ask(Client& client, double recall, size_t first, size_t count) const {
    v1::NearestRequest request;
    request.set_table(table_);
    request.set_k(kTruthDepth);
    request.set_recall(recall);
    for (size_t i = 0; i < count; ++i) {
      const std::span<const float> vector = data_.query(first + i);
      request.add_queries()->mutable_vector()->mutable_values()->Add(vector.begin(), vector.end());
    }
    auto reply = client.Nearest(request);
    if (!reply.ok()) Die(reply.status().ToString());
    return *std::move(reply);
  }

  const DataSet data_;
  const std::string table_;
  std::map<std::string, std::unique_ptr<Client>> clients_;
};

int Main(const std::string& path, const std::string& table) {
  ServedBench bench(path, table);
  return RunCommands({{"nearest",
                       [&](const Arguments& a) {
                         return bench.Nearest(a.at(0), std::stod(a.at(1)), NumberAt(a, 2),
                                              NumberAt(a, 3));
                       }},
                      {"first", [&](const Arguments& a) { return bench.First(a.at(0)); }}});
}

}  // namespace
}  // namespace vectable

int main(int argc, char** argv) {
  if (argc != 3) vectable::Die("usage: vectable_served_bench DATA_SET TABLE < COMMANDS");
  return vectable::Main(argv[1], argv[2]);
}
