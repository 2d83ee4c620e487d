#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "common/events.h"
#include "common/limits.h"
#include "common/vector_codec.h"
#include "engine/live_index.h"
#include "engine/table_writer.h"
#include "engine/types.h"
#include "index/batch_backend.h"
#include "index/precision_study.h"
#include "index/sealed_segment.h"
#include "storage/mutation.h"
#include "storage/store.h"

namespace vectable {

// Lists rows in order, as of the moment it was made. Not thread-safe; must end before its database
// does.
class RowScan {
 public:
  // `cursor` gives the rows, `codec` their vectors.
  RowScan(std::unique_ptr<RowCursor> cursor, VectorCodec codec, bool include_vectors)
      : cursor_(std::move(cursor)), codec_(codec), include_vectors_(include_vectors) {}

  // The next row (its vector empty where the scan leaves them out), or nothing at the end.
  absl::StatusOr<std::optional<RowValue>> Next();

 private:
  const std::unique_ptr<RowCursor> cursor_;
  const VectorCodec codec_;
  const bool include_vectors_;
};

// One table: its rows in the store, its index, and the order of steps between them.
//
// A write is validated, waits for its turn, gets the table's next sequence number, is committed to
// the store (together with others that wait) and then applied to the index; when it returns, it is
// durable and the next search sees it. Thread-safe. Searches never wait for writes or the disk.
class Table : public std::enable_shared_from_this<Table> {
 public:
  // What a table works with; all of it outlives the table.
  struct Parts {
    Store& store;
    const Limits& limits;
    EventSink& events;
    const BatchBackend& backend;
    const IndexOptions& index;
    // Held to change which files any table's index is made of; a snapshot holds it, too.
    absl::Mutex& publishing;
    // Called with each committed mutation, in order; may be empty.
    std::function<void(const std::string& name, uint64_t sequence, const Mutation& mutation)>
        on_mutation;
    // Called when the index is lost and LoadIndex must be called again, from a thread of its own.
    std::function<void(Table& table)> on_index_lost;
  };

  // Made by Database. Writes and reads work at once, searches after LoadIndex.
  Table(TableRecord record, Parts parts);
  // Removes the index's folder when the table was dropped.
  ~Table();

  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // Fills the index from the store, then takes in what was written meanwhile. Ends early, without
  // an index, when `stop` is set. A failure is reported and becomes the answer of every search.
  void LoadIndex(const std::atomic<bool>& stop);

  TableDescription Describe() const;

  // Measures what the table takes. NOT_FOUND when it was dropped.
  absl::StatusOr<TableReport> Report() const;

  // The table's part of that, where the store's usage is known; nothing when it was dropped by
  // then.
  std::optional<TableState> State(const StoreUsage& store) const;

  // Whether a search would get an error at once, as the index couldn't be loaded.
  bool failed() const { return !searchable() && !index_.failure().ok(); }
  // Whether a search would be answered at once.
  bool searchable() const { return index_.snapshot() != nullptr; }
  // Whether the search takes well under a millisecond, by an estimate that costs next to nothing:
  // few hits, by a walk along a graph or among few rows. False while the table loads.
  bool IsShortSearch(const QueryTarget& query, const SearchOptions& options) const;

  // Writes all rows or none. Errors name the row's place and word: INVALID_ARGUMENT (empty batch,
  // bad word or vector, word or id twice), ALREADY_EXISTS (insert-only; id in use), NOT_FOUND
  // (update-only; table dropped), RESOURCE_EXHAUSTED (table full).
  absl::StatusOr<UpsertOutcome> Upsert(std::span<const RowInput> rows, UpsertMode mode);

  // As Upsert, but leaves bad rows out, reports them, and writes the others in one mutation.
  absl::StatusOr<UpsertOutcome> UpsertSkippingBad(std::span<const RowInput> rows, UpsertMode mode);

  // The two parts of the above, for who prepares a batch while another is committed. What is
  // prepared refers to no memory of the rows' any more.
  absl::StatusOr<PreparedUpsert> PrepareUpsert(std::span<const RowInput> rows, UpsertMode mode,
                                               bool skip_bad) const;
  // `on_stored` as TableWriter::Submit has it; not called when every row was left out.
  absl::StatusOr<UpsertOutcome> CommitUpsert(PreparedUpsert prepared,
                                             std::function<void()> on_stored = {});

  // Deletes the rows that are there and reports unknown keys; a key given twice counts once.
  // INVALID_ARGUMENT for no keys or too many.
  absl::StatusOr<DeleteOutcome> Delete(const RowKeys& keys);

  // Reads rows, all from one moment. INVALID_ARGUMENT for no keys or too many.
  absl::StatusOr<GetOutcome> Get(const RowKeys& keys) const;

  // Lists rows in the range's order. INVALID_ARGUMENT for an id range whose end is before its
  // begin.
  absl::StatusOr<std::unique_ptr<RowScan>> Scan(const ScanRange& range, bool include_vectors) const;

  // Answers every query on one snapshot; a query's own error is in its outcome. While the table
  // loads it waits until the deadline: UNAVAILABLE. INVALID_ARGUMENT for k, the number of queries
  // or min_score out of range; DEADLINE_EXCEEDED or CANCELLED when stopped on the way;
  // RESOURCE_EXHAUSTED above options.max_hits.
  absl::StatusOr<SearchOutcome> Nearest(std::span<const QueryTarget> queries,
                                        const SearchOptions& options) const;

