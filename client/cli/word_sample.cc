#include "client/cli/word_sample.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/limits.h"
#include "common/status_util.h"

namespace vectable {
namespace {

constexpr uint64_t kListedRows = 100'000;    // a table of so many rows is listed
constexpr uint64_t kMostListed = 1'000'000;  // of any table
constexpr uint64_t kIdsPerRow = 64;          // with more of them drawing ids isn't worth it
constexpr uint64_t kMoreIds = 4;             // so many times the ids expected to do, then no more

absl::Status CancelledIf(const std::function<bool()>& interrupted) {
  return interrupted && interrupted() ? absl::CancelledError("interrupted") : absl::OkStatus();
}

// Lists the table and keeps a sample of what was seen so far (Vitter's algorithm R).
absl::StatusOr<std::vector<std::string>> SampleListed(Client& client, const v1::Table& table,
                                                      size_t count, std::mt19937_64& random,
                                                      const std::function<bool()>& interrupted) {
  v1::ScanRequest request;
  request.set_table(table.name());
  request.set_limit(kMostListed);
  std::vector<std::string> words;
  uint64_t seen = 0;
  VT_RETURN_IF_ERROR(client.Scan(request, [&](const v1::Row& row) {
    ++seen;
    if (words.size() < count) {
      words.push_back(row.word());
    } else {
      const uint64_t at = std::uniform_int_distribution<uint64_t>(0, seen - 1)(random);
      if (at < count) words[at] = row.word();
    }
    return CancelledIf(interrupted);
  }));
  std::shuffle(words.begin(), words.end(), random);
  return words;
}

// Draws row ids until enough of them are in use.
absl::StatusOr<std::vector<std::string>> SampleDrawn(Client& client, const v1::Table& table,
                                                     size_t count, std::mt19937_64& random,
                                                     const std::function<bool()>& interrupted) {
  std::uniform_int_distribution<uint64_t> any_id(0, table.next_row_id() - 1);
  const double ids_per_row =
      static_cast<double>(table.next_row_id()) / static_cast<double>(table.rows());
  const auto expected = static_cast<uint64_t>(static_cast<double>(count) * ids_per_row) + 1;
  const size_t part = Limits().max_keys;
  absl::flat_hash_set<uint64_t> drawn;
  std::vector<std::string> words;
  while (words.size() < count && drawn.size() < expected * kMoreIds) {
    VT_RETURN_IF_ERROR(CancelledIf(interrupted));
    const auto wanted = static_cast<double>(count - words.size()) * ids_per_row;
    std::vector<uint64_t> ids;
    while (ids.size() < std::min(part, static_cast<size_t>(wanted) + 16)) {
      const uint64_t id = any_id(random);
      if (drawn.insert(id).second) ids.push_back(id);
    }
    VT_ASSIGN_OR_RETURN(const v1::GetResponse found, client.GetByRowId(table.name(), ids, false));
    for (const v1::Row& row : found.rows()) {
      if (words.size() < count) words.push_back(row.word());
    }
  }
  return words;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SampleWords(Client& client, const v1::Table& table,
                                                     size_t count, uint64_t seed,
                                                     const std::function<bool()>& interrupted) {
  std::mt19937_64 random(seed);
  // Few of the drawn ids may be asked for twice.
  const bool draws = table.rows() > std::max<uint64_t>(kListedRows, 2 * count) &&
                     table.next_row_id() / table.rows() < kIdsPerRow;
  return draws ? SampleDrawn(client, table, count, random, interrupted)
               : SampleListed(client, table, count, random, interrupted);
}

}  // namespace vectable
