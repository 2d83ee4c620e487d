// What serving a call costs under each of gRPC's server APIs: 100 floats in, 10 hits out, nothing
// computed. Client and server are processes of their own, over loopback. The ways are measured in
// turn, round by round, so that a change of the machine's load hits all alike; the medians of the
// rounds are printed, as a table to stderr and as JSON to stdout.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/synchronization/blocking_counter.h"
#include "fmt/format.h"
#include "grpcpp/grpcpp.h"
#include "nlohmann/json.hpp"
#include "server/parked_calls.h"
#include "server/unary_call.h"
#include "server/worker_pool.h"
#include "vectable/v1/search.grpc.pb.h"

namespace vectable {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kFloats = 100;
constexpr int kHits = 10;

void FillAnswer(v1::NearestResponse& response) {
  v1::QueryResult* result = response.add_results();
  for (int i = 0; i < kHits; ++i) {
    v1::Hit* hit = result->add_hits();
    hit->set_word("neighbour");
    hit->set_row_id(static_cast<uint64_t>(1'000 + i));
    hit->set_score(0.9 - 0.01 * i);
  }
}

// The ways to serve.

class SyncService final : public v1::SearchService::Service {
 public:
  grpc::Status Nearest(grpc::ServerContext*, const v1::NearestRequest*,
                       v1::NearestResponse* response) override {
    FillAnswer(*response);
    return grpc::Status::OK;
  }
};

class InlineService final : public v1::SearchService::CallbackService {
 public:
  // Each call computes for so long.
  explicit InlineService(std::chrono::microseconds busy) : busy_(busy) {}

  grpc::ServerUnaryReactor* Nearest(grpc::CallbackServerContext* context, const v1::NearestRequest*,
                                    v1::NearestResponse* response) override {
    const auto end = Clock::now() + busy_;
    FillAnswer(*response);
    while (Clock::now() < end) {
    }
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  const std::chrono::microseconds busy_;
};

class PoolService final : public v1::SearchService::CallbackService {
 public:
  explicit PoolService(WorkerPool& pool) : pool_(pool) {}

  grpc::ServerUnaryReactor* Nearest(grpc::CallbackServerContext* context, const v1::NearestRequest*,
                                    v1::NearestResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    const absl::Status status = pool_.Submit([reactor, response] {
      FillAnswer(*response);
      reactor->Finish(grpc::Status::OK);
    });
    if (!status.ok()) reactor->Finish(grpc::Status(grpc::RESOURCE_EXHAUSTED, "full"));
    return reactor;
  }

 private:
  WorkerPool& pool_;
};

// As the server does it: bytes to a worker, which parses and writes them.
class UnaryCallService final
    : public v1::SearchService::WithRawCallbackMethod_Nearest<v1::SearchService::Service> {
 public:
  explicit UnaryCallService(const CallEnvironment& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* Nearest(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* reply) override {
    return StartUnary<v1::NearestRequest, v1::NearestResponse>(
        calls_, rpcs::kNearest, {context, request, reply},
        [](const CallState&, const auto&, auto& response) {
          FillAnswer(response);
          return absl::OkStatus();
        });
  }

 private:
  const CallEnvironment& calls_;
};

const std::map<std::string, std::string> kWays = {{"sync", "sync API"},
                                                  {"callback", "callback, inline"},
                                                  {"pool", "callback, worker pool"},
                                                  {"bytes", "the same, parsed by the worker"}};

// The server process: prints its port, and serves until its stdin ends.
int Serve(const std::string& way, std::chrono::microseconds busy) {
  WorkerPool pool({.threads = std::max(2U, std::thread::hardware_concurrency()),
                   .max_waiting = 1'024,
                   .max_waiting_bytes = size_t{1} << 30});
  ParkedCalls parked(1);
  const Limits limits;
  CallsUnderWay under_way;
  const AccessTokens open_to_all;
  CallReporter reporter;
  const MemoryBudget memory(0);
  StuckStreams stuck_streams(absl::Minutes(5));
  const CallEnvironment calls{pool,        parked,   under_way, limits,
                              open_to_all, reporter, memory,    stuck_streams};
  SyncService sync;
  InlineService inline_service(busy);
  PoolService pool_service(pool);
  UnaryCallService bytes(calls);
  const std::map<std::string, grpc::Service*> services = {
      {"sync", &sync}, {"callback", &inline_service}, {"pool", &pool_service}, {"bytes", &bytes}};
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(services.at(way));
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return EXIT_FAILURE;
  std::printf("%d\n", port);
  std::fflush(stdout);
  char ignored = 0;
  while (::read(STDIN_FILENO, &ignored, 1) > 0) {
  }
  server->Shutdown();
  return EXIT_SUCCESS;
}

// A server process, stopped at destruction.
class ServerProcess {
 public:
  explicit ServerProcess(const std::string& way) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::execl("/proc/self/exe", "rpc_api_bench", "--serve", way.c_str(), nullptr);
      std::_Exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    stdin_ = in[1];
    std::FILE* lines = ::fdopen(out[0], "r");
    if (lines == nullptr || std::fscanf(lines, "%d", &port_) != 1) std::abort();
    std::fclose(lines);
  }
  ~ServerProcess() {
    ::close(stdin_);
    ::waitpid(pid_, nullptr, 0);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  pid_t pid_ = -1;
  int stdin_ = -1;
  int port_ = 0;
};

struct Figures {
  double p50_micros = 0;
  double p99_micros = 0;
  double calls_per_second = 0;
};

// Keeps a number of calls under way for some time, and times each.
class Load {
 public:
  Load(v1::SearchService::Stub& stub, int in_flight, std::chrono::duration<double> time)
      : stub_(stub),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(time)),
        all_ended_(in_flight),
        slots_(in_flight) {
    v1::Query* query = request_.add_queries();
    for (int i = 0; i < kFloats; ++i) {
      query->mutable_vector()->add_values(0.01F * static_cast<float>(i));
    }
    request_.set_table("table");
    request_.set_k(kHits);
  }

  Figures Run() {
    const Clock::time_point begin = Clock::now();
    for (Slot& slot : slots_) Next(slot);
    all_ended_.Wait();
    const std::chrono::duration<double> took = Clock::now() - begin;
    std::vector<double> micros;
    for (Slot& slot : slots_) {
      micros.insert(micros.end(), slot.micros.begin(), slot.micros.end());
    }
    std::sort(micros.begin(), micros.end());
    if (micros.empty()) std::abort();
    return {micros[micros.size() / 2], micros[micros.size() * 99 / 100],
            static_cast<double>(micros.size()) / took.count()};
  }

 private:
  struct Slot {
    std::unique_ptr<grpc::ClientContext> context;
    v1::NearestResponse response;
    Clock::time_point begin;
    std::vector<double> micros;
  };

  void Next(Slot& slot) {
    slot.context = std::make_unique<grpc::ClientContext>();
    slot.begin = Clock::now();
    stub_.async()->Nearest(
        slot.context.get(), &request_, &slot.response, [this, &slot](const grpc::Status& status) {
          if (!status.ok()) std::abort();
          const auto end = Clock::now();
          slot.micros.push_back(
              std::chrono::duration<double, std::micro>(end - slot.begin).count());
          if (end < end_) {
            Next(slot);
          } else {
            all_ended_.DecrementCount();
          }
        });
  }

  v1::SearchService::Stub& stub_;
  const Clock::time_point end_;
  absl::BlockingCounter all_ended_;
  v1::NearestRequest request_;
  std::vector<Slot> slots_;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Figures Medians(const std::vector<Figures>& rounds) {
  const auto of = [&rounds](double Figures::*field) {
    std::vector<double> values;
    for (const Figures& figures : rounds) values.push_back(figures.*field);
    return Median(values);
  };
  return {of(&Figures::p50_micros), of(&Figures::p99_micros), of(&Figures::calls_per_second)};
}

int Measure(int rounds, double seconds) {
  std::vector<std::unique_ptr<ServerProcess>> servers;
  for (const auto& [way, text] : kWays) servers.push_back(std::make_unique<ServerProcess>(way));
  std::vector<std::unique_ptr<v1::SearchService::Stub>> stubs;
  for (const auto& server : servers) {
    stubs.push_back(v1::SearchService::NewStub(
        grpc::CreateChannel(server->address(), grpc::InsecureChannelCredentials())));
    Load(*stubs.back(), 8, std::chrono::duration<double>(0.3)).Run();  // warm up
  }
  std::map<std::pair<int, std::string>, std::vector<Figures>> figures;
  for (int round = 0; round < rounds; ++round) {
    for (const int in_flight : {1, 8}) {
      size_t i = 0;
      for (const auto& [way, text] : kWays) {
        Load load(*stubs[i++], in_flight, std::chrono::duration<double>(seconds));
        figures[{in_flight, way}].push_back(load.Run());
      }
    }
  }
  nlohmann::json json = nlohmann::json::array();
  fmt::print(stderr, "{:<32} {:>9} {:>9} {:>9} {:>9}\n", "way", "in flight", "p50 us", "p99 us",
             "calls/s");
  for (const auto& [point, all] : figures) {
    const Figures medians = Medians(all);
    fmt::print(stderr, "{:<32} {:>9} {:>9.1f} {:>9.1f} {:>9.0f}\n", kWays.at(point.second),
               point.first, medians.p50_micros, medians.p99_micros, medians.calls_per_second);
    json.push_back({{"way", point.second},
                    {"in_flight", point.first},
                    {"p50_us", medians.p50_micros},
                    {"p99_us", medians.p99_micros},
                    {"calls_per_second", medians.calls_per_second},
                    {"rounds", rounds},
                    {"seconds", seconds}});
  }
  fmt::print("{}\n", json.dump(2));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace vectable

int main(int argc, char** argv) {
  std::string way;
  int rounds = 5;
  double seconds = 1;
  CLI::App app("Compares gRPC's server APIs on a call that computes nothing");
  app.add_option("--rounds", rounds, "Rounds")->check(CLI::Range(1, 1'000))->capture_default_str();
  app.add_option("--seconds", seconds, "Time of each measurement")
      ->check(CLI::Range(0.05, 60.0))
      ->capture_default_str();
  app.add_option("--serve", way, "Be a server of this kind; for the program's own use")->group("");
  int64_t busy_micros = 0;
  app.add_option("--busy-micros", busy_micros, "How long each call of '--serve callback' computes")
      ->group("");
  CLI11_PARSE(app, argc, argv);
  return way.empty() ? vectable::Measure(rounds, seconds)
                     : vectable::Serve(way, std::chrono::microseconds(busy_micros));
}
