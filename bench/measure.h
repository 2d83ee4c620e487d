#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/data_set.h"
#include "nlohmann/json.hpp"

namespace vectable {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// The rows found for one query.
using FoundRows = std::vector<uint64_t>;

// The share of the true nearest rows of the first queries that was found.
double RecallOf(const DataSet& data, const std::vector<FoundRows>& found);

// Answers queries first to first + count - 1: found[i] gets the rows of query first + i, and is
// empty before.
using AnswerQueries = std::function<void(size_t first, size_t count, FoundRows* found)>;

// Answers the first `queries` queries, so many at a time (what doesn't fill the last batch is left
// out). Tells queries per second and per second of the calling thread on a processor ("cpu_qps",
// which other processes don't slow down), recall@10, and the median and 99th percentile of a call's
// time in microseconds.
nlohmann::json MeasureQueries(const DataSet& data, size_t queries, size_t batch,
                              const AnswerQueries& answer);

// The process's memory now, in bytes: all that is resident, and the part without a file behind it.
nlohmann::json ResidentMemory();

uint64_t FileBytes(const std::string& path);

// Says why on stderr and ends the process.
[[noreturn]] void Die(const std::string& why);

// A command's words after its name.
using Arguments = std::vector<std::string>;
using Commands = std::map<std::string, std::function<nlohmann::json(const Arguments&)>>;

// The number that an argument is; dies where there is none.
size_t NumberAt(const Arguments& arguments, size_t i);

// Those from the i-th on.
std::vector<size_t> NumbersFrom(const Arguments& arguments, size_t i);

// Reads commands from stdin, one a line, and answers each with one line of JSON on stdout, until
// stdin ends: so that a script can have several programs measure in turn, none of them starting
// anew. Gives the exit status.
int RunCommands(const Commands& commands);

}  // namespace vectable
