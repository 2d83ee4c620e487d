// Two clients write and six read at once, for a while, against a running server. Every acknowledged
// row must be found by the next search and be there at the end. Prints a JSON document: counts,
// faults, and the readers' latency alone and beside the writers.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "nlohmann/json.hpp"

namespace vectable {
namespace {

constexpr int kWriters = 2;
constexpr int kReaders = 6;
constexpr int kRowsPerBatch = 20;
constexpr uint32_t kDimensions = 32;
constexpr size_t kFirstRows = 2000;
const char* const kTable = "mixed_load";

// The vector that a word always has, from its number.
std::vector<float> VectorOf(uint64_t number) {
  std::mt19937_64 random(number);
  std::normal_distribution<float> normal;
  std::vector<float> vector(kDimensions);
  for (float& value : vector) value = normal(random);
  return vector;
}

// A word's number: which writer, and which of its rows.
uint64_t NumberOf(int writer, uint64_t row) {
  return row * kWriters + static_cast<uint64_t>(writer);
}

struct Shared {
  std::string server;
  std::atomic<uint64_t> acknowledged[kWriters] = {};  // rows of each writer
  std::atomic<uint64_t> faults{0};
  std::atomic<bool> stop{false};
};

void Fault(Shared& shared, const std::string& text) {
  std::fprintf(stderr, "fault: %s\n", text.c_str());
  ++shared.faults;
}

void WriteBatch(Client& client, int writer, uint64_t first, Shared& shared) {
  v1::UpsertRequest request;
  request.set_table(kTable);
  for (uint64_t row = first; row < first + kRowsPerBatch; ++row) {
    const uint64_t number = NumberOf(writer, row);
    const std::vector<float> vector = VectorOf(number);
    v1::UpsertRow& added = *request.add_rows();
    added.set_word(absl::StrCat("w", number));
    added.mutable_vector()->mutable_values()->Add(vector.begin(), vector.end());
  }
  const auto done = client.Upsert(request);
  if (!done.ok()) return Fault(shared, done.status().ToString());
  shared.acknowledged[writer] = first + kRowsPerBatch;
}

// Asks for the nearest row to the vector of an acknowledged word: that word, with score 1.
void ReadOne(Client& client, std::mt19937_64& random, Shared& shared) {
  const int writer = static_cast<int>(random() % kWriters);
  const uint64_t number = NumberOf(writer, random() % shared.acknowledged[writer]);
  const std::vector<float> vector = VectorOf(number);
  v1::NearestRequest request;
  request.set_table(kTable);
  request.set_k(1);
  request.add_queries()->mutable_vector()->mutable_values()->Add(vector.begin(), vector.end());
  request.set_exact(true);  // a walk may miss it now and then
  const auto found = client.Nearest(request);
  if (!found.ok()) return Fault(shared, found.status().ToString());
  const auto& hits = found->results(0).hits();
  if (hits.empty() || hits[0].word() != absl::StrCat("w", number) || hits[0].score() < 0.999999) {
    Fault(shared, absl::StrCat("w", number, " is not its own nearest row"));
  }
}

std::unique_ptr<Client> Connect(const std::string& server) {
  auto client = Client::Connect({.server = server});
  if (!client.ok()) {
    std::fprintf(stderr, "%s\n", client.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(client);
}

// Latencies in microseconds of six readers over `seconds`.
std::vector<double> ReadFor(double seconds, Shared& shared) {
  std::vector<std::vector<double>> latencies(kReaders);
  std::vector<std::thread> readers;
  const absl::Time end = absl::Now() + absl::Seconds(seconds);
  for (int r = 0; r < kReaders; ++r) {
    readers.emplace_back([&, r] {
      const std::unique_ptr<Client> client = Connect(shared.server);
      std::mt19937_64 random(static_cast<uint64_t>(r));
      while (absl::Now() < end) {
        const absl::Time begin = absl::Now();
        ReadOne(*client, random, shared);
        latencies[static_cast<size_t>(r)].push_back(
            absl::ToDoubleMicroseconds(absl::Now() - begin));
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  std::vector<double> all;
  for (const auto& some : latencies) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  return all;
}

nlohmann::json Summary(const std::vector<double>& sorted) {
  const auto at = [&](double share) {
    return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
  };
  return {{"searches", sorted.size()},
          {"p50_micros", at(0.5)},
          {"p99_micros", at(0.99)},
          {"max_micros", at(1)}};
}

// Every acknowledged row, read back and compared.
uint64_t CountLost(Client& client, const Shared& shared) {
  uint64_t lost = 0;
  for (int writer = 0; writer < kWriters; ++writer) {
    std::vector<std::string> words;
    for (uint64_t row = 0; row < shared.acknowledged[writer]; ++row) {
      words.push_back(absl::StrCat("w", NumberOf(writer, row)));
    }
    const auto got = client.Get(kTable, words);
    if (!got.ok()) return words.size();
    lost += static_cast<uint64_t>(got->missing_words_size());
    for (const v1::Row& row : got->rows()) {
      const std::vector<float> expected = VectorOf(std::stoull(row.word().substr(1)));
      const auto& values = row.vector().values();
      lost += std::equal(values.begin(), values.end(), expected.begin(), expected.end()) ? 0 : 1;
    }
  }
  return lost;
}

int Run(const std::string& server, double seconds) {
  Shared shared;
  shared.server = server;
  const std::unique_ptr<Client> client = Connect(server);
  v1::CreateTableRequest create;
  create.set_name(kTable);
  create.set_dimensions(kDimensions);
  if (const auto created = client->CreateTable(create); !created.ok()) {
    std::fprintf(stderr, "%s\n", created.status().ToString().c_str());
    return 1;
  }
  for (uint64_t row = 0; row < kFirstRows; row += kRowsPerBatch) {
    for (int writer = 0; writer < kWriters; ++writer) WriteBatch(*client, writer, row, shared);
  }
  const std::vector<double> alone = ReadFor(seconds / 4, shared);
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      const std::unique_ptr<Client> own = Connect(server);
      while (!shared.stop) WriteBatch(*own, writer, shared.acknowledged[writer], shared);
    });
  }
  const std::vector<double> beside = ReadFor(seconds, shared);
  shared.stop = true;
  for (std::thread& writer : writers) writer.join();
  const uint64_t rows = shared.acknowledged[0] + shared.acknowledged[1];
  const uint64_t lost = CountLost(*client, shared);
  const auto table = client->GetTable(kTable);
  const bool counted = table.ok() && table->rows() == rows;
  const nlohmann::json report = {{"seconds", seconds},
                                 {"rows_acknowledged", rows},
                                 {"rows_lost_or_changed", lost},
                                 {"row_count_right", counted},
                                 {"faults", shared.faults.load()},
                                 {"readers_alone", Summary(alone)},
                                 {"readers_beside_writers", Summary(beside)}};
  std::printf("%s\n", report.dump(2).c_str());
  return lost == 0 && counted && shared.faults == 0 ? 0 : 1;
}

}  // namespace
}  // namespace vectable

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: vectable_mixed_load HOST:PORT SECONDS\n");
    return 2;
  }
  return vectable::Run(argv[1], std::stod(argv[2]));
}
