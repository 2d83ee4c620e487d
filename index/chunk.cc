#include "index/chunk.h"

#include <algorithm>
#include <new>

#include "common/vector_math.h"

namespace vectable {
namespace {

template <typename T>
LargeArray<T> AllocateIf(bool wanted, size_t count, bool huge_pages) {
  return wanted ? AllocateLarge<T>(count, huge_pages) : nullptr;
}

}  // namespace

Chunk::Chunk(const SearchCoder& coder, const VectorCodec& codec, size_t capacity, bool huge_pages)
    : coder_(coder),
      codec_(codec),
      codes_(AllocateLarge<char>(capacity * codec.row_bytes(), huge_pages)),
      search_codes_(AllocateIf<char>(coder.has_own_codes(), capacity * coder.stride(), huge_pages)),
      errors_(AllocateIf<float>(coder.has_own_codes(), capacity, false)),
      scales_(AllocateIf<float>(coder.has_scale_column(), capacity, false)),
      norms_(AllocateIf<float>(coder.has_norms(), capacity, false)),
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
  if (search_codes_ != nullptr) {
    errors_[offset] =
        coder_.EncodeRow(vector, squared_norm, search_codes_.get() + offset * coder_.stride());
  }
  if (scales_ != nullptr) scales_[offset] = coder_.UnitFactor(row, squared_norm);
  if (norms_ != nullptr) norms_[offset] = SearchCoder::Norm(squared_norm);
}

RowColumns Chunk::Columns(size_t offset) const {
  const auto at = [offset](const auto& array) {
    return array == nullptr ? nullptr : array.get() + offset;
  };
  RowColumns columns;
  columns.codes = codes_.get() + offset * codec_.row_bytes();
  const char* const search = search_codes_ != nullptr
                                 ? search_codes_.get() + offset * coder_.stride()
                                 : columns.codes + codec_.scale_bytes();
  columns.search = {reinterpret_cast<const int8_t*>(search), coder_.stride(), codec_.dimensions()};
  columns.scales = scales_ != nullptr ? reinterpret_cast<const char*>(at(scales_))
                                      : search + coder_.scale_offset();
  columns.scale_stride = scales_ != nullptr ? sizeof(float) : coder_.stride();
  columns.errors = at(errors_);
  columns.norms = at(norms_);
  columns.squared_norms = at(squared_norms_);
  columns.row_ids = at(row_ids_);
  columns.dead_at = at(dead_at_);
  return columns;
}

void Chunk::AddMemory(size_t rows, IndexMemory& memory) const {
  memory.codes += TouchedBytes(rows * codec_.row_bytes());
  if (search_codes_ != nullptr) {
    memory.search_codes +=
        TouchedBytes(rows * coder_.stride()) + TouchedBytes(rows * sizeof(float));
  }
  if (scales_ != nullptr) memory.search_codes += TouchedBytes(rows * sizeof(float));
  if (norms_ != nullptr) memory.search_codes += TouchedBytes(rows * sizeof(float));
  memory.words += TouchedBytes(rows * sizeof(std::string_view));
  memory.id_maps +=
      TouchedBytes(rows * sizeof(uint64_t)) + 2 * TouchedBytes(rows * sizeof(uint32_t));
  memory.row_state += TouchedBytes(rows * sizeof(double)) + TouchedBytes(rows * sizeof(DeathMark));
}

}  // namespace vectable