  // Begins to measure what each precision costs, with up to `queries` of the rows as queries.
  // INVALID_ARGUMENT for a number out of range, UNAVAILABLE while the table loads,
  // FAILED_PRECONDITION for fewer than two rows.
  absl::StatusOr<std::unique_ptr<PrecisionStudy>> StudyPrecisions(uint32_t queries) const;

  // Compares two rows or vectors. Reads the store, so it works while the table loads.
  absl::StatusOr<SimilarityOutcome> Similarity(const QueryTarget& a, const QueryTarget& b) const;

  // Applies a mutation that has its sequence number already: the step that every write ends in, and
  // what replays a recorded log. Does nothing (OK) for a sequence applied before;
  // FAILED_PRECONDITION for one that would leave a gap.
  absl::Status Apply(uint64_t sequence, const Mutation& mutation);

  // Merges some segments of the index where that is worth it, which may take minutes; false when
  // there is nothing to do, or `stop` was set. The Maintainer's, which calls it again and again.
  bool MergeSegments(const std::atomic<bool>& stop);

  // Adds the index's files to a snapshot's folder of indexes. The Database's, which holds
  // `publishing`.
  absl::Status LinkIndex(const std::string& folder) const;
  uint32_t table_id() const { return table_id_; }

  // The Database's, when the store was opened again after a failure.
  // Runs `work` between two writes, with the catalogue row.
  void RunBetweenWrites(const std::function<void(TableRecord& record)>& work) {
    writer_.RunExclusive(work);
  }
  // Between two writes: `record` becomes what the store has. Whether the index must be loaded (it
  // was being loaded without success, or the store has a mutation that it doesn't know).
  bool TakeOver(const TableRecord& stored, TableRecord& record);
  // Between two writes: the store doesn't have the table any more.
  void RetireFromStore() { writer_.Retire(); }

  // Has all segments merged into as few as there can be, soon; optimizing() until that is done. The
  // error that the index failed to load with, if it did; RESOURCE_EXHAUSTED where the disk has no
  // room for it.
  absl::Status Optimize();
  // The parts of the index; none while it is loaded.
  std::vector<SegmentDescription> Segments() const;
  bool optimizing() const {
    return optimizing_.load(std::memory_order_acquire) != Optimizing::kNo && index_.failure().ok();
  }

 private:
  friend class Database;

  // Database's part, under its catalogue lock. Rename also drops `replaced`, if given, in the same
  // step.
  absl::Status Rename(const std::string& new_name, Table* replaced);
  absl::Status Drop();

  std::string Label() const;  // "table 'glove'"
  absl::StatusOr<std::vector<std::optional<StoredRow>>> ReadRows(const RowKeys& keys) const;
  // The vector that a target of Similarity means.
  absl::StatusOr<std::vector<float>> VectorOf(const QueryTarget& target) const;
  absl::Status UnknownWord(std::string_view word) const;
  // Whether a mutation from outside has the table's shape and good rows.
  absl::Status CheckMutation(const Mutation& mutation) const;

  // Loading.
  bool RetiredBetweenCommits();
  absl::Status RemoveIndexFiles() ABSL_LOCKS_EXCLUDED(parts_.publishing);
  absl::Status TryLoadIndex(const std::atomic<bool>& stop);
  // Loads the segments of an earlier run; the sequence number that they cover, or nothing where
  // there are none that fit.
  absl::StatusOr<std::optional<uint64_t>> OpenSegments(TableIndex& index);
  // Takes what was written since `sequence` in, and lets searches use the index.
  absl::Status CatchUpAndInstall(std::unique_ptr<TableIndex> index, uint64_t sequence);
  absl::StatusOr<uint64_t> LoadRows(TableIndex& index, const std::atomic<bool>& stop);
  // Takes in log entries after `sequence`, at most `rounds` reads of them; the sequence then
  // reached.
  absl::StatusOr<uint64_t> CatchUp(TableIndex& index, uint64_t sequence, size_t rounds) const;
  absl::Status TakeIn(TableIndex& index, const LogEntry& entry) const;

  // Merging.
  MergeWish NextMerge();
  // Writes what the index is made of now to its folder.
  absl::Status SaveManifest();
  // Looks through what was loaded unchecked, once; a damaged index is loaded anew, from the rows.
  void CheckSegments(const std::atomic<bool>& stop);
  // About what a merged segment of so many rows takes on disk.
  uint64_t MergedBytes(uint64_t rows) const;
  absl::Status BuildMerged(const LiveIndex::Merge& merge, const std::atomic<bool>& stop,
                           std::shared_ptr<SealedSegment>& merged);

  const Parts parts_;
  const uint32_t table_id_;
  const TableSpec shape_;  // without the name, which may change
  const VectorCodec codec_;
  LiveIndex index_;
  TableWriter writer_;

  std::unique_ptr<IndexDirectory> directory_;  // null where the index lives in memory alone
  // Segments were loaded whose rows weren't looked at, or a search met a row that is damaged.
  mutable std::atomic<bool> unchecked_{false};

  // Asked for; and on its way, once everything there was at that time is being merged.
  enum class Optimizing { kNo, kAsked, kGoesOn };
  std::atomic<Optimizing> optimizing_{Optimizing::kNo};
  // The Maintainer's.
  absl::Time busy_since_ = absl::InfiniteFuture();  // rows come in; and how many had before
  uint64_t busy_from_ = 0;
  absl::Time merge_again_at_ = absl::InfinitePast();  // after a failure
};

}  // namespace vectable
