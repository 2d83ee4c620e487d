// Flips a bit or cuts the end of any file of a data directory, opens it, and reads and searches
// everything: each answer must be right, or an error. VECTABLE_DAMAGE_ROUNDS and
// VECTABLE_DAMAGE_SEED choose how often and which.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/database.h"
#include "index/faiss_backend.h"
#include "storage/rocks_store.h"
#include "tests/support/from_environment.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_events.h"

namespace vectable {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kDefaultRounds = 40;

using Rows = std::map<std::string, std::vector<float>>;

struct KnownTable {
  const char* name;
  uint32_t dimensions;
  Metric metric;
  Rows rows;                                   // all that were written
  std::vector<std::vector<std::string>> late;  // of them the batches that only the log holds yet
};

// A database on a copy of a data directory.
class Opened {
 public:
  explicit Opened(const std::string& directory, size_t memtable_bytes = size_t{4} << 20) {
    RocksStoreOptions options;
    options.directory = directory;
    options.memtable_bytes = memtable_bytes;
    options.events = &events_;
    absl::StatusOr<std::unique_ptr<Store>> store = OpenRocksStore(options);
    status_ = store.status();
    if (!store.ok()) return;
    DatabaseParts parts;
    parts.store = *std::move(store);
    parts.events = &events_;
    parts.backend = backend_.get();
    parts.index.directory = directory + "/index";
    parts.index.graph_rows = 256;
    parts.snapshots = directory + "/snapshots";
    absl::StatusOr<std::unique_ptr<Database>> database = Database::Create(std::move(parts));
    status_ = database.status();
    if (database.ok()) database_ = *std::move(database);
  }

  const absl::Status& status() const { return status_; }
  Database& db() { return *database_; }

 private:
  TestEvents events_;
  const std::unique_ptr<BatchBackend> backend_ = MakeFaissBackend();
  absl::Status status_;
  std::unique_ptr<Database> database_;
};

class DamageTest : public ::testing::Test {
 protected:
  DamageTest() : random_(seed_) { Fill(); }

  size_t Below(size_t limit) { return random_() % limit; }

  // Files that a flip must not go unnoticed in. RocksDB writes LOG, LOCK, IDENTITY and OPTIONS
  // anew, and doesn't read the first two.
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(original_)) {
      if (!entry.is_regular_file() || entry.file_size() == 0) continue;
      const std::string name = entry.path().filename().string();
      if (name == "LOG" || absl::StrContains(name, "LOCK") || name == "IDENTITY" ||
          name == "RESERVE" || absl::StartsWith(name, "OPTIONS") ||
          absl::StartsWith(name, "LOG.old")) {
        continue;
      }
      files.push_back(fs::relative(entry.path(), original_));
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  // What was done to a file, for people.
  std::string Damage(const fs::path& path) {
    const size_t size = fs::file_size(path);
    size_t place = Below(size);
    if (Below(3) == 0) place = std::min(place, Below(64));                // its head
    if (Below(3) == 0) place = size - 1 - std::min(size - 1, Below(64));  // its end
    if (Below(4) == 0) {
      fs::resize_file(path, place);
      return absl::StrCat("cut to ", place, " of ", size, " bytes");
    }
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(place));
    const int bit = static_cast<int>(Below(8));
    const char byte = static_cast<char>(file.get() ^ (1 << bit));
    file.seekp(static_cast<std::streamoff>(place));
    file.put(byte);
    return absl::StrCat("bit ", bit, " of byte ", place, " of ", size, " flipped");
  }

  // The store may have to be opened again after a compaction that met damage.
  static absl::Status Retried(const std::function<absl::Status()>& work) {
    const absl::Time end = absl::Now() + absl::Seconds(60);
    absl::Status status;
    while (absl::IsUnavailable(status = work()) && absl::Now() < end) {
      absl::SleepFor(absl::Milliseconds(5));
    }
    return status;
  }

