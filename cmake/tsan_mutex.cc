// absl::Mutex, CondVar, Notification and BlockingCounter for builds under the thread sanitizer.
//
// The distribution's Abseil isn't instrumented, so the sanitizer sees none of the ordering that its
// locks give and reports a race on everything they guard. These definitions, linked into each
// program of such a build, take the place of the library's. They are plain atomics that the
// sanitizer understands: a lock word that waiting threads poll. Slow, but nothing else in the
// program has to change.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#ifndef __SANITIZE_THREAD__
#error "only for builds with -fsanitize=thread"
#endif

namespace absl {
ABSL_NAMESPACE_BEGIN
namespace {

// The lock word: kWriter while a writer holds it, else kReader times the number of readers;
// kWaiting is set while a writer waits, so that a stream of readers can't starve it.
constexpr intptr_t kWriter = 1;
constexpr intptr_t kWaiting = 2;
constexpr intptr_t kReader = 4;
constexpr intptr_t kSignal = 4;  // One step of a condition variable's counter.

void Pause(int& tries) {
  if (++tries < 16) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void Check(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

Mutex::~Mutex() { Check(mu_.load(std::memory_order_relaxed) / kReader == 0); }

bool Mutex::TryLock() {
  intptr_t word = mu_.load(std::memory_order_relaxed);
  return (word & ~kWaiting) == 0 &&
         mu_.compare_exchange_strong(word, kWriter, std::memory_order_acquire);
}

void Mutex::Lock() {
  int tries = 0;
  while (!TryLock()) {
    mu_.fetch_or(kWaiting, std::memory_order_relaxed);
    Pause(tries);
  }
}

void Mutex::Unlock() {
  AssertHeld();
  mu_.fetch_and(~kWriter, std::memory_order_release);
}

bool Mutex::ReaderTryLock() {
  intptr_t word = mu_.load(std::memory_order_relaxed);
  while ((word & (kWriter | kWaiting)) == 0) {
    if (mu_.compare_exchange_weak(word, word + kReader, std::memory_order_acquire)) return true;
  }
  return false;
}

void Mutex::ReaderLock() {
  int tries = 0;
  while (!ReaderTryLock()) {
    // A writer that gave up waiting leaves its mark behind: clear it now and then.
    if (tries > 64) mu_.fetch_and(~kWaiting, std::memory_order_relaxed);
    Pause(tries);
  }
}

void Mutex::ReaderUnlock() { mu_.fetch_sub(kReader, std::memory_order_release); }

void Mutex::AssertHeld() const { Check((mu_.load(std::memory_order_relaxed) & kWriter) != 0); }

void Mutex::AssertReaderHeld() const {
  Check((mu_.load(std::memory_order_relaxed) & ~kWaiting) != 0);
}

bool Mutex::AwaitWithDeadline(const Condition& cond, absl::Time deadline) {
  const bool exclusive = (mu_.load(std::memory_order_relaxed) & kWriter) != 0;
  int tries = 0;
  while (!cond.Eval()) {
    if (absl::Now() >= deadline) return false;
    exclusive ? Unlock() : ReaderUnlock();
    Pause(tries);
    exclusive ? Lock() : ReaderLock();
  }
  return true;
}

void Mutex::Await(const Condition& cond) { AwaitWithDeadline(cond, absl::InfiniteFuture()); }

bool Mutex::AwaitWithTimeout(const Condition& cond, absl::Duration timeout) {
  return AwaitWithDeadline(cond, absl::Now() + timeout);
}

void Mutex::LockWhen(const Condition& cond) {
  Lock();
  Await(cond);
}

bool Mutex::LockWhenWithDeadline(const Condition& cond, absl::Time deadline) {
  Lock();
  return AwaitWithDeadline(cond, deadline);
}

bool Mutex::LockWhenWithTimeout(const Condition& cond, absl::Duration timeout) {
  return LockWhenWithDeadline(cond, absl::Now() + timeout);
}

void Mutex::ReaderLockWhen(const Condition& cond) {
  ReaderLock();
  Await(cond);
}

bool Mutex::ReaderLockWhenWithDeadline(const Condition& cond, absl::Time deadline) {
  ReaderLock();
  return AwaitWithDeadline(cond, deadline);
}

bool Mutex::ReaderLockWhenWithTimeout(const Condition& cond, absl::Duration timeout) {
  return ReaderLockWhenWithDeadline(cond, absl::Now() + timeout);
}

CondVar::~CondVar() = default;

bool CondVar::WaitWithDeadline(Mutex* mu, absl::Time deadline) {
  const intptr_t seen = cv_.load(std::memory_order_relaxed);
  const bool exclusive = (mu->mu_.load(std::memory_order_relaxed) & kWriter) != 0;
  exclusive ? mu->Unlock() : mu->ReaderUnlock();
  int tries = 0;
  bool timed_out = false;
  while (cv_.load(std::memory_order_relaxed) == seen && !timed_out) {
    Pause(tries);
    timed_out = absl::Now() >= deadline;
  }
  exclusive ? mu->Lock() : mu->ReaderLock();
  return timed_out;
}

void CondVar::Wait(Mutex* mu) { WaitWithDeadline(mu, absl::InfiniteFuture()); }

bool CondVar::WaitWithTimeout(Mutex* mu, absl::Duration timeout) {
  return WaitWithDeadline(mu, absl::Now() + timeout);
}

// Waking every waiter is allowed: each looks at its condition again.
void CondVar::Signal() { cv_.fetch_add(kSignal, std::memory_order_relaxed); }

void CondVar::SignalAll() { Signal(); }

// Takes the lock, so that a waiter may destroy the notification as soon as it sees it.
Notification::~Notification() { MutexLock lock(&mutex_); }

void Notification::Notify() {
  MutexLock lock(&mutex_);
  Check(!notified_yet_.load(std::memory_order_relaxed));
  notified_yet_.store(true, std::memory_order_release);
}

bool Notification::WaitForNotificationWithDeadline(absl::Time deadline) const {
  int tries = 0;
  while (!HasBeenNotified()) {
    if (absl::Now() >= deadline) return false;
    Pause(tries);
  }
  return true;
}

void Notification::WaitForNotification() const {
  WaitForNotificationWithDeadline(absl::InfiniteFuture());
}

bool Notification::WaitForNotificationWithTimeout(absl::Duration timeout) const {
  return WaitForNotificationWithDeadline(absl::Now() + timeout);
}

BlockingCounter::BlockingCounter(int initial_count)
    : count_(initial_count), num_waiting_(0), done_(initial_count == 0) {}

bool BlockingCounter::DecrementCount() {
  MutexLock lock(&lock_);
  done_ = count_.fetch_sub(1, std::memory_order_relaxed) == 1;
  return done_;
}

void BlockingCounter::Wait() {
  MutexLock lock(&lock_);
  lock_.Await(Condition(&done_));
}

ABSL_NAMESPACE_END
}  // namespace absl
