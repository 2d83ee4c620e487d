#include "server/process_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace vectable {
namespace {

// What the handler writes to and the main thread reads from. A library may have started threads
// before main, which a blocked signal would find unblocked; so signals are handled, on any thread.
int pipe_ends[2] = {-1, -1};

void OnSignal(int signal) {
  const int error = errno;
  const auto number = static_cast<uint8_t>(signal);
  // A pipe that is full holds as many signals as anybody could want.
  [[maybe_unused]] const ssize_t written = write(pipe_ends[1], &number, 1);
  errno = error;
}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

int NextSignal() {
  uint8_t number = 0;
  while (read(pipe_ends[0], &number, 1) != 1) {
    if (errno != EINTR) std::abort();
  }
  return number;
}

}  // namespace

ProcessSignals::ProcessSignals() {
  if (pipe2(pipe_ends, O_CLOEXEC) != 0 || fcntl(pipe_ends[1], F_SETFL, O_NONBLOCK) != 0) {
    std::perror("vectable-server: pipe");
    std::exit(EXIT_FAILURE);
  }
  Handle(SIGPIPE, SIG_IGN);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) Handle(signal, OnSignal);
}

const char* ProcessSignals::WaitForStop(const std::function<void()>& on_hangup) {
  int signal = NextSignal();
  for (; signal == SIGHUP; signal = NextSignal()) on_hangup();
  Handle(SIGINT, SIG_DFL);
  Handle(SIGTERM, SIG_DFL);
  return signal == SIGINT ? "SIGINT" : "SIGTERM";
}

}  // namespace vectable
