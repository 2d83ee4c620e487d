// Snapshots: made while writes go on, listed, deleted, and restored to the same and to a new
// directory.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/database.h"
#include "engine/restore.h"
#include "gtest/gtest.h"
#include "index/faiss_backend.h"
#include "storage/data_directory.h"
#include "storage/rocks_store.h"
#include "tests/common/test_seed.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_events.h"

namespace vectable {
namespace {

namespace fs = std::filesystem;
using absl::StatusCode;

using Rows = std::map<std::string, std::vector<float>>;

absl::StatusOr<std::unique_ptr<Store>> OpenStore(const std::string& directory) {
  RocksStoreOptions options;
  options.directory = directory;
  return OpenRocksStore(options);
}

class SnapshotTest : public testing::Test {
 protected:
  SnapshotTest() { Open(data()); }

  std::string data() const { return folder_.path() + "/data"; }
  Database& db() { return *database_; }

  void Open(const std::string& directory) {
    ASSERT_THAT(FinishRestore(directory, events_), IsOk());
    auto store = OpenStore(directory);
    ASSERT_THAT(store, IsOk());
    DatabaseParts parts;
    parts.store = *std::move(store);
    parts.events = &events_;
    parts.backend = backend_.get();
    parts.index.directory = absl::StrCat(directory, "/", kIndexFolder);
    parts.index.graph_rows = 256;
    parts.snapshots = absl::StrCat(directory, "/", kSnapshotFolder);
    auto database = Database::Create(std::move(parts));
    ASSERT_THAT(database, IsOk());
    database_ = *std::move(database);
  }
  void Close() { database_.reset(); }

  absl::Status Restore(const std::string& directory, const std::string& snapshot) {
    return RestoreSnapshot(directory, snapshot, OpenStore, events_);
  }

  std::shared_ptr<Table> table(const std::string& name) {
    auto found = db().FindTable(name);
    EXPECT_THAT(found, IsOk());
    return found.ok() ? *found : nullptr;
  }
  void Make(const std::string& name, uint32_t dimensions = 8) {
    ASSERT_THAT(db().CreateTable({name, dimensions, Precision::kFp32, Metric::kCosine, {}}),
                IsOk());
  }

  void Put(const std::string& name, size_t from, size_t count) {
    const std::shared_ptr<Table> to = table(name);
    const uint32_t dimensions = to->Describe().spec.dimensions;
    std::vector<std::string> words;
    std::vector<std::vector<float>> vectors;
    std::uniform_real_distribution<float> value(-1, 1);
    for (size_t i = from; i < from + count; ++i) {
      words.push_back(absl::StrCat("w", i));
      for (float& component : vectors.emplace_back(dimensions)) component = value(random_);
    }
    std::vector<RowInput> rows;
    for (size_t i = 0; i < count; ++i) rows.push_back({words[i], vectors[i], std::nullopt});
    ASSERT_THAT(to->Upsert(rows, UpsertMode::kUpsert), IsOk());
  }

  void OptimizeAll() {
    for (const TableDescription& each : db().ListTables()) {
      ASSERT_THAT(table(each.spec.name)->Optimize(), IsOk());
      while (table(each.spec.name)->optimizing()) absl::SleepFor(absl::Milliseconds(1));
    }
  }

  Rows ReadAll(const std::string& name) {
    Rows rows;
    const auto scan = table(name)->Scan(RowIdRange{}, /*include_vectors=*/true);
    EXPECT_THAT(scan, IsOk());
    while (true) {
      const auto row = (*scan)->Next();
      EXPECT_THAT(row, IsOk());
      if (!row.ok() || !row->has_value()) return rows;
      rows[(*row)->word] = (*row)->vector;
    }
  }

