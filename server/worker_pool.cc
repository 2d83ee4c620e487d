#include "server/worker_pool.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sizing/footprint.h"

namespace vectable {

WorkerPool::WorkerPool(const Options& options) : options_(options) {
  absl::MutexLock lock(&mu_);
  for (size_t i = 0; i < std::max<size_t>(options_.threads, 1); ++i) {
    threads_.emplace_back([this] { Work(); });
  }
}

WorkerPool::~WorkerPool() { Shutdown(); }

absl::Status WorkerPool::Submit(std::function<void()> task, size_t bytes) {
  absl::MutexLock lock(&mu_);
  if (absl::Status status = CheckRoom(bytes); !status.ok()) return status;
  waiting_.push_back({std::move(task), bytes});
  waiting_bytes_ += bytes;
  news_.Signal();
  return absl::OkStatus();
}

absl::Status WorkerPool::CheckRoom(size_t bytes) const {
  if (stopping_) return absl::UnavailableError("the server is shutting down");
  if (waiting_.size() >= options_.max_waiting) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the server has ", WithThousands(waiting_.size()), " requests waiting, its limit"));
  }
  if (!waiting_.empty() && waiting_bytes_ + bytes > options_.max_waiting_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the server has requests of ", WithThousands(waiting_bytes_),
                     " bytes waiting; its limit is ", WithThousands(options_.max_waiting_bytes)));
  }
  return absl::OkStatus();
}

void WorkerPool::Shutdown() {
  std::vector<std::thread> threads;
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    threads.swap(threads_);
    news_.SignalAll();
  }
  for (std::thread& thread : threads) thread.join();
}

void WorkerPool::Work() {
  while (true) {
    std::function<void()> task;
    {
      absl::MutexLock lock(&mu_);
      while (!HasNews()) news_.Wait(&mu_);
      if (waiting_.empty()) return;
      task = std::move(waiting_.front().task);
      waiting_bytes_ -= waiting_.front().bytes;
      waiting_.pop_front();
    }
    task();
  }
}

}  // namespace vectable
