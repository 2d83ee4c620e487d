#include "bench/measure.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace vectable {
namespace {

constexpr size_t kWarmUp = 100;  // queries

// What the calling thread has spent on a processor: other processes aren't in it.
double ThreadSeconds() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

}  // namespace

double RecallOf(const DataSet& data, const std::vector<FoundRows>& found) {
  size_t right = 0;
  for (size_t q = 0; q < found.size(); ++q) {
    for (const uint32_t row : data.truth(q)) {
      right += static_cast<size_t>(std::count(found[q].begin(), found[q].end(), row));
    }
  }
  return static_cast<double>(right) / static_cast<double>(found.size() * kTruthDepth);
}

nlohmann::json MeasureQueries(const DataSet& data, size_t queries, size_t batch,
                              const AnswerQueries& answer) {
  const size_t calls = std::min(queries, data.queries()) / batch;
  if (calls == 0) Die("too few queries for a batch of that size");
  std::vector<FoundRows> found(calls * batch);
  for (size_t call = 0; call < std::min(calls, kWarmUp / batch); ++call) {
    answer(call * batch, batch, &found[call * batch]);
  }
  for (FoundRows& rows : found) {
    rows.clear();
    rows.reserve(kTruthDepth);
  }
  std::vector<double> micros(calls);
  const double spent_before = ThreadSeconds();
  const Stopwatch all;
  for (size_t call = 0; call < calls; ++call) {
    const Stopwatch one;
    answer(call * batch, batch, &found[call * batch]);
    micros[call] = one.seconds() * 1e6;
  }
  const double seconds = all.seconds();
  const double spent = ThreadSeconds() - spent_before;
  std::sort(micros.begin(), micros.end());
  return {{"queries", found.size()},
          {"batch", batch},
          {"qps", static_cast<double>(found.size()) / seconds},
          {"cpu_qps", static_cast<double>(found.size()) / spent},
          {"recall", RecallOf(data, found)},
          {"p50_us", micros[calls / 2]},
          {"p99_us", micros[calls * 99 / 100]}};
}

nlohmann::json ResidentMemory() {
  nlohmann::json memory;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name;
    uint64_t kib = 0;
    words >> name >> kib;
    if (name == "VmRSS:") memory["resident_bytes"] = kib * 1024;
    if (name == "RssAnon:") memory["anonymous_bytes"] = kib * 1024;
  }
  return memory;
}

uint64_t FileBytes(const std::string& path) { return std::filesystem::file_size(path); }

void Die(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(EXIT_FAILURE);
}

size_t NumberAt(const Arguments& arguments, size_t i) {
  if (i >= arguments.size()) Die("a number is missing");
  return std::stoull(arguments[i]);
}

std::vector<size_t> NumbersFrom(const Arguments& arguments, size_t i) {
  std::vector<size_t> numbers;
  for (; i < arguments.size(); ++i) numbers.push_back(NumberAt(arguments, i));
  return numbers;
}

int RunCommands(const Commands& commands) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    const auto command = commands.find(name);
    if (command == commands.end()) Die("no such command: " + line);
    Arguments arguments;
    for (std::string word; words >> word;) arguments.push_back(word);
    try {
      std::cout << command->second(arguments).dump() << std::endl;
    } catch (const std::exception& error) {
      Die(line + ": " + error.what());
    }
  }
  return EXIT_SUCCESS;
}

}  // namespace vectable
