// Power cuts: of each file that the store writes only what it synced is there afterwards.
// VECTABLE_FAULT_ROUNDS and VECTABLE_FAULT_SEED choose how many and which.
#include <algorithm>
#include <cstdio>
#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/database_fixture.h"
#include "tests/support/from_environment.h"
#include "tests/support/power_cut_env.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

using Rows = std::map<std::string, std::vector<float>>;

RocksStoreOptions SmallStore(PowerCutEnv& env, bool sync) {
  RocksStoreOptions options;
  options.env = &env;
  options.sync = sync;
  options.memtable_bytes = size_t{256} << 10;  // so that table files are written all the time
  options.block_cache_bytes = size_t{64} << 10;
  return options;
}

class PowerCutTest : public testing::TestWithParam<bool> {
 protected:
  static constexpr uint32_t kDimensions = 16;

  PowerCutTest() : random_(seed_), fixture_(SmallStore(env_, GetParam())) {
    fixture_.MakeTable("t", kDimensions);
  }

  size_t Below(size_t limit) { return random_() % limit; }

  // An upsert or a delete that is acknowledged.
  void Write() {
    const std::shared_ptr<Table> table = fixture_.table("t");
    if (Below(4) == 0 && !known_.empty()) {
      const std::string word =
          std::next(known_.begin(), static_cast<long>(Below(known_.size())))->first;
      const std::vector<std::string_view> words = {word};
      ASSERT_THAT(table->Delete(words).status(), IsOk());
      known_.erase(word);
    } else {
      Rows rows;
      for (size_t i = 1 + Below(60); i > 0; --i) {
        std::vector<float>& vector = rows[absl::StrCat("w", Below(3'000))];
        vector.assign(kDimensions, 0);
        for (float& value : vector) value = static_cast<float>(1 + Below(1'000));
      }
      std::vector<RowInput> inputs;
      for (const auto& [word, vector] : rows) inputs.push_back({word, vector, std::nullopt});
      ASSERT_THAT(table->Upsert(inputs, UpsertMode::kUpsert).status(), IsOk());
      for (auto& [word, vector] : rows) known_[word] = std::move(vector);
    }
    if (!GetParam()) history_.push_back(known_);
  }

  // What a database finds on what is left.
  Rows RowsIn(const std::string& directory) {
    Rows rows;
    RocksStoreOptions options;
    options.directory = directory;
    options.events = &fixture_.events();
    auto store = OpenRocksStore(options);
    EXPECT_THAT(store.status(), IsOk());
    if (!store.ok()) return rows;
    const std::unique_ptr<BatchBackend> backend = MakeFaissBackend();
    DatabaseParts parts;
    parts.store = *std::move(store);
    parts.events = &fixture_.events();
    parts.backend = backend.get();
    auto database = Database::Create(std::move(parts));
    EXPECT_THAT(database.status(), IsOk());
    if (!database.ok()) return rows;
    const auto table = (*database)->FindTable("t");
    EXPECT_THAT(table.status(), IsOk());
    if (!table.ok()) return rows;
    const auto scan = (*table)->Scan(RowIdRange{}, /*include_vectors=*/true);
    EXPECT_THAT(scan.status(), IsOk());
    while (scan.ok()) {
      const auto row = (*scan)->Next();
      EXPECT_THAT(row.status(), IsOk());
      if (!row.ok() || !row->has_value()) break;
      rows[(*row)->word] = (*row)->vector;
    }
    EXPECT_EQ((*table)->Describe().rows, rows.size());
    return rows;
  }

  const uint64_t seed_ = FromEnvironment("VECTABLE_FAULT_SEED", 1);
  std::mt19937_64 random_;
  PowerCutEnv env_;
  DatabaseFixture fixture_;
  Rows known_;
  std::vector<Rows> history_ = {Rows()};  // after each unsynced write, from the last cut's state on
};

// With synced writes everything acknowledged is there; without, all writes up to some one.
TEST_P(PowerCutTest, WhatWasSyncedIsThere) {
  const bool sync = GetParam();
  const uint64_t rounds = FromEnvironment("VECTABLE_FAULT_ROUNDS", 10);
  uint64_t lost = 0;
  size_t behind = 0;  // rounds that lost writes
  for (uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE(absl::StrCat("round ", round, " of seed ", seed_));
    for (size_t i = 20 + Below(60); i > 0; --i) {
      Write();
      if (HasFatalFailure()) return;
    }
    const TempDir copy;
    lost += env_.CopyAsCut(fixture_.directory(), copy.path());
    const Rows found = RowsIn(copy.path());
    if (sync) {
      ASSERT_EQ(found, known_);
    } else {
      // Never less than the cut before had.
      const auto moment = std::find(history_.begin(), history_.end(), found);
      ASSERT_NE(moment, history_.end()) << found.size() << " rows are there";
      history_.erase(history_.begin(), moment);
      if (found != known_) ++behind;
    }
  }
  std::printf("%llu power cuts, %llu bytes lost, %zu with writes\n",
              static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(lost),
              behind);
  if (!sync) {
    EXPECT_GT(behind, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Sync, PowerCutTest, testing::Bool());

}  // namespace
}  // namespace vectable
