#include "server/worker_pool.h"

#include <atomic>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

// Keeps a worker busy until it is let go.
class Stopper {
 public:
  // Returns when the worker is in the task.
  void Occupy(WorkerPool& pool) {
    EXPECT_THAT(pool.Submit([this] {
      entered_.Notify();
      go_on_.WaitForNotification();
    }),
                IsOk());
    entered_.WaitForNotification();
  }
  void LetGo() { go_on_.Notify(); }

 private:
  absl::Notification entered_;
  absl::Notification go_on_;
};

TEST(WorkerPool, RunsTasksInOrderOnOneThread) {
  std::vector<int> seen;
  WorkerPool pool({.threads = 1, .max_waiting = 100, .max_waiting_bytes = 100});
  for (int i = 0; i < 50; ++i) {
    ASSERT_THAT(pool.Submit([&seen, i] { seen.push_back(i); }), IsOk());
  }
  pool.Shutdown();
  ASSERT_EQ(seen.size(), 50U);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(seen[i], i);
}

TEST(WorkerPool, RunsTasksSideBySide) {
  WorkerPool pool({.threads = 3, .max_waiting = 10, .max_waiting_bytes = 100});
  Stopper first;
  Stopper second;
  first.Occupy(pool);
  second.Occupy(pool);
  absl::Notification ran;
  ASSERT_THAT(pool.Submit([&ran] { ran.Notify(); }), IsOk());
  ran.WaitForNotification();
  first.LetGo();
  second.LetGo();
}

TEST(WorkerPool, FullQueueIsRefusedWithItsLimit) {
  std::atomic<int> ran = 0;
  WorkerPool pool({.threads = 1, .max_waiting = 2, .max_waiting_bytes = 100});
  Stopper stopper;
  stopper.Occupy(pool);
  EXPECT_THAT(pool.Submit([&ran] { ++ran; }), IsOk());
  EXPECT_THAT(pool.Submit([&ran] { ++ran; }), IsOk());
  EXPECT_THAT(pool.Submit([&ran] { ++ran; }),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "the server has 2 requests waiting, its limit"));
  stopper.LetGo();
  pool.Shutdown();
  EXPECT_EQ(ran, 2);
}

TEST(WorkerPool, BytesAreLimitedButOneTaskAlwaysFits) {
  WorkerPool pool({.threads = 1, .max_waiting = 10, .max_waiting_bytes = 100});
  Stopper stopper;
  stopper.Occupy(pool);
  absl::Notification large_ran;
  EXPECT_THAT(pool.Submit([&large_ran] { large_ran.Notify(); }, 5'000), IsOk());
  EXPECT_THAT(pool.Submit([] {}, 1), StatusIs(absl::StatusCode::kResourceExhausted, "5,000 bytes"));
  stopper.LetGo();
  large_ran.WaitForNotification();  // the queue is empty again
  Stopper next;
  next.Occupy(pool);
  EXPECT_THAT(pool.Submit([] {}, 60), IsOk());
  EXPECT_THAT(pool.Submit([] {}, 40), IsOk());
  EXPECT_THAT(pool.Submit([] {}, 1), StatusIs(absl::StatusCode::kResourceExhausted, "100 bytes"));
  next.LetGo();
}

TEST(WorkerPool, ShutdownRunsWhatWaits) {
  std::atomic<int> ran = 0;
  WorkerPool pool({.threads = 2, .max_waiting = 1'000, .max_waiting_bytes = 100});
  for (int i = 0; i < 500; ++i) ASSERT_THAT(pool.Submit([&ran] { ++ran; }), IsOk());
  pool.Shutdown();
  EXPECT_EQ(ran, 500);
  EXPECT_THAT(pool.Submit([&ran] { ++ran; }),
              StatusIs(absl::StatusCode::kUnavailable, "shutting down"));
  EXPECT_EQ(ran, 500);
}

}  // namespace
}  // namespace vectable
