#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/formats/vector_reader.h"

namespace vectable {

// Which of a word's rows in a file stays.
enum class OnDuplicate : uint8_t {
  kLast,   // each replaces the one before
  kFirst,  // those after the first are left out
  kError,  // the second one is a bad row
};

// What is done with the rows of a file before they are sent.
struct RuleOptions {
  bool lowercase = false;
  std::string only_words = {};  // a file of the words to take, one per line; empty: all
  OnDuplicate on_duplicate = OnDuplicate::kLast;
  bool normalize = false;  // vectors are scaled to length 1
};

// Scales the vector to length 1, in double, so that no size of its values overflows; false, and
// unchanged, for zero.
bool ScaleToUnit(std::span<float> vector);

// Applies the options row by row. Memory: the words of `only_words`, and, where the first row
// stays or the second is an error, some 40 bytes for each word met. Not thread-safe.
class ImportRules {
 public:
  // Reads the words to take. Errors are those of WordList.
  static absl::StatusOr<ImportRules> Create(const RuleOptions& options, const WordRules& words);

  enum class Verdict : uint8_t { kTake, kNotAsked, kDuplicate };

  // Changes a row as asked, and says what becomes of it. INVALID_ARGUMENT, without the row's own
  // place, for a word met before (`place_name` says what a place is), or a vector without a
  // direction.
  absl::StatusOr<Verdict> Apply(VectorRow& row, const char* place_name);

  // Notes the word of a row that is taken and not bad, as met.
  void Remember(const VectorRow& row);

 private:
  explicit ImportRules(const RuleOptions& options) : options_(options) {}

  // Two hashes of a word that have nothing in common: 128 bits, which two of a billion words share
  // with a chance of some 10^-21.
  using Fingerprint = std::pair<uint64_t, uint64_t>;
  static Fingerprint FingerprintOf(const std::string& word);

  RuleOptions options_;
  std::optional<absl::flat_hash_set<std::string>> asked_;
  absl::flat_hash_map<Fingerprint, uint64_t> met_;
};

}  // namespace vectable
