#pragma once

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "common/events.h"
#include "storage/store.h"

namespace vectable {

// Looks, on a thread of its own, whether the store needs to be opened again, and has that done: at
// once, and where it fails again and again, less and less often.
class StoreKeeper {
 public:
  // `recover` opens the store again. All outlive the keeper.
  StoreKeeper(const Store& store, EventSink& events, std::function<absl::Status()> recover);
  ~StoreKeeper();
  StoreKeeper(const StoreKeeper&) = delete;
  StoreKeeper& operator=(const StoreKeeper&) = delete;

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);

  const Store& store_;
  EventSink& events_;
  const std::function<absl::Status()> recover_;
  absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace vectable
