// Searches of a table that still loads, queues that are full, and calls nobody waits for any more.

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

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

  void TearDown() override { LetGo(); }

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

 private:
  absl::Notification let_go_;
  FaultyStore::Faults faults_;
};

TEST_F(LoadingTest, SearchGetsItsAnswerOnceTheTableIsThere) {
  std::thread opener([this] {
    absl::SleepFor(absl::Milliseconds(200));
    LetGo();
  });
  const auto response = Call(search, &SearchStub::Nearest, Request());
  opener.join();
  EXPECT_EQ(response.results(0).hits(0).word(), "dog");
  EXPECT_GE(response.engine_micros(), 150'000U);
}

TEST_F(LoadingTest, SearchIsToldBeforeItsDeadline) {
  for (const int millis : {1'000, 2'000}) {
    const absl::Time begin = absl::Now();
    EXPECT_THAT(
        Search(absl::Milliseconds(millis)),
        GrpcStatusIs(grpc::UNAVAILABLE, "table 't' is still loading: 0 of 2 rows are searchable"));
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
  std::thread dropper([this] {
    absl::SleepFor(absl::Milliseconds(100));
    v1::DropTableRequest drop;
    drop.set_name("t");
    Call(tables, &v1::TableService::Stub::DropTable, drop);
  });
  EXPECT_THAT(Search(absl::Seconds(60)), GrpcStatusIs(grpc::NOT_FOUND, "'t'"));
  dropper.join();
}

TEST_F(LoadingTest, ShutdownEndsTheWaitAtOnce) {
  std::thread stopper([this] {
    absl::SleepFor(absl::Milliseconds(100));
    server().Shutdown(absl::Seconds(10));
  });
  const absl::Time begin = absl::Now();
  EXPECT_THAT(Search(absl::Seconds(60)), GrpcStatusIs(grpc::UNAVAILABLE, "shutting down"));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(8));
  stopper.join();
}

TEST_F(LoadingTest, CancelledSearchMakesRoom) {
  for (int i = 0; i < 20; ++i) {  // more than may wait at a time
    grpc::ClientContext context;
    std::thread canceller([&context] {
      absl::SleepFor(absl::Milliseconds(30));
      context.TryCancel();
    });
    v1::NearestResponse response;
    const grpc::Status status = search->Nearest(&context, Request(), &response);
    EXPECT_EQ(status.error_code(), grpc::CANCELLED) << status.error_message();
    canceller.join();
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

}  // namespace
}  // namespace vectable
