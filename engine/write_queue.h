#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace vectable {

// Takes turns among the writers of one table, and lets those that wait be committed together: one
// of them does the work of all, in the order they came. Thread-safe.
template <typename Job>
class WriteQueue {
 public:
  // Does the work of some jobs; called by one thread at a time.
  using CommitJobs = std::function<void(const std::vector<Job*>& jobs)>;

  // Jobs are taken together up to `max_weight`, but always at least one. Job has `size_t weight()
  // const`.
  WriteQueue(CommitJobs commit, size_t max_weight)
      : commit_(std::move(commit)), max_weight_(max_weight) {}

  // Returns when the job is done, by this thread or another.
  void Run(Job& job) ABSL_LOCKS_EXCLUDED(mu_) {
    Entry entry{&job};
    mu_.Lock();
    waiting_.push_back(&entry);
    while (true) {
      const auto may_go_on = [this, &entry]()
                                 ABSL_SHARED_LOCKS_REQUIRED(mu_) { return entry.done || !busy_; };
      mu_.Await(absl::Condition(&may_go_on));
      if (entry.done) break;
      LeadOnce();
    }
    mu_.Unlock();
  }

  // Runs `work` while no commit is under way.
  void RunExclusive(const std::function<void()>& work) ABSL_LOCKS_EXCLUDED(mu_) {
    mu_.Lock();
    const auto idle = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return !busy_; };
    mu_.Await(absl::Condition(&idle));
    busy_ = true;
    mu_.Unlock();
    work();
    mu_.Lock();
    busy_ = false;
    mu_.Unlock();
  }

 private:
  struct Entry {
    Job* job;
    bool done = false;
  };

  // Commits the first jobs of the queue; gives the lock up meanwhile.
  void LeadOnce() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    std::vector<Entry*> taken;
    std::vector<Job*> jobs;
    size_t weight = 0;
    while (!waiting_.empty() &&
           (jobs.empty() || weight + waiting_.front()->job->weight() <= max_weight_)) {
      weight += waiting_.front()->job->weight();
      taken.push_back(waiting_.front());
      jobs.push_back(waiting_.front()->job);
      waiting_.pop_front();
    }
    busy_ = true;
    mu_.Unlock();
    commit_(jobs);
    mu_.Lock();
    busy_ = false;
    for (Entry* entry : taken) entry->done = true;
  }

  const CommitJobs commit_;
  const size_t max_weight_;
  absl::Mutex mu_;
  bool busy_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<Entry*> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vectable
