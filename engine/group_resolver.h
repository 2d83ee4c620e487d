#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/limits.h"
#include "engine/types.h"
#include "storage/mutation.h"
#include "storage/store.h"

namespace vectable {

// What a mutation does to a table.
struct MutationOutcome {
  uint64_t sequence = 0;  // 0: nothing was to be done
  uint64_t inserted = 0;
  uint64_t replaced = 0;
  uint64_t deleted = 0;
  std::vector<uint64_t> row_ids;      // of the rows put, in order
  std::vector<size_t> missing;        // places of the keys to delete that weren't there
  std::vector<RejectedRow> rejected;  // rows left out, by place in the mutation as it was given
};

// Gives row ids to the mutations that are committed together, each on top of those before it.
// Deterministic: what it does follows from the table's state and the mutation alone.
class GroupResolver {
 public:
  // `record` is the table as of the last commit. `store` and `limits` must outlive the resolver.
  GroupResolver(const Store& store, const TableRecord& record, const Limits& limits)
      : store_(store), limits_(limits), after_(record) {}

  struct Resolved {
    Commit commit;  // refers to the mutation's and the resolver's memory
    MutationOutcome outcome;
  };

  // Gives the mutation the next sequence number, unless it does nothing and `always` isn't set.
  // With `skip_bad`, rows that can't be written are taken out of the mutation and reported. An
  // error changes nothing: ALREADY_EXISTS, NOT_FOUND, INVALID_ARGUMENT, RESOURCE_EXHAUSTED, or the
  // store's.
  absl::StatusOr<Resolved> Resolve(Mutation& mutation, bool skip_bad, bool always);

  // Takes in what a resolved mutation changes. Must come before another is resolved; after the last
  // it can be left out.
  void TakeIn(const Commit& commit);

  // The table as of the last mutation resolved.
  const TableRecord& after() const { return after_; }

 private:
  using RowIds = std::vector<std::optional<uint64_t>>;

  absl::StatusOr<Resolved> ResolveUpsert(Mutation& mutation, bool skip_bad);
  absl::StatusOr<Resolved> ResolveDelete(const Mutation& mutation);
  // The row id of each word, as of the mutations taken in.
  absl::StatusOr<RowIds> FindWords(const std::vector<std::string>& words) const;
  // The word of each row id, as of the mutations taken in.
  absl::StatusOr<std::vector<std::optional<std::string>>> FindRowIds(
      const std::vector<uint64_t>& row_ids) const;
  absl::StatusOr<RowIdState> StateOf(uint64_t row_id) const;
  absl::Status CheckRow(const Mutation& mutation, size_t i, std::optional<uint64_t> known) const;
  absl::Status CheckExplicitId(uint64_t row_id, std::optional<uint64_t> known) const;
  absl::StatusOr<RowIds> CheckRows(Mutation& mutation, bool skip_bad,
                                   std::vector<RejectedRow>& rejected) const;
  absl::Status CheckRoom(const Mutation& mutation, const RowIds& known) const;
  Resolved GiveIds(const Mutation& mutation, const RowIds& known);

  const Store& store_;
  const Limits& limits_;
  TableRecord after_;
  // What the mutations taken in changed: word -> row id or gone, row id -> word or gone.
  absl::flat_hash_map<std::string, std::optional<uint64_t>> words_;
  absl::flat_hash_map<uint64_t, std::optional<std::string>> rows_;
  std::deque<std::string> erased_words_;  // that commits refer to
};

}  // namespace vectable
