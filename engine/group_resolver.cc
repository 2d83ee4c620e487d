#include "engine/group_resolver.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "common/vector_codec.h"
#include "engine/row_checks.h"

namespace vectable {
namespace {

std::optional<uint64_t> ExplicitId(const Mutation& mutation, size_t i) {
  return mutation.explicit_ids.empty() ? std::nullopt : mutation.explicit_ids[i];
}

// The mutation without the rows that aren't kept.
Mutation KeepRows(const Mutation& mutation, const std::vector<size_t>& kept) {
  Mutation smaller;
  smaller.kind = mutation.kind;
  smaller.mode = mutation.mode;
  for (const size_t i : kept) {
    smaller.codes.append(mutation.CodesOf(i));
    smaller.words.push_back(mutation.words[i]);
    if (!mutation.explicit_ids.empty()) smaller.explicit_ids.push_back(mutation.explicit_ids[i]);
  }
  return smaller;
}

}  // namespace

absl::StatusOr<GroupResolver::Resolved> GroupResolver::Resolve(Mutation& mutation, bool skip_bad,
                                                               bool always) {
  absl::StatusOr<Resolved> resolved = mutation.kind == Mutation::Kind::kUpsert
                                          ? ResolveUpsert(mutation, skip_bad)
                                          : ResolveDelete(mutation);
  if (!resolved.ok() || (resolved->commit.changes.empty() && !always)) return resolved;
  resolved->commit.sequence = ++after_.applied_sequence;
  resolved->outcome.sequence = after_.applied_sequence;
  return resolved;
}

absl::StatusOr<GroupResolver::Resolved> GroupResolver::ResolveUpsert(Mutation& mutation,
                                                                     bool skip_bad) {
  std::vector<RejectedRow> rejected;
  VT_ASSIGN_OR_RETURN(const RowIds known, CheckRows(mutation, skip_bad, rejected));
  VT_RETURN_IF_ERROR(CheckRoom(mutation, known));
  Resolved resolved = GiveIds(mutation, known);
  resolved.outcome.rejected = std::move(rejected);
  return resolved;
}

absl::StatusOr<GroupResolver::RowIds> GroupResolver::CheckRows(
    Mutation& mutation, bool skip_bad, std::vector<RejectedRow>& rejected) const {
  VT_ASSIGN_OR_RETURN(RowIds known, FindWords(mutation.words));
  RowIds kept_ids;
  std::vector<size_t> kept;
  for (size_t i = 0; i < mutation.words.size(); ++i) {
    absl::Status status = CheckRow(mutation, i, known[i]);
    if (status.ok()) {
      kept.push_back(i);
      kept_ids.push_back(known[i]);
      continue;
    }
    status = Annotate(status, RowLabel(i, mutation.words[i]));
    if (skip_bad) {
      rejected.push_back({i, status});
    } else {
      return status;
    }
  }
  if (rejected.empty()) return known;
  mutation = KeepRows(mutation, kept);
  return kept_ids;
}

absl::Status GroupResolver::CheckRow(const Mutation& mutation, size_t i,
                                     std::optional<uint64_t> known) const {
  if (mutation.mode == UpsertMode::kInsertOnly && known) {
    return absl::AlreadyExistsError(absl::StrCat("the word is there already, with row id ", *known,
                                                 ", and only inserts are asked for"));
  }
  if (mutation.mode == UpsertMode::kUpdateOnly && !known) {
    return absl::NotFoundError("there is no such word, and only updates are asked for");
  }
  const std::optional<uint64_t> row_id = ExplicitId(mutation, i);
  return row_id ? CheckExplicitId(*row_id, known) : absl::OkStatus();
}

absl::Status GroupResolver::CheckExplicitId(uint64_t row_id, std::optional<uint64_t> known) const {
  if (known == row_id) return absl::OkStatus();
  if (known) {
    return absl::InvalidArgumentError(
        absl::StrCat("row id ", row_id, " is asked for, but the word has row id ", *known));
  }
  VT_ASSIGN_OR_RETURN(const RowIdState state, StateOf(row_id));
  switch (state) {
    case RowIdState::kUnused:
      return absl::OkStatus();
    case RowIdState::kLive:
      return absl::AlreadyExistsError(absl::StrCat("row id ", row_id, " belongs to another word"));
    case RowIdState::kDeleted:
      return absl::AlreadyExistsError(
          absl::StrCat("row id ", row_id, " belonged to a deleted row; ids aren't used again"));
  }
  return absl::InternalError("unknown state of a row id");
}

absl::Status GroupResolver::CheckRoom(const Mutation& mutation, const RowIds& known) const {
  const auto inserted = static_cast<uint64_t>(std::count(known.begin(), known.end(), std::nullopt));
  if (inserted > limits_.max_rows || after_.rows > limits_.max_rows - inserted) {
    return absl::ResourceExhaustedError(absl::StrCat("the table has ", after_.rows,
                                                     " rows and would get ", inserted,
                                                     " more; the limit is ", limits_.max_rows));
  }
  const uint64_t row_bytes = VectorCodec(after_.precision, after_.dimensions).row_bytes();
  if (const uint64_t most = limits_.max_table_bytes / row_bytes;
      inserted > 0 && after_.rows + inserted > most) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the table has ", after_.rows, " rows of ", row_bytes, " bytes and would get ", inserted,
        " more; the limit is ", limits_.max_table_bytes, " bytes, which are ", most, " rows"));
  }
  uint64_t next = after_.next_row_id;
  uint64_t given = 0;  // ids that aren't explicit
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i]) continue;
    const std::optional<uint64_t> row_id = ExplicitId(mutation, i);
    next = row_id ? std::max(next, *row_id + 1) : next;
    given += row_id ? 0 : 1;
  }
  if (next > kMaxRowId + 1 - given) {
    return absl::ResourceExhaustedError(
        absl::StrCat("row ids are used up: the next is ", next, ", the greatest ", kMaxRowId));
  }
  return absl::OkStatus();
}

