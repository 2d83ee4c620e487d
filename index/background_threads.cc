#include "index/background_threads.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <exception>
#include <thread>
#include <vector>

namespace vectable {
namespace {

constexpr int kNiceness = 10;

}  // namespace

void RunInBackground(size_t threads, const std::function<void()>& work) {
  if (threads <= 1) return work();
  std::vector<std::exception_ptr> failures(threads);
  std::vector<std::thread> running;
  running.reserve(threads);
  for (std::exception_ptr& failure : failures) {
    running.emplace_back([&work, &failure] {
      // Of this thread alone, on Linux.
      setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNiceness);
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace vectable
