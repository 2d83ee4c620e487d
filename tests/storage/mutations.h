#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/mutation.h"

namespace vectable {

inline Mutation Upsert(std::vector<std::string> words, std::string codes,
                       UpsertMode mode = UpsertMode::kUpsert,
                       std::vector<std::optional<uint64_t>> explicit_ids = {}) {
  Mutation mutation;
  mutation.words = std::move(words);
  mutation.codes = std::move(codes);
  mutation.mode = mode;
  mutation.explicit_ids = std::move(explicit_ids);
  return mutation;
}

inline Mutation DeleteWords(std::vector<std::string> words) {
  Mutation mutation;
  mutation.kind = Mutation::Kind::kDeleteWords;
  mutation.words = std::move(words);
  return mutation;
}

inline Mutation DeleteRowIds(std::vector<uint64_t> row_ids) {
  Mutation mutation;
  mutation.kind = Mutation::Kind::kDeleteRowIds;
  mutation.row_ids = std::move(row_ids);
  return mutation;
}

}  // namespace vectable
