// Searches of a table that still loads, queues that are full, and calls nobody waits for any more.

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/faulty_store.h"
#include "tests/server/rpc_fixture.h"

namespace vectable {
namespace {

using SearchStub = v1::SearchService::Stub;

// Table "t" with one row is there when the server starts, and loads until let go.
class LoadingTest : public RpcFixture {
 protected:
  void SetUp() override {
    Start();
    MakeTable("t", 2);
    Put("t", "cat", {0, 1});
    Put("t", "dog", {0, 1});
    Stop();
    faults_.before_each_row = [this] { let_go_.WaitForNotification(); };
    wrap_store = [this](std::unique_ptr<Store> store) {
      return std::make_unique<FaultyStore>(std::move(store), faults_);
    };
    options.max_parked = 5;
    Start();
  }

  void TearDown() override {
    LetGo();
    Answers();
    Stop();  // the loading asks faults_
  }

  void LetGo() {
    if (!let_go_.HasBeenNotified()) let_go_.Notify();
  }

  static v1::NearestRequest Request() {
    v1::NearestRequest request;
    request.set_table("t");
    request.set_k(1);
    request.add_queries()->set_word("cat");
    return request;
  }

  grpc::Status Search(absl::Duration timeout) {
    grpc::Status status;
    Call(search, &SearchStub::Nearest, Request(), &status, timeout);
    return status;
  }

  struct Answer {
    grpc::Status status;
    v1::NearestResponse response;
  };

  // Starts as many searches as may wait, and one more: its refusal shows that the others wait.
  void ParkSearches() {
    for (size_t i = 0; i <= options.max_parked; ++i) {
      searches_.emplace_back([this] {
        Answer answer;
        answer.response =
            Call(search, &SearchStub::Nearest, Request(), &answer.status, absl::Seconds(100));
        absl::MutexLock lock(&mu_);
        if (answer.status.error_code() == grpc::RESOURCE_EXHAUSTED) {
          refused_ = true;
        } else {
          answers_.push_back(std::move(answer));
        }
      });
    }
    absl::MutexLock lock(&mu_);
    ASSERT_TRUE(mu_.AwaitWithTimeout(absl::Condition(&refused_), absl::Seconds(100)));
    ASSERT_TRUE(answers_.empty());
  }
  // What the searches got in the end.
  std::vector<Answer> Answers() {
    for (std::thread& thread : searches_) thread.join();
    searches_.clear();
    absl::MutexLock lock(&mu_);
    return std::move(answers_);
  }

