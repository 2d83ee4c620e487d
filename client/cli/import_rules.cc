#include "client/cli/import_rules.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "absl/hash/hash.h"
#include "client/formats/word_list.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

// To length 1, in double, so that no size of the values overflows.
absl::Status Normalize(std::vector<float>& vector) {
  double sum = 0;
  for (const float value : vector) sum += static_cast<double>(value) * value;
  if (sum == 0) {
    return absl::InvalidArgumentError(
        "the vector is zero and can't be scaled to length 1 (--normalize)");
  }
  const double norm = std::sqrt(sum);
  for (float& value : vector) value = static_cast<float>(value / norm);
  return absl::OkStatus();
}

absl::StatusOr<absl::flat_hash_set<std::string>> ReadWords(const std::string& path,
                                                           const WordRules& rules, bool lowercase) {
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<WordList> list, WordList::Open(path, rules));
  absl::flat_hash_set<std::string> words;
  std::string word;
  while (true) {
    const absl::StatusOr<WordList::Found> found = list->Next(word);
    // What can't be a word names no row.
    if (!found.ok() && absl::IsInvalidArgument(found.status())) continue;
    VT_RETURN_IF_ERROR(found.status());
    if (*found == WordList::Found::kEnd) return words;
    if (*found == WordList::Found::kWord) words.insert(lowercase ? Lowercase(word) : word);
  }
}

}  // namespace

absl::StatusOr<ImportRules> ImportRules::Create(const RuleOptions& options,
                                                const WordRules& words) {
  ImportRules rules(options);
  if (!options.only_words.empty()) {
    VT_ASSIGN_OR_RETURN(rules.asked_, ReadWords(options.only_words, words, options.lowercase));
  }
  return rules;
}

std::optional<uint64_t> ImportRules::Meet(const std::string& word, uint64_t place) {
  const Fingerprint fingerprint(absl::HashOf(word), absl::HashOf(uint64_t{1}, word));
  const auto [at, added] = met_.try_emplace(fingerprint, place);
  if (added) return std::nullopt;
  return at->second;
}

absl::StatusOr<ImportRules::Verdict> ImportRules::Apply(VectorRow& row) {
  if (options_.lowercase) row.word = Lowercase(row.word);
  if (asked_ && !asked_->contains(row.word)) return Verdict::kNotAsked;
  if (options_.on_duplicate != OnDuplicate::kLast) {
    if (const std::optional<uint64_t> first = Meet(row.word, row.place)) {
      if (options_.on_duplicate == OnDuplicate::kFirst) return Verdict::kDuplicate;
      return absl::InvalidArgumentError(fmt::format(
          "word {} was met before, at {} (--on-duplicate error)", Quoted(row.word), *first));
    }
  }
  if (options_.normalize) VT_RETURN_IF_ERROR(Normalize(row.vector));
  return Verdict::kTake;
}

}  // namespace vectable
