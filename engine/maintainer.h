#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/table.h"

namespace vectable {

// Looks after the tables' indexes on a thread of its own: merges segments and builds their graphs,
// one at a time. Thread-safe.
class Maintainer {
 public:
  // `tables` gives those that there are now.
  explicit Maintainer(std::function<std::vector<std::shared_ptr<Table>>()> tables);
  // Gives up the merge under way.
  ~Maintainer();
  Maintainer(const Maintainer&) = delete;
  Maintainer& operator=(const Maintainer&) = delete;

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);

  const std::function<std::vector<std::shared_ptr<Table>>()> tables_;
  std::atomic<bool> stop_{false};
  absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace vectable