 private:
  absl::Notification let_go_;
  FaultyStore::Faults faults_;
  std::vector<std::thread> searches_;
  absl::Mutex mu_;
  bool refused_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Answer> answers_ ABSL_GUARDED_BY(mu_);
};

TEST_F(LoadingTest, SearchGetsItsAnswerOnceTheTableIsThere) {
  ASSERT_NO_FATAL_FAILURE(ParkSearches());
  absl::SleepFor(absl::Milliseconds(200));
  LetGo();
  for (const Answer& answer : Answers()) {
    ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
    EXPECT_EQ(answer.response.results(0).hits(0).word(), "dog");
    EXPECT_GE(answer.response.engine_micros(), 150'000U);
  }
}

TEST_F(LoadingTest, SearchIsToldBeforeItsDeadline) {
  for (const int millis : {1'000, 2'000}) {
    absl::Time begin;
    grpc::Status status;
    int tries = 0;
    do {  // the answer has 100 ms to arrive: a busy machine may need more now and then
      begin = absl::Now();
      status = Search(absl::Milliseconds(millis));
    } while (status.error_code() == grpc::DEADLINE_EXCEEDED && ++tries < 10);
    EXPECT_THAT(status, GrpcStatusIs(grpc::UNAVAILABLE,
                                     "table 't' is still loading: 0 of 2 rows are searchable"));
    EXPECT_GE(absl::Now() - begin, absl::Milliseconds(millis * 8 / 10));
  }
}

TEST_F(LoadingTest, EverythingElseWorksAtOnce) {
  // More searches than workers wait meanwhile.
  std::vector<std::thread> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.emplace_back([this] { EXPECT_TRUE(Search(absl::Seconds(60)).ok()); });
  }
  absl::SleepFor(absl::Milliseconds(50));
  Put("t", "cow", {1, 1});
  v1::GetRequest get;
  get.set_table("t");
  get.mutable_words()->add_words("cow");
  EXPECT_EQ(Call(rows, &v1::RowService::Stub::Get, get).rows_size(), 1);
  v1::GetTableRequest describe;
  describe.set_name("t");
  const v1::Table table = Call(tables, &v1::TableService::Stub::GetTable, describe).table();
  EXPECT_EQ(table.rows(), 3U);
  EXPECT_FALSE(table.searchable());
  v1::SimilarityRequest similarity;
  similarity.set_table("t");
  similarity.mutable_a()->set_word("cat");
  similarity.mutable_b()->set_word("dog");
  EXPECT_EQ(Call(search, &SearchStub::Similarity, similarity).score(), 1);
  v1::ReportTableRequest report;
  report.set_table("t");
  EXPECT_EQ(Call(sizing, &v1::SizingService::Stub::ReportTable, report).parameters(), 6U);
  LetGo();
  for (std::thread& thread : waiting) thread.join();
}

TEST_F(LoadingTest, OnlySoManyMayWait) {
  std::atomic<int> answered = 0;
  std::atomic<int> refused = 0;
  std::vector<std::thread> calls;
  for (int i = 0; i < 8; ++i) {
    calls.emplace_back([&] {
      const grpc::Status status = Search(absl::Seconds(60));
      if (status.ok()) {
        ++answered;
        return;
      }
      EXPECT_THAT(status, GrpcStatusIs(grpc::RESOURCE_EXHAUSTED,
                                       "5 requests waiting for tables that load"));
      ++refused;
    });
  }
  while (refused < 3) absl::SleepFor(absl::Milliseconds(5));
  LetGo();
  for (std::thread& thread : calls) thread.join();
  EXPECT_EQ(answered, 5);
  EXPECT_EQ(refused, 3);
}

TEST_F(LoadingTest, DroppedTableEndsTheWait) {
  ASSERT_NO_FATAL_FAILURE(ParkSearches());
  v1::DropTableRequest drop;
  drop.set_name("t");
  Call(tables, &v1::TableService::Stub::DropTable, drop);
  for (const Answer& answer : Answers()) {
    EXPECT_THAT(answer.status, GrpcStatusIs(grpc::NOT_FOUND, "'t'"));
  }
}

TEST_F(LoadingTest, ShutdownEndsTheWaitAtOnce) {
  ASSERT_NO_FATAL_FAILURE(ParkSearches());
  const absl::Time begin = absl::Now();
  server().Shutdown(absl::Seconds(30));
  for (const Answer& answer : Answers()) {
    EXPECT_THAT(answer.status, GrpcStatusIs(grpc::UNAVAILABLE, "shutting down"));
  }
  EXPECT_LT(absl::Now() - begin, absl::Seconds(25));
}

TEST_F(LoadingTest, CancelledSearchMakesRoom) {
  for (int i = 0; i < 20; ++i) {  // more than may wait at a time
    const absl::Time patience = absl::Now() + absl::Seconds(30);
    grpc::Status status;
    do {  // a place is free a moment after the cancel
      grpc::ClientContext context;
      std::thread canceller([&context] {
        absl::SleepFor(absl::Milliseconds(30));
        context.TryCancel();
      });
      v1::NearestResponse response;
      status = search->Nearest(&context, Request(), &response);
      canceller.join();
    } while (status.error_code() == grpc::RESOURCE_EXHAUSTED && absl::Now() < patience);
    ASSERT_EQ(status.error_code(), grpc::CANCELLED) << status.error_message();
  }
}

class BusyTest : public RpcFixture {
 protected:
  void SetUp() override {
    options.workers.threads = 1;
    options.workers.max_waiting = 3;
    faults_.before_each_row = [this] {
      if (!hold_) return;
      ++held_;
      let_go_.WaitForNotification();
    };
    wrap_store = [this](std::unique_ptr<Store> store) {
      return std::make_unique<FaultyStore>(std::move(store), faults_);
    };
    Start();
    MakeTable("t", 2);
    hold_ = true;
  }

