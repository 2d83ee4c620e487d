#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/metric.h"
#include "common/precision.h"
#include "index/index_memory.h"
#include "index/table_index.h"
#include "storage/mutation.h"
#include "storage/usage.h"

namespace vectable {

// What a new table shall be. Fixed at creation, except the name.
struct TableSpec {
  std::string name;         // see CheckTableName
  uint32_t dimensions = 0;  // 1 to 65,536
  Precision precision = Precision::kFp32;
  Metric metric = Metric::kCosine;
  std::vector<std::string> dimension_names;  // none, or one per dimension
};

// A table as of one moment.
struct TableDescription {
  TableSpec spec;
  uint64_t rows = 0;         // live rows
  uint64_t parameters = 0;   // rows x dimensions
  uint64_t next_row_id = 0;  // the id that the next new row gets
  bool searchable = false;   // the index holds every row
  uint64_t indexed_rows = 0;
  int64_t created_unix_micros = 0;
  uint64_t applied_sequence = 0;  // 0: no mutation yet
  bool optimizing = false;        // segments of the index are being merged on request
};

// What a table weighs in truth, on disk and in memory, and what its index is made of.
struct TableState {
  TableDescription table;
  TableUsage files;
  std::optional<IndexMemory> index;          // nothing while the index is loaded
  std::vector<SegmentDescription> segments;  // none while the index is loaded
};

// A table beside all of them.
struct TableReport {
  TableState state;
  StoreUsage store;  // of all tables together, and of what belongs to none
};

// All of a database, as of about one moment.
struct DatabaseReport {
  StoreUsage store;
  std::vector<TableState> tables;  // by name
};

// One row to write. The caller keeps the memory until the call returns.
struct RowInput {
  std::string_view word;
  std::span<const float> vector;
  std::optional<uint64_t> row_id;  // explicit id: never used before, or the word's own
};

// A row of a batch that was left out.
struct RejectedRow {
  size_t index = 0;  // its place in the batch
  absl::Status reason;
};

struct UpsertOutcome {
  uint64_t inserted = 0;
  uint64_t replaced = 0;
  uint64_t sequence = 0;              // 0 when every row was left out
  std::vector<uint64_t> row_ids;      // of the rows written, in the order of the batch
  std::vector<RejectedRow> rejected;  // in the order of the batch
};

// Rows that were checked and encoded, on their way into their table; see Table::PrepareUpsert.
struct PreparedUpsert {
  Mutation mutation;                  // of the good rows
  std::vector<size_t> places;         // of these in the batch
  std::vector<RejectedRow> rejected;  // the others, in the order of the batch
  bool skip_bad = false;
};

// Keys of rows: words or row ids.
using RowKeys = std::variant<std::vector<std::string_view>, std::vector<uint64_t>>;

// One stored row, owned.
struct RowValue {
  uint64_t row_id = 0;
  std::string word;
  std::vector<float> vector;
};

struct GetOutcome {
  std::vector<RowValue> rows;   // in the order of the keys, without those missing
  std::vector<size_t> missing;  // places in the keys
};

struct DeleteOutcome {
  uint64_t deleted = 0;
  uint64_t sequence = 0;        // 0 when nothing was there to delete
  std::vector<size_t> missing;  // places in the keys
};

// A word, a row id or a vector of the table's dimension.
using QueryTarget = std::variant<std::string_view, uint64_t, std::span<const float>>;

// How indexes are made.
struct IndexOptions {
  std::string directory;       // of all tables' indexes; empty: they live in memory alone
  size_t build_threads = 1;    // that build a graph
  size_t graph_rows = 16'384;  // from which on a segment gets one
};

// The recall that searches reach unless they ask for another.
inline constexpr double kDefaultRecall = 0.98;

// What all queries of a request share.
struct SearchOptions {
  uint32_t k = 10;
  bool exact = false;               // scan, whatever graphs there are
  double recall = kDefaultRecall;   // over 0, up to 1: which asks for exact answers, too
  std::optional<double> min_score;  // leave out hits below it
  std::vector<std::string_view> exclude_words;  // unknown ones are ignored
  std::optional<uint64_t> first_n;              // only rows with an id below it
  bool include_self = false;                    // the query's own word may be a hit
  bool include_vectors = false;
  uint64_t max_hits = 0;  // over all queries; 0: no limit
  absl::Time deadline = absl::InfiniteFuture();
  std::function<bool()> cancelled;  // polled; may be empty
};

// One near row.
struct SearchHit {
  uint64_t row_id = 0;
  std::string word;
  double score = 0;                // higher is nearer
  std::optional<double> distance;  // L2, under euclidean only
  std::vector<float> vector;       // where asked for
};

// Why fewer hits than k came back.
enum class ShortReason { kNone, kTableSmaller, kFiltered, kMinScore };

// The answer to one query.
struct QueryOutcome {
  absl::Status status;          // NOT_FOUND for an unknown word, INVALID_ARGUMENT for a bad vector
  std::vector<SearchHit> hits;  // nearest first, equal scores by lower row id
  ShortReason short_reason = ShortReason::kNone;
  uint64_t rows_searched = 0;  // live rows that the filter let through
  bool exact = true;           // no row that belongs among the hits can be missing
  uint32_t width = 0;          // of the walk, where the answer isn't exact
  double recall = 1;           // measured for walks of that width
};

struct SearchOutcome {
  std::vector<QueryOutcome> queries;  // in the order asked
  bool exact = true;                  // all of them
  std::string device;                 // which backend proposed: "cpu"
  uint64_t sequence = 0;              // the last mutation that the search saw
};

struct SimilarityOutcome {
  double score = 0;
  std::optional<double> distance;  // L2, under euclidean only
};

// Which rows a scan lists: by id in [begin, end), or by word with a prefix.
struct RowIdRange {
  uint64_t begin = 0;
  std::optional<uint64_t> end;
};
struct WordPrefix {
  std::string prefix;                // empty: all words
  std::optional<std::string> after;  // only words that sort after this one
};
using ScanRange = std::variant<RowIdRange, WordPrefix>;

}  // namespace vectable
