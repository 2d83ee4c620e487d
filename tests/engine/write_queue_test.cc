#include "engine/write_queue.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vectable {
namespace {

struct Job {
  int number = 0;
  bool first = false;
  bool second = false;
  absl::Notification* stored = nullptr;

  size_t weight() const { return 1; }
};

// Notes what a queue does with its jobs, and fails where its promises are broken.
class Steps {
 public:
  WriteQueue<Job>::SecondStep First(const std::vector<Job*>& jobs) {
    EXPECT_EQ(in_first_.fetch_add(1), 0);
    EXPECT_FALSE(exclusive_);
    for (Job* job : jobs) {
      job->first = true;
      first_.push_back(job->number);
      if (job->stored != nullptr) job->stored->Notify();
    }
    in_first_.fetch_sub(1);
    return [this, jobs] { Second(jobs); };
  }

  void Exclusive() {
    exclusive_ = true;
    EXPECT_EQ(in_first_, 0);
    EXPECT_EQ(in_second_, 0);
    EXPECT_EQ(first_, second_);
    exclusive_ = false;
  }

  absl::Notification* hold_second = nullptr;  // waits for it, if set

  const std::vector<int>& first() const { return first_; }
  const std::vector<int>& second() const { return second_; }

 private:
  void Second(const std::vector<Job*>& jobs) {
    EXPECT_EQ(in_second_.fetch_add(1), 0);
    EXPECT_FALSE(exclusive_);
    if (hold_second != nullptr) hold_second->WaitForNotification();
    for (Job* job : jobs) {
      EXPECT_TRUE(job->first);
      job->second = true;
      second_.push_back(job->number);
    }
    in_second_.fetch_sub(1);
  }

  std::atomic<int> in_first_{0};
  std::atomic<int> in_second_{0};
  std::atomic<bool> exclusive_{false};
  std::vector<int> first_;   // by one thread at a time
  std::vector<int> second_;  // the same
};

TEST(WriteQueueTest, StepsComeInOrderAndAloneAmongManyWriters) {
  constexpr int kWriters = 6;
  constexpr int kJobs = 2'000;
  Steps steps;
  WriteQueue<Job> queue([&](const std::vector<Job*>& jobs) { return steps.First(jobs); }, 3);
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      for (int i = 0; i < kJobs; ++i) {
        Job job{.number = writer * kJobs + i};
        queue.Run(job);
        EXPECT_TRUE(job.first && job.second);
      }
    });
  }
  for (int i = 0; i < 200; ++i) queue.RunExclusive([&] { steps.Exclusive(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(steps.first().size(), size_t{kWriters * kJobs});
  EXPECT_EQ(steps.first(), steps.second());
}

TEST(WriteQueueTest, TheNextIsInTheFirstStepWhileOneIsInTheSecond) {
  absl::Notification go_on;
  absl::Notification second_stored;
  Steps steps;
  steps.hold_second = &go_on;
  WriteQueue<Job> queue([&](const std::vector<Job*>& jobs) { return steps.First(jobs); }, 1);
  absl::Notification first_stored;
  Job one{.number = 1, .stored = &first_stored};
  Job two{.number = 2, .stored = &second_stored};
  std::thread first([&] { queue.Run(one); });
  first_stored.WaitForNotification();
  std::thread second([&] { queue.Run(two); });
  second_stored.WaitForNotification();  // though the other isn't done
  EXPECT_FALSE(one.second);
  std::atomic<bool> exclusive_ran{false};
  std::thread exclusive([&] {
    queue.RunExclusive([&] {
      steps.Exclusive();
      exclusive_ran = true;
    });
  });
  EXPECT_FALSE(exclusive_ran);
  go_on.Notify();
  first.join();
  second.join();
  exclusive.join();
  EXPECT_TRUE(exclusive_ran);
  EXPECT_THAT(steps.second(), ::testing::ElementsAre(1, 2));
}

TEST(WriteQueueTest, NoSecondStepIsFine) {
  int commits = 0;
  WriteQueue<Job> queue(
      [&](const std::vector<Job*>& jobs) -> WriteQueue<Job>::SecondStep {
        commits += static_cast<int>(jobs.size());
        return nullptr;
      },
      10);
  Job one;
  Job two;
  queue.Run(one);
  queue.Run(two);
  EXPECT_EQ(commits, 2);
}

// Writers that follow each other closely keep one step or the other busy all the time.
TEST(WriteQueueTest, ExclusiveWorkGetsItsTurnAmongWriters) {
  std::atomic<bool> stop{false};
  WriteQueue<Job> queue(
      [&](const std::vector<Job*>&) -> WriteQueue<Job>::SecondStep {
        return [] { std::this_thread::sleep_for(std::chrono::microseconds(200)); };
      },
      1);
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 4; ++writer) {
    threads.emplace_back([&] {
      for (Job job; !stop;) queue.Run(job);
    });
  }
  int ran = 0;
  for (int i = 0; i < 50; ++i) queue.RunExclusive([&] { ++ran; });
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, 50);
}

}  // namespace
}  // namespace vectable