  // All tables' rows; each row is its own nearest.
  std::map<std::string, Rows> Everything() {
    std::map<std::string, Rows> all;
    for (const TableDescription& each : db().ListTables()) {
      const std::string& name = each.spec.name;
      all[name] = ReadAll(name);
      EXPECT_EQ(each.rows, all[name].size());
      if (all[name].empty()) continue;
      const auto& [word, vector] = *all[name].begin();
      const QueryTarget target = std::span<const float>(vector);
      SearchOptions options;
      options.k = 1;
      options.exact = true;
      options.deadline = absl::Now() + absl::Seconds(30);
      const auto answer = table(name)->Nearest({&target, 1}, options);
      EXPECT_THAT(answer, IsOk());
      if (answer.ok()) {
        EXPECT_EQ(answer->queries[0].hits[0].word, word);
      }
    }
    return all;
  }

  std::mt19937_64 random_{TestSeed()};
  TempDir folder_;
  TestEvents events_;
  const std::unique_ptr<BatchBackend> backend_ = MakeFaissBackend();
  std::unique_ptr<Database> database_;
};

TEST_F(SnapshotTest, BringsBackEverythingAsItWas) {
  Make("small");
  Make("wide", 400);  // in blob files
  Make("empty");
  Put("small", 0, 600);
  Put("wide", 0, 50);
  OptimizeAll();
  Put("small", 500, 200);  // in the log
  ASSERT_THAT(table("small")->Delete(std::vector<std::string_view>{"w3", "w650"}), IsOk());
  const std::map<std::string, Rows> before = Everything();
  const uint64_t next_id = table("small")->Describe().next_row_id;

  const auto made = db().CreateSnapshot("first");
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(made->name, "first");
  ASSERT_EQ(made->record.tables.size(), 3U);
  EXPECT_GT(made->bytes, made->own_bytes);

  Put("small", 0, 900);
  Put("wide", 0, 60);
  ASSERT_THAT(db().DropTable("empty"), IsOk());
  Make("new");
  Put("new", 0, 5);
  ASSERT_THAT(db().RenameTable("wide", "wider", false), IsOk());
  OptimizeAll();
  const std::map<std::string, Rows> after = Everything();
  Close();

  // To a new directory, which leaves this one alone.
  const std::string other = folder_.path() + "/other";
  ASSERT_THAT(Restore(other, data() + "/snapshots/first"), IsOk());
  Open(other);
  EXPECT_EQ(Everything(), before);
  EXPECT_EQ(table("small")->Describe().next_row_id, next_id);
  Put("small", 10'000, 10);
  Close();

  Open(data());
  EXPECT_EQ(Everything(), after);
  Close();

  // In place; what was there is moved aside, and can be used as a data directory.
  ASSERT_THAT(Restore(data(), "first"), IsOk());
  Open(data());
  EXPECT_EQ(Everything(), before);
  Put("small", 20'000, 300);
  OptimizeAll();
  Close();
  std::string replaced;
  for (const auto& entry : fs::directory_iterator(data())) {
    if (absl::StartsWith(entry.path().filename().string(), "replaced-")) replaced = entry.path();
  }
  ASSERT_FALSE(replaced.empty());
  Open(replaced);
  EXPECT_EQ(Everything(), after);
  Close();

  // The snapshot is as it was.
  ASSERT_THAT(Restore(data(), "first"), IsOk());
  Open(data());
  EXPECT_EQ(Everything(), before);
  for (const std::string& line : events_.lines()) {
    EXPECT_FALSE(absl::StrContains(line, "made anew")) << line;
  }
}

TEST_F(SnapshotTest, HoldsOneMomentOfAllTablesWhileWritesGoOn) {
  Make("a");
  Make("b");
  std::atomic<bool> stop = false;
  std::atomic<size_t> pairs = 0;
  // Each word goes to `a` first: no moment has more in `b`, nor two fewer.
  std::thread writer([&] {
    for (size_t i = 0; !stop; ++i) {
      Put("a", i, 1);
      Put("b", i, 1);
      ++pairs;
    }
  });
  const auto wait_for = [&](size_t more) {
    const size_t until = pairs + more;
    while (pairs < until) absl::SleepFor(absl::Milliseconds(1));
  };
  std::vector<size_t> at_least;
  for (int i = 0; i < 8; ++i) {
    wait_for(20);
    if (i % 2 == 1) {
      ASSERT_THAT(table("a")->Optimize(), IsOk());
    }
    at_least.push_back(pairs);
    ASSERT_THAT(db().CreateSnapshot(absl::StrCat("s", i)), IsOk());
  }
  stop = true;
  writer.join();
  Close();
  for (int i = 0; i < 8; ++i) {
    SCOPED_TRACE(i);
    const std::string target = absl::StrCat(folder_.path(), "/r", i);
    ASSERT_THAT(Restore(target, absl::StrCat(data(), "/snapshots/s", i)), IsOk());
    Open(target);
    const size_t a = table("a")->Describe().rows;
    const size_t b = table("b")->Describe().rows;
    EXPECT_GE(b, at_least[i]);  // what was acknowledged before
    EXPECT_TRUE(a == b || a == b + 1) << a << " and " << b;
    const auto everything = Everything();
    EXPECT_EQ(everything.at("a").size(), a);
    for (size_t w = 0; w < a; ++w) {
      EXPECT_TRUE(everything.at("a").contains(absl::StrCat("w", w))) << w;
    }
    Close();
  }
}

TEST_F(SnapshotTest, ListsDeletesAndRefusesWhatIsWrong) {
  Make("t");
  Put("t", 0, 300);
  OptimizeAll();
  EXPECT_TRUE(db().ListSnapshots()->empty());
  ASSERT_THAT(db().CreateSnapshot("one"), IsOk());
  Put("t", 300, 300);
  const auto named_by_time = db().CreateSnapshot("");
  ASSERT_THAT(named_by_time, IsOk());
  EXPECT_EQ(named_by_time->name.size(), 16U) << named_by_time->name;
  EXPECT_THAT(db().CreateSnapshot("one"), StatusIs(StatusCode::kAlreadyExists, "'one'"));
  for (const char* name : {"..", ".hidden", "-x", "a/b", "a b", "\xff"}) {
    EXPECT_THAT(db().CreateSnapshot(name), StatusIs(StatusCode::kInvalidArgument, "letters"))
        << name;
  }
  const auto all = db().ListSnapshots();
  ASSERT_THAT(all, IsOk());
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ((*all)[0].name, "one");
  EXPECT_EQ((*all)[0].record.tables[0].rows, 300U);
  EXPECT_EQ((*all)[1].record.tables[0].rows, 600U);

  // The dropped table's disk stays with the snapshots, and goes with them.
  const auto dropped = db().DropTable("t");
  ASSERT_THAT(dropped, IsOk());
  EXPECT_EQ(dropped->snapshots.size(), 2U);
  EXPECT_THAT(db().DeleteSnapshot("ona"), StatusIs(StatusCode::kNotFound, "'one'"));
  for (const SnapshotDescription& snapshot : *all) {
    ASSERT_THAT(db().DeleteSnapshot(snapshot.name), IsOk());
  }
  EXPECT_TRUE(db().ListSnapshots()->empty());
  EXPECT_TRUE(fs::is_empty(data() + "/snapshots"));
  Make("t");
  EXPECT_TRUE(db().DropTable("t")->snapshots.empty());

  Close();
  EXPECT_THAT(Restore(data(), "one"), StatusIs(StatusCode::kNotFound, "'one'"));
  EXPECT_THAT(Restore(data(), ".."), StatusIs(StatusCode::kInvalidArgument, "letters"));
  EXPECT_THAT(Restore(data(), folder_.path() + "/nothing"),
              StatusIs(StatusCode::kNotFound, "nothing"));
}

TEST_F(SnapshotTest, ADamagedSnapshotIsRefusedAndHarmsNothing) {
  Make("t", 300);
  Put("t", 0, 400);
  OptimizeAll();
  ASSERT_THAT(db().CreateSnapshot("good"), IsOk());
  Put("t", 400, 100);
  const auto before = Everything();
  Close();
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(data() + "/snapshots/good")) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && entry.file_size() > 0 && !absl::StartsWith(name, "OPTIONS") &&
        name != "IDENTITY" && !absl::EndsWith(name, ".segment")) {
      files.push_back(entry.path());
    }
  }
  ASSERT_GE(files.size(), 4U);
  size_t refused = 0;
  for (const fs::path& file : files) {
    if (absl::StrContains(file.string(), "/index/")) continue;  // made anew
    // A file of its own: the bytes of a link are those of the data, too.
    const fs::path kept = folder_.path() + "/kept";
    fs::copy_file(file, kept, fs::copy_options::overwrite_existing);
    fs::remove(file);
    fs::copy_file(kept, file);
    {
      std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
      bytes.seekg(static_cast<std::streamoff>(fs::file_size(file) / 2));
      const char byte = static_cast<char>(bytes.get() ^ 4);
      bytes.seekp(static_cast<std::streamoff>(fs::file_size(file) / 2));
      bytes.put(byte);
    }
    const absl::Status status = Restore(data(), "good");
    // The middle of the log's only record is its end.
    if (file.extension() != ".log") {
      EXPECT_THAT(status, StatusIs(StatusCode::kDataLoss, "'good'")) << file;
      ++refused;
    }
    fs::copy_file(kept, file, fs::copy_options::overwrite_existing);
    if (status.ok()) continue;
    EXPECT_FALSE(fs::exists(data() + "/RESTORING"));
    Open(data());
    EXPECT_EQ(Everything(), before) << file;
    Close();
  }
  EXPECT_GE(refused, 3U);
}

TEST_F(SnapshotTest, ACrashWhileRestoringLeavesTheOldOrTheNew) {
  Make("t");
  Put("t", 0, 300);
  OptimizeAll();
  const auto snapshot = Everything();
  ASSERT_THAT(db().CreateSnapshot("s"), IsOk());
  Put("t", 300, 300);
  const auto old = Everything();
  Close();
  const std::string original = folder_.path() + "/original";
  fs::copy(data(), original, fs::copy_options::recursive);
  const std::string staged = folder_.path() + "/staged";
  fs::copy(data(), staged, fs::copy_options::recursive);
  ASSERT_THAT(Restore(staged, "s"), IsOk());
  // `staged` now has the new parts; what a crash leaves is put together from both.
  for (int step = 0; step < 5; ++step) {
    SCOPED_TRACE(step);
    fs::remove_all(data());
    fs::copy(original, data(), fs::copy_options::recursive);
    const fs::path restoring = data() + "/RESTORING";
    fs::create_directories(restoring);
    fs::copy(staged + "/store", restoring / "store", fs::copy_options::recursive);
    fs::create_directories(restoring / "index");
    if (fs::exists(staged + "/index")) {
      fs::copy(staged + "/index", restoring / "index",
               fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    }
    if (step > 0) std::ofstream(restoring / "READY") << "replaced-now";
    const fs::path replaced = data() + "/replaced-now";
    if (step > 1) {
      fs::create_directories(replaced);
      fs::rename(data() + "/store", replaced / "store");
    }
    if (step > 2) fs::rename(restoring / "store", data() + "/store");
    if (step > 3) fs::rename(data() + "/index", replaced / "index");
    Open(data());
    EXPECT_EQ(Everything(), step == 0 ? old : snapshot);
    EXPECT_FALSE(fs::exists(restoring));
    Close();
    if (step == 0) continue;
    Open(replaced);
    EXPECT_EQ(Everything(), old);
    Close();
  }
}

TEST_F(SnapshotTest, WhatACrashLeftOfOneIsRemovedAtOpen) {
  Make("t");
  Put("t", 0, 10);
  ASSERT_THAT(db().CreateSnapshot("s"), IsOk());
  Close();
  fs::copy(data() + "/snapshots/s", data() + "/snapshots/.t.new", fs::copy_options::recursive);
  fs::copy(data() + "/snapshots/s", data() + "/snapshots/.u.gone", fs::copy_options::recursive);
  fs::create_directories(data() + "/snapshots/of-others");
  Open(data());
  ASSERT_EQ(db().ListSnapshots()->size(), 1U);
  EXPECT_FALSE(fs::exists(data() + "/snapshots/.t.new"));
  EXPECT_FALSE(fs::exists(data() + "/snapshots/.u.gone"));
  EXPECT_TRUE(fs::exists(data() + "/snapshots/of-others"));
}

}  // namespace
}  // namespace vectable
