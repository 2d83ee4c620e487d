#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "engine/database.h"
#include "gtest/gtest.h"
#include "index/faiss_backend.h"
#include "storage/rocks_store.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_events.h"

namespace vectable {

// A database on a real directory that can be closed and opened again.
class DatabaseFixture {
 public:
  DatabaseFixture() { Open(); }
  // `options` without the directory.
  explicit DatabaseFixture(RocksStoreOptions options) : store_options_(std::move(options)) {
    Open();
  }

  Database& db() { return *database_; }
  const std::string& directory() const { return directory_.path(); }
  TestEvents& events() { return events_; }
  Limits& limits() { return limits_; }  // of the next Open
  // Wraps the store of the next Open; for injected faults.
  std::function<std::unique_ptr<Store>(std::unique_ptr<Store>)> wrap_store;
  std::function<void(const std::string&, uint64_t, const Mutation&)> on_mutation;
  IndexOptions index_options;  // of the next Open

  void Open() {
    RocksStoreOptions options = store_options_;
    options.directory = directory_.path();
    options.events = &events_;
    absl::StatusOr<std::unique_ptr<Store>> store = OpenRocksStore(options);
    ASSERT_TRUE(store.ok()) << store.status();
    if (wrap_store) *store = wrap_store(*std::move(store));
    DatabaseParts parts;
    parts.store = *std::move(store);
    parts.limits = limits_;
    parts.events = &events_;
    parts.backend = backend_.get();
    parts.index = index_options;
    parts.snapshots = directory_.path() + "/snapshots";
    parts.on_mutation = on_mutation;
    absl::StatusOr<std::unique_ptr<Database>> database = Database::Create(std::move(parts));
    ASSERT_TRUE(database.ok()) << database.status();
    database_ = *std::move(database);
  }
  void Close() { database_.reset(); }
  void Reopen() {
    Close();
    Open();
  }

  // The table, which must be there; null (and a failure) otherwise.
  std::shared_ptr<Table> table(const std::string& name) {
    absl::StatusOr<std::shared_ptr<Table>> found = database_->FindTable(name);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? *found : nullptr;
  }

  std::shared_ptr<Table> MakeTable(const std::string& name, uint32_t dimensions,
                                   Metric metric = Metric::kCosine,
                                   Precision precision = Precision::kFp32) {
    const auto created = database_->CreateTable({name, dimensions, precision, metric, {}});
    EXPECT_TRUE(created.ok()) << created.status();
    return table(name);
  }

 private:
  RocksStoreOptions store_options_;
  TempDir directory_;
  TestEvents events_;
  Limits limits_;
  std::unique_ptr<BatchBackend> backend_ = MakeFaissBackend();
  std::unique_ptr<Database> database_;
};

}  // namespace vectable
