#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/vector_codec.h"
#include "index/table_index.h"
#include "storage/store.h"

namespace vectable {

// The index of a table as searches see it: absent while it is loaded, then there, perhaps lost
// again. Thread-safe, but the writer's calls (Install, Apply) come one at a time, in the table's
// order.
class LiveIndex {
 public:
  LiveIndex(Metric metric, VectorCodec codec, const BatchBackend& backend)
      : metric_(metric), codec_(codec), backend_(backend) {}

  // An empty index to fill.
  std::unique_ptr<TableIndex> MakeEmpty() const;

  // Readers' part.

  // The last published state, or null while there is none.
  std::shared_ptr<const IndexSnapshot> snapshot() const;

  // Waits for a state until `deadline`: UNAVAILABLE with the progress (of `rows`, now), CANCELLED
  // when `cancelled` (may be empty) says so, or why loading failed.
  absl::StatusOr<std::shared_ptr<const IndexSnapshot>> WaitForSnapshot(
      absl::Time deadline, const std::function<bool()>& cancelled,
      const std::function<uint64_t()>& rows) const;

  // Rows taken in so far.
  uint64_t indexed_rows() const;
  // Why loading failed; OK while it didn't.
  absl::Status failure() const;

  // Loader's part.

  void SetProgress(uint64_t rows);
  // Searches get this error from now on.
  void Fail(const absl::Status& status);

  // Writer's part.

  // Searches are answered by this index from now on; it is published.
  void Install(std::unique_ptr<TableIndex> index);

  // Takes commits in and publishes them. False when there is an index and it failed; then it is
  // gone and must be loaded again. True when there is none yet: the loader will read the log.
  bool Apply(std::span<const Commit> commits);

  // A merge under way, and the index that it is for.
  struct Merge {
    MergePlan plan;
    const TableIndex* index = nullptr;
    bool first = false;  // what comes after its plan is kept because of it alone
  };
  // What to merge now, if anything. For an index in files (`keep_log`) what comes after the merge's
  // plan is kept from now on, if it wasn't before: the first manifest won't cover it.
  std::optional<Merge> PlanMerge(MergeWish wish, bool keep_log);
  // Takes the merged segment in (null: gives the merge up). False where the index that it was made
  // for is gone.
  bool InstallMerged(const Merge& merge, std::shared_ptr<SealedSegment> merged);
  // What a manifest would say of the index now.
  std::optional<IndexManifest> Manifest() const;
  // A manifest that covers up to this sequence number is in use, or will be soon, or none.
  void SetCovered(std::optional<uint64_t> sequence);
  // Searches wait from now on; the index must be loaded again.
  void Lose();

  // Anyone's: whether PlanMerge might have something, without waiting for the writer's turn.
  bool MayMerge(const MergeWish& wish) const;
  // Rows that came in by Apply, and when the last did.
  struct Activity {
    uint64_t rows = 0;
    absl::Time last = absl::InfinitePast();
  };
  Activity activity() const;

  // The sequence number after which mutations must be kept for a later load: what the manifest in
  // use covers or, where there is none, what the index holds (a load then reads all rows); 0 while
  // there is no index.
  uint64_t taken_in() const;

 private:
  std::optional<uint64_t> covered() const;

  const Metric metric_;
  const VectorCodec codec_;
  const BatchBackend& backend_;

  std::unique_ptr<TableIndex> index_;  // the writer's

  mutable absl::Mutex mu_;
  std::shared_ptr<const IndexSnapshot> snapshot_ ABSL_GUARDED_BY(mu_);
  uint64_t progress_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Status failure_ ABSL_GUARDED_BY(mu_);
  Activity activity_ ABSL_GUARDED_BY(mu_);
  std::optional<uint64_t> covered_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vectable
