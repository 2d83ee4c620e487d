#include "server/memory_budget.h"

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

constexpr int64_t kLookUpEveryMicros = 20'000;

}  // namespace

uint64_t AnonymousMemoryBytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "RssAnon:") continue;
    uint64_t kib = 0;
    status >> kib;
    return kib * 1024;
  }
  return 0;
}

absl::Status MemoryBudget::Check() const {
  if (bytes_ == 0) return absl::OkStatus();
  const int64_t now = absl::GetCurrentTimeNanos() / 1'000;
  if (now - looked_up_micros_ > kLookUpEveryMicros) {
    looked_up_micros_ = now;
    used_ = AnonymousMemoryBytes();
  }
  const uint64_t used = used_;
  if (used <= bytes_) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the server has ", WithThousands(used), " bytes of memory; max_memory_bytes is ",
                   WithThousands(bytes_), ", and no rows are taken above it"));
}

}  // namespace vectable
