#include "index/background_threads.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace vectable {
namespace {

constexpr int kNiceness = 10;

}  // namespace

void RunInBackground(size_t threads, const std::function<void()>& work) {
  if (threads <= 1) return work();
  std::vector<std::thread> running;
  for (size_t i = 0; i < threads; ++i) {
    running.emplace_back([&work] {
      // Of this thread alone, on Linux.
      setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNiceness);
      work();
    });
  }
  for (std::thread& thread : running) thread.join();
}

}  // namespace vectable
