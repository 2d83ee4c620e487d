#include "index/row_block.h"

#include "index/segment.h"

namespace vectable {

std::string_view RowBlock::word(size_t offset) const {
  return segment_->Word(first_slot_ + offset);
}

bool RowBlock::IsWhole(size_t offset) const { return segment_->IsWhole(first_slot_ + offset); }

double RowBlock::max_norm() const { return segment_->MaxNorm(); }

std::span<const float> RowBlock::VectorOf(const VectorCodec& codec, const char* codes,
                                          std::vector<float>& scratch) {
  const size_t dimensions = codec.dimensions();
  if (codec.precision() == Precision::kFp32) {
    return {reinterpret_cast<const float*>(codes), dimensions};
  }
  scratch.resize(dimensions);
  codec.Decode(codes, 1, scratch.data());
  return scratch;
}

}  // namespace vectable
