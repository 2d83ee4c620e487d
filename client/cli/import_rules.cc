#include "client/cli/import_rules.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "absl/hash/hash.h"
#include "client/cli/text_hash.h"
#include "client/formats/word_list.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

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

bool ScaleToUnit(std::span<float> vector) {
  double sum = 0;
  for (const float value : vector) sum += static_cast<double>(value) * value;
  if (sum == 0) return false;
  const double norm = std::sqrt(sum);
  for (float& value : vector) value = static_cast<float>(value / norm);
  return true;
}

absl::StatusOr<ImportRules> ImportRules::Create(const RuleOptions& options,
                                                const WordRules& words) {
  ImportRules rules(options);
  if (!options.only_words.empty()) {
    VT_ASSIGN_OR_RETURN(rules.asked_, ReadWords(options.only_words, words, options.lowercase));
  }
  return rules;
}

ImportRules::Fingerprint ImportRules::FingerprintOf(const std::string& word) {
  return {absl::HashOf(word), Fnv1a64(word)};
}

void ImportRules::Remember(const VectorRow& row) {
  if (options_.on_duplicate == OnDuplicate::kLast) return;
  met_.try_emplace(FingerprintOf(row.word), row.place);
}

absl::StatusOr<ImportRules::Verdict> ImportRules::Apply(VectorRow& row, const char* place_name) {
  if (options_.lowercase) row.word = Lowercase(row.word);
  if (asked_ && !asked_->contains(row.word)) return Verdict::kNotAsked;
  if (options_.on_duplicate != OnDuplicate::kLast) {
    if (const auto first = met_.find(FingerprintOf(row.word)); first != met_.end()) {
      if (options_.on_duplicate == OnDuplicate::kFirst) return Verdict::kDuplicate;
      return absl::InvalidArgumentError(fmt::format("word {} was met before, in {} {}",
                                                    Quoted(row.word), place_name, first->second));
    }
  }
  if (options_.normalize && !ScaleToUnit(row.vector)) {
    return absl::InvalidArgumentError(fmt::format(
        "word {}: the vector is zero and can't be scaled to length 1", Quoted(row.word)));
  }
  return Verdict::kTake;
}

}  // namespace vectable
