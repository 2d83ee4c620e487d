#include "engine/store_keeper.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace vectable {
namespace {

constexpr absl::Duration kLookEvery = absl::Milliseconds(100);  // between looks
constexpr absl::Duration kFirstRetry = absl::Milliseconds(200);
constexpr absl::Duration kLastRetry = absl::Seconds(1);

}  // namespace

StoreKeeper::StoreKeeper(const Store& store, EventSink& events,
                         std::function<absl::Status()> recover)
    : store_(store), events_(events), recover_(std::move(recover)), thread_([this] { Run(); }) {}

StoreKeeper::~StoreKeeper() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.join();
}

void StoreKeeper::Run() {
  absl::Duration wait = kLookEvery;
  absl::Status said;
  while (true) {
    {
      absl::MutexLock lock(&mu_);
      if (mu_.AwaitWithTimeout(absl::Condition(&stopping_), wait)) return;
    }
    if (!store_.failed()) {
      wait = kLookEvery;
      said = absl::OkStatus();
      continue;
    }
    const absl::Status status = recover_();
    if (status.ok()) continue;
    // The same error again and again is said once.
    if (said.code() != status.code()) {
      events_.Report(EventSink::Level::kError,
                     absl::StrCat("nothing can be written: ", status.message()));
      said = status;
    }
    wait = std::min(std::max(2 * wait, kFirstRetry), kLastRetry);
  }
}

}  // namespace vectable
