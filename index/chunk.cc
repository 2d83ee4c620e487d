#include "index/chunk.h"

#include <algorithm>
#include <new>

#include "common/vector_math.h"

namespace vectable {
Chunk::Chunk(const SearchCoder& coder, const VectorCodec& codec, size_t capacity, bool huge_pages)
    : coder_(coder),
      codec_(codec),
      codes_(AllocateLarge<char>(capacity * codec.row_bytes(), huge_pages)),
      coarse_(AllocateCodes(capacity * coder.coarse_stride(), huge_pages)),
      fine_(AllocateCodes(capacity * coder.fine_stride(), huge_pages)),
      norms_(coder.has_norms() ? AllocateLarge<float>(capacity, false) : nullptr),
      squared_norms_(AllocateLarge<double>(capacity, false)),
      row_ids_(AllocateLarge<uint64_t>(capacity, false)),
      words_(AllocateLarge<std::string_view>(capacity, false)),
      dead_at_(AllocateLarge<DeathMark>(capacity, false)),
      previous_of_word_(AllocateLarge<uint32_t>(capacity, false)),
      previous_of_row_id_(AllocateLarge<uint32_t>(capacity, false)) {}

void Chunk::Append(size_t offset, uint64_t row_id, std::string_view word, std::string_view codes) {
  char* const row = codes_.get() + offset * codec_.row_bytes();
  std::copy(codes.begin(), codes.end(), row);
  const std::span<const float> vector = RowBlock::VectorOf(codec_, row, scratch_);
  const double squared_norm = SquaredNormInDouble(vector);
  squared_norms_[offset] = squared_norm;
  row_ids_[offset] = row_id;
  new (&words_[offset]) std::string_view(word);
  new (&dead_at_[offset]) DeathMark(0);
  coder_.EncodeRow(vector, squared_norm, coarse_.get() + offset * coder_.coarse_stride(),
                   fine_.get() + offset * coder_.fine_stride(), code_scratch_);
  if (norms_ != nullptr) norms_[offset] = SearchCoder::Norm(squared_norm);
}

RowColumns Chunk::Columns(size_t offset) const {
  const auto at = [offset](const auto& array) {
    return array == nullptr ? nullptr : array.get() + offset;
  };
  RowColumns columns;
  columns.codes = codes_.get() + offset * codec_.row_bytes();
  columns.coarse = coder_.coarse(coarse_.get() + offset * coder_.coarse_stride());
  columns.fine = coder_.fine(fine_.get() + offset * coder_.fine_stride());
  columns.norms = at(norms_);
  columns.squared_norms = at(squared_norms_);
  columns.row_ids = at(row_ids_);
  columns.dead_at = at(dead_at_);
  return columns;
}

void Chunk::AddMemory(size_t rows, IndexMemory& memory) const {
  memory.codes += TouchedBytes(rows * codec_.row_bytes());
  memory.search_codes +=
      TouchedBytes(rows * coder_.coarse_stride()) + TouchedBytes(rows * coder_.fine_stride());
  if (norms_ != nullptr) memory.search_codes += TouchedBytes(rows * sizeof(float));
  memory.words += TouchedBytes(rows * sizeof(std::string_view));
  memory.id_maps +=
      TouchedBytes(rows * sizeof(uint64_t)) + 2 * TouchedBytes(rows * sizeof(uint32_t));
  memory.row_state += TouchedBytes(rows * sizeof(double)) + TouchedBytes(rows * sizeof(DeathMark));
}

}  // namespace vectable