  // Writes rows of their own words.
  static absl::Status PutMore(Database& db, const KnownTable& known, int batch) {
    const auto table = db.FindTable(known.name);
    if (!table.ok()) return table.status();
    std::vector<std::string> words;
    for (int i = 0; i < 50; ++i) words.push_back(absl::StrCat("more", batch, "-", i));
    const std::vector<float> vector(known.dimensions, 1);
    std::vector<RowInput> rows;
    for (const std::string& word : words) rows.push_back({word, vector, std::nullopt});
    return Retried([&] { return (*table)->Upsert(rows, UpsertMode::kUpsert).status(); });
  }

  // Reads and searches all of a table; the number of errors.
  size_t Check(Database& db, const KnownTable& known, bool log_damaged) {
    const auto table = db.FindTable(known.name);
    EXPECT_THAT(table, IsOk());
    if (!table.ok()) return 0;
    size_t errors = 0;
    std::set<std::string> lost;
    for (const auto& [word, vector] : known.rows) {
      const std::vector<std::string_view> words = {word};
      const auto got = (*table)->Get(words);
      if (!got.ok()) {
        ++errors;
        EXPECT_THAT(got, StatusIs(absl::StatusCode::kDataLoss, ""));
      } else if (!got->missing.empty()) {
        lost.insert(word);
      } else {
        EXPECT_EQ(got->rows[0].vector, vector) << word;
      }
    }
    ExpectLostTail(known, lost, log_damaged);
    errors += CheckScan(**table, known, lost);
    return errors + CheckSearches(**table, known, lost);
  }

  // The end of the log may be lost with it: whole batches, the last ones.
  static void ExpectLostTail(const KnownTable& known, std::set<std::string> lost,
                             bool log_damaged) {
    for (auto batch = known.late.rbegin(); log_damaged && batch != known.late.rend(); ++batch) {
      if (lost.empty()) return;
      for (const std::string& word : *batch) {
        EXPECT_EQ(lost.erase(word), 1U) << "half of a batch is lost: " << word << " isn't";
      }
    }
    EXPECT_TRUE(lost.empty()) << lost.size() << " rows of " << known.name << " are lost, as "
                              << *lost.begin();
  }

