#include "engine/maintainer.h"

#include <utility>

#include "absl/time/time.h"

namespace vectable {
namespace {

constexpr absl::Duration kInterval = absl::Milliseconds(100);  // between looks at all tables

}  // namespace

Maintainer::Maintainer(std::function<std::vector<std::shared_ptr<Table>>()> tables)
    : tables_(std::move(tables)), thread_([this] { Run(); }) {}

Maintainer::~Maintainer() {
  stop_ = true;
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.join();
}

void Maintainer::Run() {
  while (true) {
    bool busy = false;
    for (const std::shared_ptr<Table>& table : tables_()) {
      if (!stop_ && table->MergeSegments(stop_)) busy = true;
    }
    absl::MutexLock lock(&mu_);
    if (busy && !stopping_) continue;
    if (mu_.AwaitWithTimeout(absl::Condition(&stopping_), kInterval)) return;
  }
}

}  // namespace vectable
