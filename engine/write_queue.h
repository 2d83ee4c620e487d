#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace vectable {

// Takes turns among the writers of one table, and lets those that wait be committed together: one
// of them does the work of all, in the order they came. The work has two steps; while one group is
// in the second, the next may be in the first. Thread-safe.
template <typename Job>
class WriteQueue {
 public:
  // Does the first step for some jobs and returns the second, or nothing where none is needed. Each
  // step is done by one thread at a time, the second in the order of the first.
  using SecondStep = std::function<void()>;
  using CommitJobs = std::function<SecondStep(const std::vector<Job*>& jobs)>;

  // Jobs are taken together up to `max_weight`, but always at least one. Job has `size_t weight()
  // const`.
  WriteQueue(CommitJobs commit, size_t max_weight)
      : commit_(std::move(commit)), max_weight_(max_weight) {}

  // Returns when both steps are done for the job, by this thread or another.
  void Run(Job& job) ABSL_LOCKS_EXCLUDED(mu_) {
    Entry entry{&job};
    mu_.Lock();
    waiting_.push_back(&entry);
    while (true) {
      const auto may_go_on = [this, &entry]() ABSL_SHARED_LOCKS_REQUIRED(mu_) {
        return entry.done || (!entry.taken && !in_first_ && exclusive_waiting_ == 0);
      };
      mu_.Await(absl::Condition(&may_go_on));
      if (entry.done) break;
      LeadOnce();
    }
    mu_.Unlock();
  }

  // Runs `work` while no commit is under way. Goes before jobs that wait: they could always keep
  // one of the steps busy.
  void RunExclusive(const std::function<void()>& work) ABSL_LOCKS_EXCLUDED(mu_) {
    mu_.Lock();
    ++exclusive_waiting_;
    const auto idle = [this]()
                          ABSL_SHARED_LOCKS_REQUIRED(mu_) { return !in_first_ && !in_second_; };
    mu_.Await(absl::Condition(&idle));
    --exclusive_waiting_;
    in_first_ = true;
    mu_.Unlock();
    work();
    mu_.Lock();
    in_first_ = false;
    mu_.Unlock();
  }

 private:
  struct Entry {
    Job* job;
    bool taken = false;
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
      taken.back()->taken = true;
      jobs.push_back(waiting_.front()->job);
      waiting_.pop_front();
    }
    in_first_ = true;
    mu_.Unlock();
    const SecondStep second = commit_(jobs);
    mu_.Lock();
    if (second) {
      // Whoever is in the second step came before; none can come between.
      const auto free = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return !in_second_; };
      mu_.Await(absl::Condition(&free));
      in_second_ = true;
      in_first_ = false;
      mu_.Unlock();
      second();
      mu_.Lock();
      in_second_ = false;
    } else {
      in_first_ = false;
    }
    for (Entry* entry : taken) entry->done = true;
  }

  const CommitJobs commit_;
  const size_t max_weight_;
  absl::Mutex mu_;
  bool in_first_ ABSL_GUARDED_BY(mu_) = false;
  bool in_second_ ABSL_GUARDED_BY(mu_) = false;
  size_t exclusive_waiting_ ABSL_GUARDED_BY(mu_) = 0;
  std::deque<Entry*> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vectable
