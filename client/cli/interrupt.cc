#include "client/cli/interrupt.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>

namespace vectable {
namespace {

// A handler can reach nothing else.
volatile std::sig_atomic_t g_interrupted = 0;
pthread_t g_guarded;  // the thread that made the guard

// Ends a system call that the guarded thread waits in. The signal may come to any thread, and may
// come just before that call begins: so it is sent on, and again every second.
void Wake(int) {
  if (pthread_equal(pthread_self(), g_guarded) == 0) pthread_kill(g_guarded, SIGALRM);
  alarm(1);
}

void Note(int) {
  g_interrupted = 1;
  Wake(0);
}

void Handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;  // no SA_RESTART: a read returns
  sigaction(signal, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  g_interrupted = 0;
  g_guarded = pthread_self();
  Handle(SIGALRM, Wake, 0);
  Handle(SIGINT, Note, static_cast<int>(SA_RESETHAND));
  Handle(SIGTERM, Note, static_cast<int>(SA_RESETHAND));
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  alarm(0);
  std::signal(SIGALRM, SIG_IGN);  // one may still be on its way
}

bool InterruptGuard::interrupted() { return g_interrupted != 0; }

}  // namespace vectable