  void TearDown() override {
    if (!let_go_.HasBeenNotified()) LetGo();
    Stop();
  }

  void Scan() {
    busy_.emplace_back([this] {
      grpc::ClientContext context;
      v1::ScanRequest request;
      request.set_table("t");
      const grpc::Status status = rows->Scan(&context, request)->Finish();
      if (status.ok()) return;
      EXPECT_THAT(status, GrpcStatusIs(grpc::RESOURCE_EXHAUSTED, "3 requests waiting"));
      ++refused_;
    });
  }
  // Occupies the worker with a scan, which the store holds.
  void OccupyWorker() {
    Scan();
    while (held_ == 0) absl::SleepFor(absl::Milliseconds(5));
  }
  // Fills the queue behind it: the scans that are refused show that it is full.
  void FillQueue() {
    constexpr int kTooMany = 3;
    for (int i = 0; i < 3 + kTooMany; ++i) Scan();
    while (refused_ < kTooMany) absl::SleepFor(absl::Milliseconds(5));
  }
  void LetGo() {
    let_go_.Notify();
    for (std::thread& thread : busy_) thread.join();
    busy_.clear();
  }

  grpc::Status GetTable(absl::Duration timeout) {
    v1::GetTableRequest request;
    request.set_name("t");
    grpc::Status status;
    Call(tables, &v1::TableService::Stub::GetTable, request, &status, timeout);
    return status;
  }

  absl::Notification let_go_;
  std::atomic<bool> hold_ = false;
  std::atomic<int> held_ = 0;
  std::atomic<int> refused_ = 0;
  FaultyStore::Faults faults_;
  std::vector<std::thread> busy_;
};

TEST_F(BusyTest, FullQueueIsSaid) {
  OccupyWorker();
  FillQueue();
  EXPECT_THAT(
      GetTable(absl::Seconds(60)),
      GrpcStatusIs(grpc::RESOURCE_EXHAUSTED, "the server has 3 requests waiting, its limit"));
  LetGo();
  EXPECT_TRUE(GetTable(absl::Seconds(60)).ok());
}

TEST_F(BusyTest, ExpiredWriteIsNotDone) {
  OccupyWorker();
  v1::UpsertRequest request;
  request.set_table("t");
  AddRow(request, "late", {1, 1});
  grpc::Status status;
  Call(rows, &v1::RowService::Stub::Upsert, request, &status, absl::Milliseconds(100));
  EXPECT_EQ(status.error_code(), grpc::DEADLINE_EXCEEDED);
  // The server's clock for the call began when the call arrived.
  absl::SleepFor(absl::Milliseconds(500));
  LetGo();
  EXPECT_TRUE(GetTable(absl::Seconds(60)).ok());  // comes after the write in the queue
  EXPECT_EQ((*database().FindTable("t"))->Describe().rows, 0U);
}

// Not as one that still loads, after a wait.
TEST_F(RpcFixture, ASearchOfATableThatCantBeLoadedGetsItsError) {
  FaultyStore::Faults faults;
  Start();
  MakeTable("t", 2);
  Put("t", "cat", {0, 1});
  Stop();
  faults.fail_scans = true;
  wrap_store = [&](std::unique_ptr<Store> store) {
    return std::make_unique<FaultyStore>(std::move(store), faults);
  };
  Start();
  v1::NearestRequest request;
  request.set_table("t");
  request.set_k(1);
  request.add_queries()->set_word("cat");
  grpc::Status status;
  Call(search, &SearchStub::Nearest, request, &status, absl::Seconds(100));
  EXPECT_THAT(status, GrpcStatusIs(grpc::INTERNAL, "injected fault"));
  Stop();
}

}  // namespace
}  // namespace vectable
