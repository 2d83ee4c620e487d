#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/client.h"
#include "client/formats/vector_reader.h"
#include "common/metric.h"
#include "common/precision.h"

namespace vectable {

// What to import, and how.
struct ImportOptions {
  std::string file;  // "-" for standard input
  std::string table;
  std::string format = "auto";
  std::optional<uint64_t> dimensions;        // of the file; found out when absent
  std::optional<Precision> precision;        // of a new table; an existing one must agree
  std::optional<Metric> metric;              // the same
  std::vector<std::string> dimension_names;  // the same; empty for none asked
  bool skip_bad = false;                     // leave bad rows out instead of stopping
  std::optional<uint64_t> limit;             // read at most so many rows
};

// What came of it. Counts are those that the server acknowledged.
struct ImportSummary {
  uint64_t rows_read = 0;
  uint64_t inserted = 0;
  uint64_t replaced = 0;
  uint64_t rejected = 0;
  bool created = false;
  bool interrupted = false;
};

// How the importer tells what it is doing. Each may be empty.
struct ImportHooks {
  std::function<void(const VectorReader&)> on_open;
  std::function<void(uint64_t rows, const VectorReader&)> on_row;
  std::function<void(const std::string&)> on_rejected;  // the first bad rows, one message each
  std::function<bool()> interrupted;                    // asked before every row
};

// Reads a file of vectors into a table, made if absent. A word that comes again replaces the
// earlier row. A bad row ends the import (INVALID_ARGUMENT, "FILE:LINE: reason") unless skip_bad;
// so does a table that doesn't fit the file or the options (FAILED_PRECONDITION). Whatever ends it,
// `summary` says what is in the table by then: batches that the server acknowledged stay, what
// wasn't sent is left out.
absl::Status ImportFile(Client& client, const ImportOptions& options, const ImportHooks& hooks,
                        ImportSummary& summary);

}  // namespace vectable
