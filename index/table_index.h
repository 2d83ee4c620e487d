#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
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
#include "index/index_directory.h"
#include "index/index_memory.h"
#include "index/recall_curve.h"
#include "index/row_block.h"

namespace vectable {

class GrowingSegment;
class SealedSegment;
class Segment;

// A merge makes no segment of more rows, so that it stays bounded in a table of any size.
inline constexpr uint64_t kMostMergedRows = 2'000'000;

// One search; all its queries share the filter but for their own exclusions.
struct IndexQuery {
  std::span<const float> vector;           // of the table's dimension, checked
  std::vector<uint64_t> excluded_row_ids;  // live rows of the snapshot that must not come back
};
struct IndexSearchOptions {
  size_t k = 0;                     // at least 1
  std::optional<uint64_t> first_n;  // only rows with an id below it
  // The share of the true k nearest that an answer shall hold on average; nothing: all of them.
  std::optional<double> recall;
  // Hits below it don't count: an answer with fewer than k above it is made exact.
  std::optional<double> min_score;
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
  bool exact = true;           // no row that belongs among the hits can be missing
  uint32_t width = 0;          // of the widest walk, where the answer isn't exact
  double recall = 1;           // measured for walks of that width
};

// A segment of a table, for people.
struct SegmentDescription {
  uint64_t rows = 0;  // live ones
  uint64_t dead_rows = 0;
  bool sealed = false;
  bool graph = false;
  std::vector<RecallPoint> recall;  // of the graph
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

  // The live row, or nothing. One step, by hash. A damaged row shows in damaged().
  std::optional<IndexedRow> FindWord(std::string_view word) const;
  std::optional<IndexedRow> FindRowId(uint64_t row_id) const;

  std::vector<SegmentDescription> Segments() const;
  // Reads what no search has checked yet: the rows' codes in segment files. DATA_LOSS for damage;
  // ends early when `stop` says so.
  absl::Status CheckSegments(const std::function<bool()>& stop) const;
  // Whether a row was met that wasn't what was written, since the last CheckSegments that was fine.
  bool damaged() const;
  // Whether anything of it might be merged: rows that aren't sealed, from so many on, or segments
  // that are mostly dead. A guess that costs nothing.
  bool MayMerge(size_t close_from) const;

  // The memory that the snapshot's segments take, dead rows with them.
  IndexMemory Memory() const;

  // Calls `visit` for live rows in no promised order until it returns false.
  void ForEachRow(const std::function<bool(const IndexedRow&)>& visit) const;

  // The k nearest rows to each query by the metric's score, computed in double: exact, or with the
  // recall that was asked for, by walks along the graphs of the segments that have one. Answers are
  // exact where a scan is as fast, where no walk reaches the recall, and where walks found fewer
  // than k. The results are in the order of the queries. DATA_LOSS where damaged().
  absl::StatusOr<std::vector<IndexResult>> Search(std::span<const IndexQuery> queries,
                                                  const IndexSearchOptions& options) const;
  // What a search for one query is likely to cost, in rows that a scan looks at; costs next to
  // nothing itself.
  uint64_t RowsScanned(const IndexSearchOptions& options) const;

 private:
  class Request;

  static IndexedRow RowAt(const Segment& segment, uint32_t slot);
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

// Segments whose live rows shall become one, as of a version; see TableIndex::PlanMerge.
struct MergePlan {
  std::vector<IndexSnapshot::Part> sources;
  uint64_t version = 0;
  uint64_t live_rows = 0;
};

// When to merge.
struct MergeWish {
  bool everything = false;  // into as few segments as there can be, without dead rows
  bool join = false;        // what is sealed, as far as it fits into one segment
  bool idle = false;        // nothing is written right now
  // The growing segment is closed, so that it can be merged, from so many rows on.
  size_t close_from = std::numeric_limits<size_t>::max();
  // Where there is a merge, it takes the growing segment too, whatever is in it: then a manifest
  // made after it covers all that was published before.
  bool close = false;
};

// The index of one table: a cache of its rows for search. One writer at a time calls Put, Insert,
// Erase and Publish; any thread calls snapshot(). What was put or erased is seen by snapshots taken
// after the next Publish, all of it or nothing. `backend` must outlive the index and its snapshots.
class TableIndex {
 public:
  TableIndex(Metric metric, VectorCodec codec, const BatchBackend& backend);
  ~TableIndex();

  TableIndex(const TableIndex&) = delete;
  TableIndex& operator=(const TableIndex&) = delete;

  // Adds a row, or replaces the row with this id. `codes` has the codec's length, and its vector
  // was checked. After a throw (std::bad_alloc) the index must be made anew.
  void Put(uint64_t row_id, std::string_view word, std::string_view codes);

  // The same for a row whose id the index never held, which is not checked: it saves looking for
  // the id in every segment.
  void Insert(uint64_t row_id, std::string_view word, std::string_view codes);

  // Removes the row, if it is there.
  void Erase(uint64_t row_id);

  // Makes the changes since the last Publish visible as of `sequence`, and gives back the memory of
  // segments that hold mostly dead rows.
  void Publish(uint64_t sequence);

  // Segments grow by merging, in three steps: between two publications PlanMerge says what to merge
  // (nothing, if all is well); BuildSegment, on another thread while writes go on, makes one
  // segment of it; and, again between two publications, InstallMerged takes that in place of its
  // sources. Sizes of segments fall off at least by half from one to the next, so that a row is
  // moved a number of times that grows as the logarithm of the table. No segment outgrows
  // kMostMergedRows.
  std::optional<MergePlan> PlanMerge(const MergeWish& wish);
  // A null segment gives the merge up.
  void InstallMerged(const MergePlan& plan, std::shared_ptr<SealedSegment> merged);

  // What a manifest says of the index as it was last published, of its sealed segments and their
  // dead rows; the table's own facts are the caller's. Nothing where a sealed segment has no file.
  std::optional<IndexManifest> Manifest() const;

  // Takes over segments of an earlier run and the slots of theirs that are dead; the index is
  // empty. DATA_LOSS where they don't fit each other.
  absl::Status Restore(const IndexManifest& manifest,
                       std::vector<std::shared_ptr<SealedSegment>> segments);

  // The last published state; never null. Waits for nothing but a pointer's copy.
  std::shared_ptr<const IndexSnapshot> snapshot() const ABSL_LOCKS_EXCLUDED(snapshot_mu_);

 private:
  GrowingSegment& Growing();
  void Append(uint64_t row_id, std::string_view word, std::string_view codes);
  bool MarkDead(uint64_t row_id);
  // Moves the live rows of mostly dead segments to the growing one.
  void Compact();
  void MoveLiveRows(const GrowingSegment& from);
  bool IsMerging(const Segment& segment) const;
  uint64_t LiveRows(const Segment& segment) const;

  const Metric metric_;
  const VectorCodec codec_;
  const BatchBackend& backend_;
  std::vector<std::shared_ptr<Segment>> segments_;  // the writer's
  std::shared_ptr<GrowingSegment> growing_;         // the last of them, or null
  std::vector<const Segment*> merging_;
  uint64_t sequence_ = 0;  // of the last publication
  uint64_t version_ = 1;   // of the changes not yet published
  uint64_t live_rows_ = 0;

  mutable absl::Mutex snapshot_mu_;
  std::shared_ptr<const IndexSnapshot> snapshot_ ABSL_GUARDED_BY(snapshot_mu_);
};

}  // namespace vectable
