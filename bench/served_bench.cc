// Measures a running server through our client: `vectable_served_bench DATA_SET TABLE`, then
// commands on stdin, each answered by a line of JSON:
//
//   nearest HOST:PORT RECALL QUERIES BATCH  requests one after another; RECALL 1 is exact
//   stream HOST:PORT RECALL QUERIES         the same in one stream, a query a request
//   first HOST:PORT                         connects and asks once
//   live HOST:PORT RECALL SECONDS RATE      requests one after another for so long, while another
//                                           connection upserts RATE rows a second, ten a call; then
//                                           the latencies of both
//
// The table's rows have the ids that they have in the data set. Against a server that answers
// anything at once, nearest tells what the call itself costs.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/data_set.h"
#include "bench/measure.h"
#include "client/client.h"

namespace vectable {
namespace {

constexpr size_t kLiveBatch = 10;     // rows an upsert
constexpr size_t kLiveWords = 20000;  // beyond so many, upserts replace rows

nlohmann::json Latencies(std::vector<double> micros) {
  if (micros.empty()) return {{"calls", 0}};
  std::sort(micros.begin(), micros.end());
  const auto at = [&](double share) {
    return micros[static_cast<size_t>(share * static_cast<double>(micros.size() - 1))];
  };
  return {{"calls", micros.size()},
          {"p50_us", at(0.5)},
          {"p99_us", at(0.99)},
          {"p999_us", at(0.999)},
          {"max_us", at(1)}};
}

double MicrosOf(const std::function<void()>& call) {
  const Stopwatch watch;
  call();
  return watch.seconds() * 1e6;
}

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

  nlohmann::json Stream(const std::string& server, double recall, size_t queries) {
    Client& client = ClientOf(server);
    std::vector<FoundRows> found(queries);
    size_t asked = 0;
    const Stopwatch watch;
    const absl::Status status = client.NearestStream(
        [&](v1::NearestRequest& request) {
          if (asked == queries) return false;
          FillRequest(recall, asked++, 1, request);
          return true;
        },
        [&](const v1::NearestStreamResponse& reply) {
          if (reply.code() != 0) return absl::InternalError(reply.error());
          for (const v1::Hit& hit : reply.answer().results(0).hits()) {
            found[reply.request()].push_back(hit.row_id());
          }
          return absl::OkStatus();
        });
    const double seconds = watch.seconds();
    if (!status.ok()) Die(status.ToString());
    return {{"qps", static_cast<double>(queries) / seconds},
            {"recall", RecallOf(data_, found)},
            {"asked_recall", recall}};
  }

  nlohmann::json First(const std::string& server) {
    const v1::NearestResponse reply = Ask(ClientOf(server), 0, 0, 1);
    return {{"hits", reply.results(0).hits_size()},
            {"graph", reply.method() == v1::SEARCH_METHOD_GRAPH}};
  }

  nlohmann::json Live(const std::string& server, double recall, double seconds, size_t rate) {
    Client& client = ClientOf(server);
    std::atomic<bool> stop{false};
    std::vector<double> upserts;
    std::thread writer;
    if (rate > 0) {
      writer = std::thread([&, own = Connect(server)] { UpsertUntil(stop, *own, rate, upserts); });
    }
    std::vector<double> searches;
    const Stopwatch watch;
    for (size_t i = 0; watch.seconds() < seconds; i = (i + 1) % data_.queries()) {
      searches.push_back(MicrosOf([&] { Ask(client, recall, i, 1); }));
    }
    const double took = watch.seconds();
    stop = true;
    if (writer.joinable()) writer.join();
    return {{"seconds", took},
            {"rows_per_second", static_cast<double>(upserts.size() * kLiveBatch) / took},
            {"searches", Latencies(std::move(searches))},
            {"upserts", Latencies(std::move(upserts))}};
  }

 private:
  static DataSet OpenOrDie(const std::string& path) {
    absl::StatusOr<DataSet> data = DataSet::Open(path);
    if (!data.ok()) Die(data.status().ToString());
    return *std::move(data);
  }

  static std::unique_ptr<Client> Connect(const std::string& server) {
    auto connected = Client::Connect({.server = server});
    if (!connected.ok()) Die(connected.status().ToString());
    return *std::move(connected);
  }

  Client& ClientOf(const std::string& server) {
    std::unique_ptr<Client>& client = clients_[server];
    if (client == nullptr) client = Connect(server);
    return *client;
  }

  // Upserts at a steady rate; a call that is late is made up for.
  void UpsertUntil(const std::atomic<bool>& stop, Client& client, size_t rate,
                   std::vector<double>& micros) {
    const auto pause =
        std::chrono::duration<double>(static_cast<double>(kLiveBatch) / static_cast<double>(rate));
    const auto begin = std::chrono::steady_clock::now();
    for (size_t call = 0; !stop; ++call) {
      std::this_thread::sleep_until(begin + pause * static_cast<double>(call));
      v1::UpsertRequest request;
      request.set_table(table_);
      for (size_t i = 0; i < kLiveBatch; ++i) {
        v1::UpsertRow& row = *request.add_rows();
        row.set_word(absl::StrCat("live ", live_row_ % kLiveWords));
        const std::span<const float> vector = data_.row(live_row_++ % data_.rows());
        row.mutable_vector()->mutable_values()->Add(vector.begin(), vector.end());
      }
      micros.push_back(MicrosOf([&] {
        if (const auto done = client.Upsert(request); !done.ok()) Die(done.status().ToString());
      }));
    }
  }

  void FillRequest(double recall, size_t first, size_t count, v1::NearestRequest& request) const {
    request.set_table(table_);
    request.set_k(kTruthDepth);
    request.set_recall(recall);
    for (size_t i = 0; i < count; ++i) {
      const std::span<const float> vector = data_.query(first + i);
      request.add_queries()->mutable_vector()->mutable_values()->Add(vector.begin(), vector.end());
    }
  }

  v1::NearestResponse Ask(Client& client, double recall, size_t first, size_t count) const {
    v1::NearestRequest request;
    FillRequest(recall, first, count, request);
    auto reply = client.Nearest(request);
    if (!reply.ok()) Die(reply.status().ToString());
    return *std::move(reply);
  }

  const DataSet data_;
  const std::string table_;
  std::map<std::string, std::unique_ptr<Client>> clients_;
  size_t live_row_ = 0;  // upserted so far
};

int Main(const std::string& path, const std::string& table) {
  ServedBench bench(path, table);
  return RunCommands(
      {{"nearest",
        [&](const Arguments& a) {
          return bench.Nearest(a.at(0), std::stod(a.at(1)), NumberAt(a, 2), NumberAt(a, 3));
        }},
       {"stream",
        [&](const Arguments& a) {
          return bench.Stream(a.at(0), std::stod(a.at(1)), NumberAt(a, 2));
        }},
       {"first", [&](const Arguments& a) { return bench.First(a.at(0)); }},
       {"live", [&](const Arguments& a) {
          return bench.Live(a.at(0), std::stod(a.at(1)), std::stod(a.at(2)), NumberAt(a, 3));
        }}});
}

}  // namespace
}  // namespace vectable

int main(int argc, char** argv) {
  if (argc != 3) vectable::Die("usage: vectable_served_bench DATA_SET TABLE < COMMANDS");
  return vectable::Main(argv[1], argv[2]);
}