GroupResolver::Resolved GroupResolver::GiveIds(const Mutation& mutation, const RowIds& known) {
  // Explicit ids first, so that given ones can't meet them.
  for (size_t i = 0; i < known.size(); ++i) {
    const std::optional<uint64_t> row_id = ExplicitId(mutation, i);
    if (!known[i] && row_id) after_.next_row_id = std::max(after_.next_row_id, *row_id + 1);
  }
  Resolved resolved;
  resolved.commit.kind = RowChange::Kind::kPut;
  for (size_t i = 0; i < known.size(); ++i) {
    uint64_t row_id = 0;
    if (known[i]) {
      row_id = *known[i];
      ++resolved.outcome.replaced;
    } else {
      const std::optional<uint64_t> wanted = ExplicitId(mutation, i);
      row_id = wanted ? *wanted : after_.next_row_id++;
      ++resolved.outcome.inserted;
    }
    resolved.outcome.row_ids.push_back(row_id);
    resolved.commit.changes.push_back(
        {row_id, mutation.words[i], mutation.CodesOf(i), /*fresh=*/!known[i]});
  }
  after_.rows += resolved.outcome.inserted;
  return resolved;
}

absl::StatusOr<GroupResolver::Resolved> GroupResolver::ResolveDelete(const Mutation& mutation) {
  Resolved resolved;
  resolved.commit.kind = RowChange::Kind::kErase;
  if (mutation.kind == Mutation::Kind::kDeleteWords) {
    VT_ASSIGN_OR_RETURN(const RowIds known, FindWords(mutation.words));
    for (size_t i = 0; i < known.size(); ++i) {
      if (known[i]) {
        resolved.commit.changes.push_back({*known[i], mutation.words[i], {}});
      } else {
        resolved.outcome.missing.push_back(i);
      }
    }
  } else {
    using Words = std::vector<std::optional<std::string>>;
    VT_ASSIGN_OR_RETURN(Words words, FindRowIds(mutation.row_ids));
    for (size_t i = 0; i < words.size(); ++i) {
      if (!words[i]) {
        resolved.outcome.missing.push_back(i);
        continue;
      }
      erased_words_.push_back(*std::move(words[i]));
      resolved.commit.changes.push_back({mutation.row_ids[i], erased_words_.back(), {}});
    }
  }
  resolved.outcome.deleted = resolved.commit.changes.size();
  after_.rows -= resolved.outcome.deleted;
  return resolved;
}

absl::StatusOr<GroupResolver::RowIds> GroupResolver::FindWords(
    const std::vector<std::string>& words) const {
  RowIds ids(words.size());
  std::vector<std::string_view> asked;
  std::vector<size_t> places;
  for (size_t i = 0; i < words.size(); ++i) {
    if (const auto changed = words_.find(words[i]); changed != words_.end()) {
      ids[i] = changed->second;
    } else {
      asked.push_back(words[i]);
      places.push_back(i);
    }
  }
  VT_ASSIGN_OR_RETURN(const RowIds stored, store_.FindWords(after_.table_id, asked));
  for (size_t j = 0; j < places.size(); ++j) ids[places[j]] = stored[j];
  return ids;
}

absl::StatusOr<std::vector<std::optional<std::string>>> GroupResolver::FindRowIds(
    const std::vector<uint64_t>& row_ids) const {
  std::vector<std::optional<std::string>> words(row_ids.size());
  std::vector<uint64_t> asked;
  std::vector<size_t> places;
  for (size_t i = 0; i < row_ids.size(); ++i) {
    if (const auto changed = rows_.find(row_ids[i]); changed != rows_.end()) {
      words[i] = changed->second;
    } else {
      asked.push_back(row_ids[i]);
      places.push_back(i);
    }
  }
  using Rows = std::vector<std::optional<StoredRow>>;
  VT_ASSIGN_OR_RETURN(Rows stored, store_.GetByRowIds(after_.table_id, asked));
  for (size_t j = 0; j < places.size(); ++j) {
    if (stored[j]) words[places[j]] = std::move(stored[j]->word);
  }
  return words;
}

absl::StatusOr<RowIdState> GroupResolver::StateOf(uint64_t row_id) const {
  if (const auto changed = rows_.find(row_id); changed != rows_.end()) {
    return changed->second ? RowIdState::kLive : RowIdState::kDeleted;
  }
  using States = std::vector<RowIdState>;
  VT_ASSIGN_OR_RETURN(const States states, store_.FindRowIds(after_.table_id, {&row_id, 1}));
  return states[0];
}

void GroupResolver::TakeIn(const Commit& commit) {
  const bool put = commit.kind == RowChange::Kind::kPut;
  for (const RowChange& change : commit.changes) {
    std::string word(change.word);
    words_[word] = put ? std::optional<uint64_t>(change.row_id) : std::nullopt;
    rows_[change.row_id] = put ? std::optional<std::string>(std::move(word)) : std::nullopt;
  }
}

}  // namespace vectable
