#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/table.h"

namespace vectable {

// Loads tables' indexes one after another on a thread of its own. Thread-safe.
class LoadQueue {
 public:
  // `loaded` is called after each load that wasn't stopped.
  explicit LoadQueue(std::function<void(Table& table)> loaded);
  // Ends the load under way and forgets the others.
  ~LoadQueue();
  LoadQueue(const LoadQueue&) = delete;
  LoadQueue& operator=(const LoadQueue&) = delete;

  // A table that is gone by its turn is passed over.
  void Add(std::weak_ptr<Table> table) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);

  const std::function<void(Table& table)> loaded_;
  std::atomic<bool> stop_{false};
  absl::Mutex mu_;
  std::deque<std::weak_ptr<Table>> waiting_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace vectable
