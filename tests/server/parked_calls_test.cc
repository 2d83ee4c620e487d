#include "server/parked_calls.h"

#include <atomic>
#include <memory>
#include <optional>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

using Wake = ParkedCalls::Wake;

// A call that notes how it was woken.
struct TestCall {
  std::atomic<bool> ready = false;
  std::atomic<int> wakes = 0;
  Wake wake{};
  absl::Notification woken;

  ParkedCalls::Call Make(absl::Time give_up) {
    return {.ready = [this] { return ready.load(); },
            .give_up = give_up,
            .wake =
                [this](Wake how) {
                  wake = how;
                  if (++wakes == 1) woken.Notify();
                }};
  }
};

TEST(ParkedCalls, WakesWhenReady) {
  ParkedCalls parked(10);
  TestCall call;
  TestCall other;
  ASSERT_THAT(parked.Park(call.Make(absl::InfiniteFuture())), IsOk());
  ASSERT_THAT(parked.Park(other.Make(absl::InfiniteFuture())), IsOk());
  absl::SleepFor(absl::Milliseconds(40));
  EXPECT_FALSE(call.woken.HasBeenNotified());
  call.ready = true;
  call.woken.WaitForNotification();
  EXPECT_EQ(call.wake, Wake::kReady);
  EXPECT_FALSE(other.woken.HasBeenNotified());
  parked.Stop();
  EXPECT_EQ(call.wakes, 1);
  EXPECT_EQ(other.wakes, 1);
  EXPECT_EQ(other.wake, Wake::kStopped);
}

TEST(ParkedCalls, GivesUpInTimeAndNotBefore) {
  ParkedCalls parked(10);
  TestCall call;
  const absl::Time begin = absl::Now();
  ASSERT_THAT(parked.Park(call.Make(begin + absl::Milliseconds(60))), IsOk());
  call.woken.WaitForNotification();
  EXPECT_EQ(call.wake, Wake::kGaveUp);
  EXPECT_GE(absl::Now() - begin, absl::Milliseconds(60));
}

TEST(ParkedCalls, RefusesTooMany) {
  ParkedCalls parked(2);
  TestCall calls[3];
  ASSERT_THAT(parked.Park(calls[0].Make(absl::InfiniteFuture())), IsOk());
  ASSERT_THAT(parked.Park(calls[1].Make(absl::InfiniteFuture())), IsOk());
  absl::SleepFor(absl::Milliseconds(30));
  EXPECT_THAT(parked.Park(calls[2].Make(absl::InfiniteFuture())),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "2 requests waiting for tables that load, its limit"));
  calls[0].ready = true;
  calls[0].woken.WaitForNotification();
  // Its place is free a moment later.
  const absl::Time patience = absl::Now() + absl::Seconds(30);
  absl::Status status;
  do {
    absl::SleepFor(absl::Milliseconds(5));
    status = parked.Park(calls[2].Make(absl::InfiniteFuture()));
  } while (!status.ok() && absl::Now() < patience);
  EXPECT_THAT(status, IsOk());
  parked.Stop();
  EXPECT_EQ(calls[2].wakes, 1);
}

TEST(ParkedCalls, TakesNoneAfterStop) {
  ParkedCalls parked(2);
  parked.Stop();
  TestCall call;
  EXPECT_THAT(parked.Park(call.Make(absl::InfiniteFuture())),
              StatusIs(absl::StatusCode::kUnavailable, "shutting down"));
  EXPECT_EQ(call.wakes, 0);
}

TEST(ParkedCalls, MayBeParkedAgainFromItsWake) {
  ParkedCalls parked(2);
  TestCall second;
  second.ready = true;
  ASSERT_THAT(parked.Park({.ready = [] { return true; },
                           .give_up = absl::InfiniteFuture(),
                           .wake =
                               [&](Wake) {
                                 EXPECT_THAT(parked.Park(second.Make(absl::InfiniteFuture())),
                                             IsOk());
                               }}),
              IsOk());
  second.woken.WaitForNotification();
  EXPECT_EQ(second.wake, Wake::kReady);
}

TEST(GiveUpTime, Cases) {
  const absl::Time now = absl::FromUnixSeconds(1'000);
  const struct {
    absl::Duration left;
    absl::Duration wait;
  } cases[] = {
      {absl::Milliseconds(50), absl::Milliseconds(45)},
      {absl::Milliseconds(500), absl::Milliseconds(450)},
      {absl::Seconds(1), absl::Milliseconds(900)},
      {absl::Seconds(10), absl::Milliseconds(9'900)},
      {absl::Seconds(100), absl::Seconds(60)},
      {absl::InfiniteDuration(), absl::Seconds(60)},
      {absl::ZeroDuration(), absl::ZeroDuration()},
      {absl::Seconds(-5), absl::Seconds(-5)},
  };
  for (const auto& c : cases) EXPECT_EQ(GiveUpTime(now, now + c.left) - now, c.wait) << c.left;
}

}  // namespace
}  // namespace vectable
