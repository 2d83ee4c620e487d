#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace vectable {

// Threads that run tasks in the order given, with a bounded number of tasks waiting: a server with
// too much to do says so at once. Thread-safe.
class WorkerPool {
 public:
  struct Options {
    size_t threads = 2;
    size_t max_waiting = 1'024;                  // tasks that no thread has taken up yet
    size_t max_waiting_bytes = size_t{1} << 30;  // of the requests that they hold
  };

  // What no thread has taken up yet.
  struct Load {
    size_t tasks = 0;
    size_t bytes = 0;
  };

  explicit WorkerPool(const Options& options);
  // As Shutdown.
  ~WorkerPool();

  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Has `task`, which holds a request of `bytes` bytes and doesn't throw, run by one of the
  // threads. RESOURCE_EXHAUSTED when too many tasks or bytes wait (a task always fits an empty
  // queue), UNAVAILABLE after Shutdown; then the task is never run.
  absl::Status Submit(std::function<void()> task, size_t bytes = 0) ABSL_LOCKS_EXCLUDED(mu_);

  Load load() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return {waiting_.size(), waiting_bytes_};
  }

  // Takes no more tasks, runs those that wait, and returns when all are done. Not to be called from
  // a task.
  void Shutdown() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Waiting {
    std::function<void()> task;
    size_t bytes = 0;
  };

  // Whether a worker needn't sleep.
  bool HasNews() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stopping_ || !waiting_.empty(); }

  absl::Status CheckRoom(size_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Work() ABSL_LOCKS_EXCLUDED(mu_);

  const Options options_;

  mutable absl::Mutex mu_;
  absl::CondVar news_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mu_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vectable
