// Writers and readers at once, through the network.

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/server/rpc_fixture.h"

namespace vectable {
namespace {

constexpr int kDimensions = 16;
constexpr int kWriters = 2;
constexpr int kReaders = 6;
constexpr absl::Duration kRunTime = absl::Seconds(4);

// Writer w's i-th row: its vector tells who it is.
std::string Word(int writer, int i) { return std::to_string(writer) + "-" + std::to_string(i); }

std::vector<float> Values(int writer, int i) {
  std::mt19937 random(static_cast<unsigned>(writer * 1'000'003 + i));
  std::vector<float> values(kDimensions);
  for (float& value : values) value = static_cast<float>(random() % 1'000) + 1;
  return values;
}

class ConcurrencyTest : public RpcFixture {
 protected:
  void SetUp() override {
    Start();
    MakeTable("t", kDimensions);
    end_ = absl::Now() + kRunTime;
  }

  void Write(int writer) {
    grpc::ClientContext context;
    const auto stream = rows->UpsertStream(&context);
    for (int next = 0; GoesOn() && !HasFatalFailure();) {
      v1::UpsertStreamRequest batch;
      batch.set_table("t");
      const int count = 1 + next % 40;
      for (int i = 0; i < count; ++i)
        AddRow(batch, Word(writer, next + i), Values(writer, next + i));
      ASSERT_TRUE(stream->Write(batch));
      v1::UpsertStreamResponse ack;
      ASSERT_TRUE(stream->Read(&ack));
      ASSERT_EQ(ack.inserted(), static_cast<uint64_t>(count));
      next += count;
      acked_[writer] = next;
    }
    stream->WritesDone();
    EXPECT_TRUE(stream->Finish().ok());
  }

  // A row that was acknowledged is there, by key and by search, with its own vector.
  void CheckOneRow(int writer, int i) {
    const std::vector<float> values = Values(writer, i);
    v1::GetRequest get;
    get.set_table("t");
    get.mutable_words()->add_words(Word(writer, i));
    const auto found = Call(rows, &v1::RowService::Stub::Get, get);
    ASSERT_EQ(found.rows_size(), 1);
    ASSERT_TRUE(std::equal(values.begin(), values.end(), found.rows(0).vector().values().begin()));

    v1::NearestRequest nearest;
    nearest.set_table("t");
    nearest.set_k(1);
    nearest.add_queries()->mutable_vector()->mutable_values()->Add(values.begin(), values.end());
    const auto response = Call(search, &v1::SearchService::Stub::Nearest, nearest);
    ASSERT_EQ(response.results_size(), 1);
    ASSERT_EQ(response.results(0).code(), 0) << response.results(0).error();
    ASSERT_EQ(response.results(0).hits(0).word(), Word(writer, i));
    ASSERT_EQ(response.results(0).hits(0).score(), 1.0);
    ++checks_;
  }

  void Read(int reader) {
    std::mt19937 random(static_cast<unsigned>(reader));
    uint64_t least_rows = 0;
    uint64_t least_sequence = 0;
    while (GoesOn() && !HasFatalFailure()) {
      const int writer = static_cast<int>(random() % kWriters);
      const int acked = acked_[writer];
      const auto acked_rows = static_cast<uint64_t>(acked_[0] + acked_[1]);
      if (acked == 0) continue;
      CheckOneRow(writer, static_cast<int>(random() % static_cast<unsigned>(acked)));
      v1::GetTableRequest describe;
      describe.set_name("t");
      const v1::Table table = Call(tables, &v1::TableService::Stub::GetTable, describe).table();
      ASSERT_GE(table.rows(), least_rows);
      ASSERT_GE(table.rows(), acked_rows);
      ASSERT_GE(table.applied_sequence(), least_sequence);
      ASSERT_EQ(table.parameters(), table.rows() * kDimensions);
      least_rows = table.rows();
      least_sequence = table.applied_sequence();
    }
  }

  // A slow machine goes on until there was something to check.
  bool GoesOn() const { return absl::Now() < end_ || checks_ == 0; }

  std::atomic<int> acked_[kWriters] = {};
  std::atomic<int> checks_ = 0;
  absl::Time end_;
};

TEST_F(ConcurrencyTest, NoAcknowledgedRowIsEverMissing) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kWriters; ++i) threads.emplace_back([this, i] { Write(i); });
  for (int i = 0; i < kReaders; ++i) threads.emplace_back([this, i] { Read(i); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(checks_, 0);
  const auto rows_there = (*database().FindTable("t"))->Describe().rows;
  EXPECT_EQ(rows_there, static_cast<uint64_t>(acked_[0] + acked_[1]));
  RecordProperty("checks", checks_);
  RecordProperty("rows", static_cast<int>(rows_there));
}

}  // namespace
}  // namespace vectable
