#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "common/limits.h"
#include "engine/group_resolver.h"
#include "engine/live_index.h"
#include "engine/write_queue.h"
#include "storage/mutation.h"
#include "storage/store.h"

namespace vectable {

// The one place where a table changes: gives mutations their sequence numbers and row ids, commits
// them to the store, then to the index, then reports them. Thread-safe.
class TableWriter {
 public:
  // Called with each mutation as it was committed, in order: what a replicated log would carry. May
  // be empty.
  using Listener = std::function<void(uint64_t sequence, const Mutation& mutation)>;
  // Called when the index failed and must be loaded again.
  using IndexLost = std::function<void()>;

  // `store`, `limits` and `index` must outlive the writer.
  TableWriter(TableRecord record, Store& store, const Limits& limits, LiveIndex& index,
              Listener listener, IndexLost index_lost);

  // Commits a validated mutation as the table's next one and returns what it did. With `skip_bad`,
  // rows that can't be written are left out. Errors as GroupResolver::Resolve, NOT_FOUND after
  // Retire, or the store's; nothing is changed then. `on_stored`, unless empty, is called when the
  // store has the mutation and the index doesn't yet, if there is anything to write: from then on
  // there can be no error, and what is submitted then comes after it.
  absl::StatusOr<MutationOutcome> Submit(Mutation mutation, bool skip_bad,
                                         std::function<void()> on_stored = {});

  // Commits a mutation that has its number. OK for one applied before; FAILED_PRECONDITION for a
  // gap.
  absl::Status Apply(uint64_t sequence, const Mutation& mutation);

  // Runs `work` between commits, with the catalogue row as it is then; `work` may change it.
  void RunExclusive(const std::function<void(TableRecord& record)>& work);

  // Writes fail with NOT_FOUND from now on. To be called inside RunExclusive.
  void Retire() ABSL_LOCKS_EXCLUDED(mu_);

  bool retired() const ABSL_LOCKS_EXCLUDED(mu_);

  TableRecord record() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Job {
    Mutation mutation;
    bool skip_bad = false;
    uint64_t sequence = 0;  // 0: the next one
    std::function<void()> on_stored = {};
    absl::StatusOr<MutationOutcome> outcome = MutationOutcome();

    size_t weight() const {
      return mutation.codes.size() + 64 * (mutation.words.size() + mutation.row_ids.size());
    }
  };

  // Jobs that are committed together.
  struct Group {
    Group(const Store& store, const TableRecord& record, const Limits& limits)
        : resolver(store, record, limits) {}

    GroupResolver resolver;  // the commits refer to its memory
    std::vector<Commit> commits;
    std::vector<Job*> jobs;  // of the commits
  };

  // The first step of a commit is the store's, the second the index's, so that a group is written
  // while the one before is indexed.
  std::function<void()> StoreGroup(const std::vector<Job*>& jobs);
  void IndexGroup(const Group& group);
  // Whether the job goes on to be resolved; sets its outcome otherwise.
  bool Admit(Job& job, uint64_t applied) const;
  Store& store_;
  const Limits& limits_;
  LiveIndex& index_;
  const Listener listener_;
  const IndexLost index_lost_;
  WriteQueue<Job> queue_;

  mutable absl::Mutex mu_;
  TableRecord record_ ABSL_GUARDED_BY(mu_);  // changed between commits only
  bool retired_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace vectable
