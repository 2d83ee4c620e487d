#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/events.h"

namespace vectable {

// Keeps what was reported, "error: ..." for errors. Thread-safe.
class TestEvents final : public EventSink {
 public:
  void Report(Level level, std::string_view text) override {
    absl::MutexLock lock(&mu_);
    lines_.push_back((level == Level::kError ? "error: " : "") + std::string(text));
  }

  std::vector<std::string> lines() const {
    absl::MutexLock lock(&mu_);
    return lines_;
  }

 private:
  mutable absl::Mutex mu_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vectable