  static size_t CheckScan(const Table& table, const KnownTable& known,
                          const std::set<std::string>& lost) {
    Rows found;
    const absl::Status status = Retried([&] { return ScanAll(table, found); });
    if (!status.ok()) {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, ""));
      return 1;
    }
    for (const auto& [word, vector] : found) {
      const auto expected = known.rows.find(word);
      const bool is_known = expected != known.rows.end();
      EXPECT_TRUE(is_known) << word;
      if (is_known) {
        EXPECT_EQ(vector, expected->second);
      }
    }
    EXPECT_EQ(found.size(), known.rows.size() - lost.size());
    return 0;
  }

  static absl::Status ScanAll(const Table& table, Rows& found) {
    found.clear();
    const auto scan = table.Scan(RowIdRange{}, /*include_vectors=*/true);
    if (!scan.ok()) return scan.status();
    while (true) {
      const auto row = (*scan)->Next();
      if (!row.ok()) return row.status();
      if (!row->has_value()) return absl::OkStatus();
      found[(*row)->word] = (*row)->vector;
    }
  }

  size_t CheckSearches(const Table& table, const KnownTable& known,
                       const std::set<std::string>& lost) {
    size_t errors = 0;
    for (int i = 0; i < 5; ++i) {
      const auto row = std::next(known.rows.begin(), static_cast<long>(Below(known.rows.size())));
      if (lost.contains(row->first)) continue;
      const QueryTarget target = std::span<const float>(row->second);
      SearchOptions options;
      options.k = 1;
      options.exact = true;
      options.deadline = absl::Now() + absl::Seconds(20);
      const auto answer = table.Nearest({&target, 1}, options);
      if (answer.ok()) {
        EXPECT_EQ(answer->queries[0].hits[0].word, row->first);
      } else {
        ++errors;
        EXPECT_TRUE(absl::IsDataLoss(answer.status()) || absl::IsUnavailable(answer.status()))
            << answer.status();
      }
    }
    return errors;
  }

  const uint64_t seed_ = FromEnvironment("VECTABLE_DAMAGE_SEED", 1);
  std::array<KnownTable, 3> known_ = {KnownTable{"small", 8, Metric::kCosine, {}, {}},
                                      KnownTable{"large", 400, Metric::kDot, {}, {}},
                                      KnownTable{"third", 16, Metric::kEuclidean, {}, {}}};
  std::mt19937_64 random_;
  TempDir folder_;
  const std::string original_ = folder_.path() + "/original";

 private:
  std::vector<std::string> Put(Table& table, KnownTable& known, size_t rows) {
    std::vector<std::string> words;
    std::vector<std::vector<float>> vectors;
    std::vector<RowInput> inputs;
    std::uniform_real_distribution<float> value(-1, 1);
    for (size_t i = 0; i < rows; ++i) {
      words.push_back(absl::StrCat("w", known.rows.size() + i));
      std::vector<float>& vector = vectors.emplace_back(known.dimensions);
      for (float& component : vector) component = value(random_);
      // Under dot the longest row would win every search.
      double norm = 0;
      for (const float component : vector) norm += double{component} * component;
      for (float& component : vector) component = static_cast<float>(component / std::sqrt(norm));
    }
    for (size_t i = 0; i < rows; ++i) inputs.push_back({words[i], vectors[i], std::nullopt});
    EXPECT_THAT(table.Upsert(inputs, UpsertMode::kInsertOnly), IsOk());
    for (size_t i = 0; i < rows; ++i) known.rows[words[i]] = vectors[i];
    return words;
  }

  // Rows in table files, blobs, segment files, and the last ones in the log alone.
  void Fill() {
    const std::string live = folder_.path() + "/live";
    {
      Opened opened(live);
      ASSERT_THAT(opened.status(), IsOk());
      for (KnownTable& known : known_) {
        const TableSpec spec = {known.name, known.dimensions, Precision::kFp32, known.metric, {}};
        ASSERT_THAT(opened.db().CreateTable(spec), IsOk());
        Table& table = **opened.db().FindTable(known.name);
        for (int i = 0; i < 10; ++i) Put(table, known, 40);
        ASSERT_THAT(table.Optimize(), IsOk());
        while (table.optimizing()) absl::SleepFor(absl::Milliseconds(1));
      }
    }
    Opened opened(live);
    ASSERT_THAT(opened.status(), IsOk());
    for (int i = 0; i < 4; ++i) {
      for (KnownTable& known : known_) {
        known.late.push_back(Put(**opened.db().FindTable(known.name), known, 5));
      }
    }
    // The store may remove a file in the middle of it.
    std::error_code error;
    for (int tries = 0; tries < 100; ++tries) {
      fs::remove_all(original_);
      fs::copy(live, original_, fs::copy_options::recursive, error);
      if (!error) return;
      absl::SleepFor(absl::Milliseconds(50));
    }
    FAIL() << error.message();
  }
};

