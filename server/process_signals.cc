#include "server/process_signals.h"

#include <pthread.h>

#include <csignal>

namespace vectable {
namespace {

sigset_t SignalSet(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

sigset_t Awaited() { return SignalSet({SIGINT, SIGTERM, SIGHUP}); }

}  // namespace

ProcessSignals::ProcessSignals() {
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t signals = Awaited();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

const char* ProcessSignals::WaitForStop(const std::function<void()>& on_hangup) {
  const sigset_t signals = Awaited();
  int signal = 0;
  do {
    sigwait(&signals, &signal);
    if (signal == SIGHUP) on_hangup();
  } while (signal == SIGHUP);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  const sigset_t stops = SignalSet({SIGINT, SIGTERM});
  pthread_sigmask(SIG_UNBLOCK, &stops, nullptr);
  return signal == SIGINT ? "SIGINT" : "SIGTERM";
}

}  // namespace vectable
