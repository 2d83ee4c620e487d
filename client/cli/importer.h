#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/import_rules.h"
#include "client/client.h"
#include "client/formats/vector_reader.h"
#include "common/metric.h"
#include "common/precision.h"

namespace vectable {

// What to import, and how.
struct ImportOptions {
  std::string file;  // "-" for standard input
  std::string table;
  ReadOptions read;  // the table's dimensions are preferred where the file leaves a choice
  RuleOptions rules;
  std::optional<Precision> precision;        // of a new table; an existing one must agree
  std::optional<Metric> metric;              // the same
  std::vector<std::string> dimension_names;  // the same; empty for none asked
  bool skip_bad = false;                     // leave bad rows out instead of stopping
  std::optional<uint64_t> limit;             // read at most so many rows
  bool resume = false;                       // go on behind what an earlier run got acknowledged
};

// What came of it. Counts are those that the server acknowledged.
struct ImportSummary {
  uint64_t rows_read = 0;
  uint64_t inserted = 0;
  uint64_t replaced = 0;
  uint64_t rejected = 0;
  uint64_t not_asked = 0;       // rows whose words aren't among those to take
  uint64_t duplicates = 0;      // rows left out because their word came before in the file
  uint64_t resumed_behind = 0;  // the place of the last row of the earlier run; 0: from the start
  bool created = false;
  bool resumable = false;  // another run can go on behind what was acknowledged
  bool interrupted = false;
};

// How the importer tells what it is doing. Each may be empty.
struct ImportHooks {
  std::function<absl::Status(const VectorReader&)> on_open;  // its error ends the import
  std::function<void(uint64_t rows, const VectorReader&)> on_row;
  std::function<void(const std::string&)> on_rejected;  // bad rows, one message each
  std::function<void(const std::string&)> on_note;      // what is worth knowing
  std::function<bool()> interrupted;                    // asked before every row
};

// Reads a file of vectors into a table, made if absent. A word that comes again replaces the
// earlier row, unless the rules say otherwise. A bad row ends the import (INVALID_ARGUMENT,
// "FILE:LINE: reason") unless skip_bad; so does a table that doesn't fit the file or the options
// (FAILED_PRECONDITION). Whatever ends it, `summary` says what is in the table by then: batches
// that the server acknowledged stay, what wasn't sent is left out. How far it came is kept
// (ImportState) until it has come to its end.
absl::Status ImportFile(Client& client, const ImportOptions& options, const ImportHooks& hooks,
                        ImportSummary& summary);

}  // namespace vectable
