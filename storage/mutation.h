#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace vectable {

// Which rows an upsert may touch. The numbers are in the encoded form.
enum class UpsertMode : uint8_t { kUpsert = 1, kInsertOnly = 2, kUpdateOnly = 3 };

// One change of one table: what is asked, before row ids are given. Applying the same mutations in
// the same order to equal tables gives equal tables, on any machine: vectors are encoded already.
struct Mutation {
  enum class Kind : uint8_t { kUpsert = 1, kDeleteWords = 2, kDeleteRowIds = 3 };

  Kind kind = Kind::kUpsert;

  // kUpsert: `words.size()` rows; `codes` holds their vectors at the table's precision back to
  // back.
  UpsertMode mode = UpsertMode::kUpsert;
  std::string codes;
  std::vector<std::optional<uint64_t>> explicit_ids;  // empty, or one per row

  // kUpsert, kDeleteWords: the words, each once.
  std::vector<std::string> words;

  // kDeleteRowIds: the ids, each once.
  std::vector<uint64_t> row_ids;

  // The vector of row `i` of an upsert.
  std::string_view CodesOf(size_t i) const {
    const size_t row_bytes = codes.size() / words.size();
    return std::string_view(codes).substr(i * row_bytes, row_bytes);
  }

  friend bool operator==(const Mutation&, const Mutation&) = default;
};

// The versioned byte form that a log or a network carries; see docs/storage_format.md.
std::string EncodeMutation(const Mutation& mutation);

// DATA_LOSS for bytes that EncodeMutation didn't make; UNIMPLEMENTED for a newer version.
absl::StatusOr<Mutation> DecodeMutation(std::string_view bytes);

}  // namespace vectable