// Damage that RocksDB refuses to open a database for, and damage that it meets when it compacts,
// after which it writes nothing more: the other tables go on all the same.
TEST_F(DamageTest, ADamagedTableDoesNotTakeTheOthersDown) {
  std::vector<fs::path> tables;
  for (const fs::path& file : Files()) {
    if (file.extension() == ".sst") tables.push_back(file);
  }
  size_t without_a_table = 0;
  for (const fs::path& file : tables) {
    for (const bool at_the_end : {true, false}) {
      SCOPED_TRACE(absl::StrCat(file.string(), at_the_end ? ", its end" : ", its first block"));
      const std::string copy = folder_.path() + "/copy";
      fs::remove_all(copy);
      fs::copy(original_, copy, fs::copy_options::recursive);
      {
        std::fstream bytes(copy / file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekp(at_the_end ? static_cast<std::streamoff>(fs::file_size(copy / file)) - 30 : 20);
        bytes.write("damaged", 7);
      }
      std::string damaged;  // the table that turns out to be
      {
        Opened opened(copy, /*memtable_bytes=*/size_t{128} << 10);
        if (!opened.status().ok()) {
          // The catalogue, or the log of all tables.
          EXPECT_THAT(opened.status(), StatusIs(absl::StatusCode::kDataLoss, copy));
          continue;
        }
        // Enough for compactions of every table.
        for (const KnownTable& known : known_) {
          absl::Status status;
          for (int i = 0; i < 40 && status.ok(); ++i) status = PutMore(opened.db(), known, i);
          if (status.ok()) continue;
          EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, ""));
          EXPECT_EQ(damaged, "") << known.name << ": " << status;
          damaged = known.name;
        }
      }
      // Also after another open; and dropped, it is forgotten.
      Opened opened(copy);
      ASSERT_THAT(opened.status(), IsOk());
      for (const KnownTable& known : known_) {
        if (known.name == damaged) continue;
        EXPECT_THAT(PutMore(opened.db(), known, 50), IsOk()) << known.name;
      }
      if (damaged.empty()) continue;
      ++without_a_table;
      // In place of it, or after it.
      const std::string name = at_the_end ? "fresh" : damaged;
      if (!at_the_end) {
        EXPECT_THAT(Retried([&] { return opened.db().DropTable(damaged).status(); }), IsOk());
      }
      EXPECT_THAT(Retried([&] {
                    return opened.db()
                        .CreateTable({name, 4, Precision::kFp32, Metric::kCosine, {}})
                        .status();
                  }),
                  IsOk());
      if (at_the_end) {
        EXPECT_THAT(Retried([&] {
                      return opened.db().RenameTable(name, damaged, /*replace=*/true).status();
                    }),
                    IsOk());
      }
      EXPECT_THAT(Retried([&] { return opened.db().CreateSnapshot("whole").status(); }), IsOk());
    }
  }
  EXPECT_GT(without_a_table, 0U);
}

TEST_F(DamageTest, EveryAnswerIsRightOrAnError) {
  const uint64_t rounds = FromEnvironment("VECTABLE_DAMAGE_ROUNDS", kDefaultRounds);
  const std::vector<fs::path> files = Files();
  ASSERT_GE(files.size(), 10U);
  std::map<std::string, std::array<size_t, 3>> outcomes;  // refused, errors, unharmed
  for (uint64_t round = 0; round < rounds; ++round) {
    const fs::path file = files[round % files.size()];
    const std::string copy = folder_.path() + "/copy";
    fs::remove_all(copy);
    fs::copy(original_, copy, fs::copy_options::recursive);
    const std::string what = Damage(copy / file);
    SCOPED_TRACE(
        absl::StrCat("round ", round, " of seed ", seed_, ": ", file.string(), ": ", what));
    const bool is_log = file.extension() == ".log";
    auto& [refused, errors, unharmed] =
        outcomes[file.extension().empty() ? file.filename().string() : file.extension().string()];
    Opened opened(copy);
    if (!opened.status().ok()) {
      ++refused;
      EXPECT_THAT(opened.status(), StatusIs(absl::StatusCode::kDataLoss, copy));
      EXPECT_FALSE(absl::StartsWith(file.string(), "index")) << opened.status();
      continue;
    }
    size_t tables_with_errors = 0;
    for (const KnownTable& known : known_) {
      tables_with_errors += Check(opened.db(), known, is_log) > 0 ? 1 : 0;
    }
    EXPECT_LE(tables_with_errors, 1U) << "one file's damage reaches several tables";
    ++(tables_with_errors > 0 ? errors : unharmed);
    if (::testing::Test::HasFailure()) return;
  }
  for (const auto& [kind, counts] : outcomes) {
    std::printf("%s: %zu refused at open, %zu gave errors, %zu did no harm\n", kind.c_str(),
                counts[0], counts[1], counts[2]);
  }
}

}  // namespace
}  // namespace vectable
