#include "client/cli/interrupt.h"

#include <csignal>

namespace vectable {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;  // a handler can reach nothing else

void Note(int) { g_interrupted = 1; }

}  // namespace

InterruptGuard::InterruptGuard() {
  g_interrupted = 0;
  struct sigaction action {};
  action.sa_handler = Note;
  action.sa_flags =
      static_cast<int>(SA_RESETHAND);  // and no SA_RESTART: a read from a terminal returns
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptGuard::interrupted() { return g_interrupted != 0; }

}  // namespace vectable
