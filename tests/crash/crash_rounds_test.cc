// Kills the server at random moments, again and again on the same data, while rows are written and
// deleted, uploaded, merged, and tables made, renamed and dropped; after each restart everything
// must be as it was acknowledged. VECTABLE_CRASH_ROUNDS and VECTABLE_CRASH_SEED choose how often
// and which.
#include <array>
#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "tests/crash/table_record.h"
#include "tests/e2e/server_process.h"
#include "tests/support/from_environment.h"

namespace vectable {
namespace {

constexpr uint64_t kDefaultRounds = 12;
constexpr size_t kUploadedRows = 20'000;
constexpr size_t kUploadBatch = 500;

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  uint64_t Below(uint64_t limit) { return engine_() % limit; }
  bool OneIn(uint64_t chances) { return Below(chances) == 0; }
  uint64_t Any() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

// Whether a call failed as it must when its server dies under it.
bool IsDeath(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsCancelled(status);
}

// A table that one thread writes to, and what is known of it.
class WrittenTable {
 public:
  WrittenTable(std::string name, v1::Precision precision, v1::Metric metric)
      : name_(std::move(name)), precision_(precision), metric_(metric) {}

  const std::string& name() const { return name_; }
  const TableContent& content() const { return record_.acknowledged(); }

  void Create(Client& client) const {
    v1::CreateTableRequest request;
    request.set_name(name_);
    request.set_dimensions(kCrashDimensions);
    request.set_precision(precision_);
    request.set_metric(metric_);
    ASSERT_TRUE(client.CreateTable(request).ok());
  }

  // Writes until the server dies.
  void Write(Client& client, uint64_t seed) {
    Dice dice(seed);
    absl::Status status;
    while (status.ok()) {
      switch (dice.Below(8)) {
        case 0:
          status = Upload(client, dice);
          break;
        case 1:
          status = client.OptimizeTable(name_).status();
          break;
        case 2:
        case 3:
          status = Delete(client, dice);
          break;
        default:
          status = Upsert(client, dice);
      }
    }
    EXPECT_TRUE(IsDeath(status)) << name_ << ": " << status;
  }

  void Check(Client& client, uint64_t seed) {
    const size_t pending = record_.pending();
    const absl::StatusOr<TableContent> found = Read(client);
    ASSERT_TRUE(found.ok()) << found.status();
    const uint64_t acknowledged = content().rows.size();
    ASSERT_TRUE(record_.Accept(*found))
        << name_ << " has " << found->rows.size() << " rows and the next row id "
        << found->next_row_id << "; " << acknowledged << " rows were acknowledged, with " << pending
        << " changes on their way";
    CheckSearches(client, seed);
  }

