#include "engine/load_queue.h"

#include <utility>

namespace vectable {

LoadQueue::LoadQueue(std::function<void(Table& table)> loaded)
    : loaded_(std::move(loaded)), thread_([this] { Run(); }) {}

LoadQueue::~LoadQueue() {
  {
    absl::MutexLock lock(&mu_);
    stop_ = true;
  }
  thread_.join();
}

void LoadQueue::Add(std::weak_ptr<Table> table) {
  absl::MutexLock lock(&mu_);
  waiting_.push_back(std::move(table));
}

void LoadQueue::Run() {
  while (true) {
    std::weak_ptr<Table> next;
    {
      absl::MutexLock lock(&mu_);
      const auto ready = [this]()
                             ABSL_SHARED_LOCKS_REQUIRED(mu_) { return stop_ || !waiting_.empty(); };
      mu_.Await(absl::Condition(&ready));
      if (stop_) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (const std::shared_ptr<Table> table = next.lock()) {
      table->LoadIndex(stop_);
      if (!stop_) loaded_(*table);
    }
  }
}

}  // namespace vectable
