#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "common/metric.h"
#include "common/vector_codec.h"
#include "index/batch_backend.h"
#include "index/index_memory.h"
#include "index/row_block.h"

namespace vectable {

class GrowingSegment;
class Segment;

// One search; all its queries share the filter but for their own exclusions.
struct IndexQuery {
  std::span<const float> vector;           // of the table's dimension, checked
  std::vector<uint64_t> excluded_row_ids;  // live rows of the snapshot that must not come back
};
struct IndexSearchOptions {
  size_t k = 0;                              // at least 1
  std::optional<uint64_t> first_n;           // only rows with an id below it
  std::function<absl::Status()> keep_going;  // asked between blocks; an error ends the search
};

// A near row; higher score first, equal scores by lower row id.
struct IndexHit {
  IndexedRow row;
  double score = 0;
};
struct IndexResult {
  std::vector<IndexHit> hits;  // k, or every row that qualifies where fewer do
  uint64_t rows_searched = 0;  // live rows that the filter lets through
};

// The rows of a table as of one sequence number. Immutable and thread-safe: what a writer does
// later isn't seen. Never touches the disk.
class IndexSnapshot {
 public:
  struct Part {
    std::shared_ptr<const Segment> segment;
    size_t slots = 0;  // visible slots
  };

  // `version` orders the publications of one index; rows marked dead in it or before aren't seen.
  IndexSnapshot(Metric metric, VectorCodec codec, const BatchBackend& backend,
                std::vector<Part> parts, uint64_t version, uint64_t sequence, uint64_t live_rows)
      : metric_(metric),
        codec_(codec),
        backend_(backend),
        parts_(std::move(parts)),
        version_(version),
        sequence_(sequence),
        live_rows_(live_rows) {}

  uint64_t sequence() const { return sequence_; }
  uint64_t live_rows() const { return live_rows_; }

  Metric metric() const { return metric_; }
  const VectorCodec& codec() const { return codec_; }
  const BatchBackend& backend() const { return backend_; }

  // For what looks through all rows: those of a block that are live in version() are the
  // snapshot's. Valid while the snapshot is held.
  std::vector<RowBlock> Blocks() const;
  uint64_t version() const { return version_; }

  // The live row, or nothing. One step, by hash.
  std::optional<IndexedRow> FindWord(std::string_view word) const;
  std::optional<IndexedRow> FindRowId(uint64_t row_id) const;

  // The memory that the snapshot's segments take, dead rows with them.
  IndexMemory Memory() const;

  // Calls `visit` for live rows in no promised order until it returns false.
  void ForEachRow(const std::function<bool(const IndexedRow&)>& visit) const;

  // The k nearest rows to each query by the metric's score, computed in double; exact. The results
  // are in the order of the queries.
  absl::StatusOr<std::vector<IndexResult>> Search(std::span<const IndexQuery> queries,
                                                  const IndexSearchOptions& options) const;

 private:
  // Live rows with an id below `end`.
  uint64_t RowsBelow(std::optional<uint64_t> end) const;

  const Metric metric_;
  const VectorCodec codec_;
  const BatchBackend& backend_;
  const std::vector<Part> parts_;
  const uint64_t version_;
  const uint64_t sequence_;
  const uint64_t live_rows_;
};

// The index of one table: a cache of its rows for search. One writer at a time calls Put, Erase and
// Publish; any thread calls snapshot(). What was put or erased is seen by snapshots taken after the
// next Publish, all of it or nothing. `backend` must outlive the index and its snapshots.
class TableIndex {
 public:
  TableIndex(Metric metric, VectorCodec codec, const BatchBackend& backend);
  ~TableIndex();

  TableIndex(const TableIndex&) = delete;
  TableIndex& operator=(const TableIndex&) = delete;

  // Adds a row, or replaces the row with this id. `codes` has the codec's length, and its vector
  // was checked. After a throw (std::bad_alloc) the index must be made anew.
  void Put(uint64_t row_id, std::string_view word, std::string_view codes);

  // Removes the row, if it is there.
  void Erase(uint64_t row_id);

  // Makes the changes since the last Publish visible as of `sequence`, and gives back the memory of
  // segments that hold mostly dead rows.
  void Publish(uint64_t sequence);

  // The last published state; never null. Waits for nothing but a pointer's copy.
  std::shared_ptr<const IndexSnapshot> snapshot() const ABSL_LOCKS_EXCLUDED(snapshot_mu_);

 private:
  GrowingSegment& Growing();
  void Append(uint64_t row_id, std::string_view word, std::string_view codes);
  bool MarkDead(uint64_t row_id);
  // Moves the live rows of mostly dead segments to the growing one.
  void Compact();
  void MoveLiveRows(const Segment& from);

  const Metric metric_;
  const VectorCodec codec_;
  const BatchBackend& backend_;
  std::vector<std::shared_ptr<GrowingSegment>> segments_;  // the writer's; the last one grows
  uint64_t version_ = 1;                                   // of the changes not yet published
  uint64_t live_rows_ = 0;

  mutable absl::Mutex snapshot_mu_;
  std::shared_ptr<const IndexSnapshot> snapshot_ ABSL_GUARDED_BY(snapshot_mu_);
};

}  // namespace vectable