 private:
  std::string AnyWord(Dice& dice) const { return absl::StrCat("w", dice.Below(40'000)); }

  absl::Status Upsert(Client& client, Dice& dice) {
    std::set<std::string> words;
    for (size_t i = dice.OneIn(4) ? 1 + dice.Below(2'000) : 1 + dice.Below(20); i > 0; --i) {
      words.insert(AnyWord(dice));
    }
    Change change;
    v1::UpsertRequest request;
    request.set_table(name_);
    for (const std::string& word : words) {
      change.puts.emplace_back(word, VectorOfSeed(dice.Any()));
      const CrashVector& vector = change.puts.back().second;
      AddRow(word, {vector.begin(), vector.end()}, request);
    }
    record_.Begin(std::move(change));
    const absl::StatusOr<v1::UpsertResponse> reply = client.Upsert(request);
    if (reply.ok()) record_.Acknowledge();
    return reply.status();
  }

  absl::Status Delete(Client& client, Dice& dice) {
    std::set<std::string> words;
    for (size_t i = 1 + dice.Below(50); i > 0; --i) words.insert(AnyWord(dice));
    Change change;
    change.deletes.assign(words.begin(), words.end());
    record_.Begin(change);
    const absl::StatusOr<v1::DeleteResponse> reply = client.Delete(name_, change.deletes);
    if (reply.ok()) record_.Acknowledge();
    return reply.status();
  }

  // A bulk load, in batches that are each a change.
  absl::Status Upload(Client& client, Dice& dice) {
    const auto uploader = client.Upload({.table = name_, .max_batch_rows = kUploadBatch});
    if (!uploader.ok()) return uploader.status();
    absl::Status status;
    const uint64_t first = dice.Below(40'000);
    Change batch;
    size_t begun = 0;
    for (size_t i = 0; i < kUploadedRows && status.ok(); ++i) {
      const auto row = std::make_pair(absl::StrCat("w", first + i), VectorOfSeed(dice.Any()));
      batch.puts.push_back(row);
      // The batch may be sent as soon as its last row is added.
      if (batch.puts.size() == kUploadBatch) {
        record_.Begin(std::exchange(batch, Change()));
        ++begun;
      }
      status = (*uploader)->Add(row.first, row.second);
    }
    if (status.ok()) status = (*uploader)->Finish();
    const UploadCounts counts = (*uploader)->counts();
    const size_t rows = counts.inserted + counts.replaced;
    EXPECT_EQ(rows % kUploadBatch, 0U);
    // All that was begun may be acknowledged before the server dies, too.
    EXPECT_LE(rows, begun * kUploadBatch);
    if (status.ok()) {
      EXPECT_EQ(rows, begun * kUploadBatch);
    }
    record_.Acknowledge(rows / kUploadBatch);
    return status;
  }

  absl::StatusOr<TableContent> Read(Client& client) const {
    TableContent content;
    const absl::StatusOr<v1::Table> table = client.GetTable(name_);
    if (!table.ok()) return table.status();
    content.next_row_id = table->next_row_id();
    v1::ScanRequest scan;
    scan.set_table(name_);
    scan.set_include_vectors(true);
    const absl::Status status = client.Scan(scan, [&](const v1::Row& row) {
      RecordedRow& entry = content.rows[row.word()];
      entry.row_id = row.row_id();
      const auto& values = row.vector().values();
      if (values.size() != static_cast<int>(kCrashDimensions)) {
        return absl::DataLossError(absl::StrCat("row ", row.row_id(), " has no whole vector"));
      }
      std::copy(values.begin(), values.end(), entry.vector.begin());
      return absl::OkStatus();
    });
    if (!status.ok()) return status;
    if (content.rows.size() != table->rows()) {
      return absl::DataLossError(absl::StrCat("the catalogue counts ", table->rows(), " rows, ",
                                              content.rows.size(), " are there"));
    }
    return content;
  }

  // Each of some rows is its own nearest, and no deleted row is found.
  void CheckSearches(Client& client, uint64_t seed) const {
    Dice dice(seed);
    v1::NearestRequest request;
    request.set_table(name_);
    request.set_k(1);
    request.set_include_self(true);
    request.set_exact(dice.OneIn(2));
    std::vector<std::string> words;
    for (auto row = content().rows.begin(); row != content().rows.end(); ++row) {
      if (!dice.OneIn(1 + content().rows.size() / 100)) continue;
      words.push_back(row->first);
      request.add_queries()->mutable_vector()->mutable_values()->Add(row->second.vector.begin(),
                                                                     row->second.vector.end());
    }
    if (words.empty()) return;
    const absl::StatusOr<v1::NearestResponse> reply = client.Nearest(request);
    ASSERT_TRUE(reply.ok()) << reply.status();
    ASSERT_EQ(static_cast<size_t>(reply->results_size()), words.size());
    for (size_t i = 0; i < words.size(); ++i) {
      const v1::QueryResult& result = reply->results(static_cast<int>(i));
      ASSERT_EQ(result.hits_size(), 1) << result.error();
      if (!result.exact()) continue;
      EXPECT_EQ(result.rows_searched(), content().rows.size());
      const auto& row = content().rows.at(words[i]);
      EXPECT_EQ(result.hits(0).row_id(), row.row_id) << words[i] << " " << result.hits(0).word();
    }
  }

  const std::string name_;
  const v1::Precision precision_;
  const v1::Metric metric_;
  TableRecord record_;
};

// Tables that come and go: each is made with one row, which says which table it is.
class PassingTables {
 public:
  // Makes, renames and drops tables until the server dies.
  void Change(Client& client, uint64_t seed) {
    Dice dice(seed);
    absl::Status status;
    while (status.ok()) {
      after_ = before_;
      status = dice.OneIn(3)   ? Drop(client, dice)
               : dice.OneIn(2) ? Rename(client, dice)
                               : Make(client, dice);
      if (status.ok()) before_ = after_;
    }
    EXPECT_TRUE(IsDeath(status)) << status;
  }

  void Check(Client& client) {
    const absl::StatusOr<std::vector<v1::Table>> tables = client.ListTables();
    ASSERT_TRUE(tables.ok()) << tables.status();
    std::map<std::string, uint64_t> found;
    for (const v1::Table& table : *tables) {
      if (table.name().starts_with("passing")) found[table.name()] = table.dimensions();
    }
    ASSERT_TRUE(found == before_ || found == after_)
        << ::testing::PrintToString(found) << " were found; acknowledged were "
        << ::testing::PrintToString(before_) << ", and perhaps "
        << ::testing::PrintToString(after_);
    before_ = found;
    after_ = found;
  }

 private:
  static std::string AnyName(Dice& dice) { return absl::StrCat("passing", dice.Below(6)); }

  absl::Status Make(Client& client, Dice& dice) {
    const std::string name = AnyName(dice);
    if (before_.contains(name)) return absl::OkStatus();
    v1::CreateTableRequest request;
    request.set_name(name);
    request.set_dimensions(1 + static_cast<uint32_t>(dice.Below(1'000)));
    after_[name] = request.dimensions();
    return client.CreateTable(request).status();
  }

  absl::Status Rename(Client& client, Dice& dice) {
    const std::string from = AnyName(dice);
    const std::string to = AnyName(dice);
    if (!before_.contains(from) || from == to) return absl::OkStatus();
    after_[to] = before_.at(from);
    after_.erase(from);
    return client.RenameTable(from, to, /*replace=*/true).status();
  }

  absl::Status Drop(Client& client, Dice& dice) {
    const std::string name = AnyName(dice);
    if (after_.erase(name) == 0) return absl::OkStatus();
    return client.DropTable(name).status();
  }

  std::map<std::string, uint64_t> before_;  // acknowledged: name, dimensions
  std::map<std::string, uint64_t> after_;   // with the change that is on its way
};

// Makes and deletes snapshots until the server dies. Of one that was acknowledged all must be
// there, of another all or nothing.
class Snapshots {
 public:
  void Change(Client& client, uint64_t seed) {
    Dice dice(seed);
    absl::Status status;
    while (status.ok()) {
      const std::string name = absl::StrCat("s", dice.Below(4));
      after_ = before_;
      if (!before_.contains(name)) {
        after_.insert(name);
        status = client.CreateSnapshot(name).status();
      } else {
        after_.erase(name);
        status = client.DeleteSnapshot(name).status();
      }
      if (status.ok()) before_ = after_;
      absl::SleepFor(absl::Milliseconds(dice.Below(100)));
    }
    EXPECT_TRUE(IsDeath(status)) << status;
  }

  void Check(Client& client) {
    const absl::StatusOr<std::vector<v1::Snapshot>> snapshots = client.ListSnapshots();
    ASSERT_TRUE(snapshots.ok()) << snapshots.status();
    std::set<std::string> found;
    for (const v1::Snapshot& snapshot : *snapshots) found.insert(snapshot.name());
    ASSERT_TRUE(found == before_ || found == after_)
        << ::testing::PrintToString(found) << " were found; acknowledged were "
        << ::testing::PrintToString(before_) << ", and perhaps "
        << ::testing::PrintToString(after_);
    before_ = found;
    after_ = found;
  }

  const std::set<std::string>& names() const { return before_; }

 private:
  std::set<std::string> before_;  // acknowledged
  std::set<std::string> after_;   // with the change that is on its way
};

TEST(CrashRoundsTest, NothingAcknowledgedIsLost) {
  const uint64_t rounds = FromEnvironment("VECTABLE_CRASH_ROUNDS", kDefaultRounds);
  const uint64_t seed = FromEnvironment("VECTABLE_CRASH_SEED", 1);
  Dice dice(seed);
  ServerProcess server({"--log-level", "warn", "--max-wal-mb", "8", "--memtable-mb", "4"});
  std::array<WrittenTable, 2> written = {
      WrittenTable("floats", v1::PRECISION_FP32, v1::METRIC_COSINE),
      WrittenTable("halves", v1::PRECISION_FP16, v1::METRIC_EUCLIDEAN)};
  PassingTables passing;
  Snapshots snapshots;
  for (const WrittenTable& table : written) table.Create(server.client());
  for (uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE(absl::StrCat("round ", round, " of seed ", seed));
    std::vector<std::thread> threads;
    for (WrittenTable& table : written) {
      threads.emplace_back([&, with = dice.Any()] { table.Write(server.client(), with); });
    }
    threads.emplace_back([&, with = dice.Any()] { passing.Change(server.client(), with); });
    threads.emplace_back([&, with = dice.Any()] { snapshots.Change(server.client(), with); });
    absl::SleepFor(absl::Milliseconds(dice.OneIn(4) ? dice.Below(3'000) : dice.Below(400)));
    server.Kill();
    for (std::thread& thread : threads) thread.join();
    // Now and then it dies while it starts, too.
    server.Start();
    if (dice.OneIn(4)) {
      absl::SleepFor(absl::Milliseconds(dice.Below(100)));
      server.Kill();
      server.Start();
    }
    for (WrittenTable& table : written) table.Check(server.client(), dice.Any());
    passing.Check(server.client());
    snapshots.Check(server.client());
    if (::testing::Test::HasFailure()) return;
  }
  for (const WrittenTable& table : written) {
    std::printf("%s: %zu rows, next row id %llu\n", table.name().c_str(),
                table.content().rows.size(),
                static_cast<unsigned long long>(table.content().next_row_id));
  }
  server.Stop();
  // Each snapshot that is there can be restored: that reads every row of it.
  for (const std::string& name : snapshots.names()) {
    ServerProcess restored({"--restore", absl::StrCat(server.data(), "/snapshots/", name)});
    const absl::StatusOr<std::vector<v1::Table>> tables = restored.client().ListTables();
    ASSERT_TRUE(tables.ok()) << tables.status();
    EXPECT_GE(tables->size(), written.size());
  }
}

}  // namespace
}  // namespace vectable
