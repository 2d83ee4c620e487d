#pragma once

#include <string>

#include "client/cli/bench_run.h"
#include "client/cli/text_table.h"

namespace vectable {

// The table measured, its index, the server and the queries.
TextTable BenchHead(const BenchReport& report, const BenchOptions& options,
                    const std::string& server);

// One row per measurement.
TextTable BenchTable(const BenchReport& report, const BenchOptions& options);

// What the figures don't tell by themselves, a line each: that there is no graph, that a recall was
// answered exactly, that the table changed meanwhile. Empty when there is nothing to say.
std::string BenchNotes(const BenchReport& report);

}  // namespace vectable
