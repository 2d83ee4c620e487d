#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "common/metric.h"
#include "common/vector_codec.h"
#include "index/kernels/half_codes.h"

namespace vectable {

class Segment;

inline constexpr uint32_t kNoSlot = std::numeric_limits<uint32_t>::max();
// A version that sees every mark of a dead row.
inline constexpr uint64_t kLatestVersion = std::numeric_limits<uint64_t>::max() - 1;

// A row inside an index; valid while its snapshot is held.
struct IndexedRow {
  uint64_t row_id = 0;
  std::string_view word;
  const char* codes = nullptr;  // of the index's codec
  double squared_norm = 0;
};

// The version from which a row is gone; 0 while it is there, so that fresh memory means that.
using DeathMark = std::atomic<uint64_t>;

// Where the columns of rows lie side by side.
struct RowColumns {
  const char* codes = nullptr;  // at the table's precision, codec.row_bytes() apart
  CoarseRows coarse;            // what searches look through
  FineRows fine;
  const float* norms = nullptr;  // rounded up; null under cosine
  const double* squared_norms = nullptr;
  const uint64_t* row_ids = nullptr;
  const DeathMark* dead_at = nullptr;

  float norm(size_t i) const { return norms == nullptr ? 1 : norms[i]; }

  // Row i's score by its whole codes, whose product with the query's is `dot`.
  struct CodedScore {
    float score = 0;
    float bound = 0;  // how far the true score may be from it
  };
  CodedScore ScoreOf(const CodeBounds& bounds, bool euclidean, size_t i, int32_t dot) const {
    const float half_square = euclidean ? 0.5F * norm(i) * norm(i) : 0.0F;
    CodedScore coded;
    coded.score = bounds.factor * coarse.scale(i) * static_cast<float>(dot) - half_square;
    coded.bound = bounds.e_weight * fine.error(i) + bounds.constant;
    coded.bound += bounds.square_weight * half_square;
    if (norms != nullptr) coded.bound += bounds.n_weight * norm(i);
    return coded;
  }
};

// Rows of a segment that lie side by side, dead ones among them. Holds no memory.
class RowBlock {
 public:
  RowBlock(const Segment& segment, const VectorCodec& codec, size_t first_slot, size_t rows,
           const RowColumns& columns)
      : segment_(&segment),
        codec_(&codec),
        first_slot_(first_slot),
        rows_(rows),
        columns_(columns) {}

  size_t rows() const { return rows_; }
  const RowColumns& columns() const { return columns_; }

  bool IsLive(size_t offset, uint64_t version) const {
    const uint64_t dead_at = columns_.dead_at[offset].load(std::memory_order_acquire);
    return dead_at == 0 || dead_at > version;
  }
  uint64_t row_id(size_t offset) const { return columns_.row_ids[offset]; }
  std::string_view word(size_t offset) const;
  bool IsWhole(size_t offset) const;  // see Segment
  const char* codes(size_t offset) const { return columns_.codes + offset * codec_->row_bytes(); }
  double squared_norm(size_t offset) const { return columns_.squared_norms[offset]; }
  IndexedRow row(size_t offset) const {
    return {row_id(offset), word(offset), codes(offset), squared_norm(offset)};
  }
  // The row's vector, where it lies (fp32) or in `scratch`, which is then overwritten.
  std::span<const float> Vector(size_t offset, std::vector<float>& scratch) const {
    return VectorOf(*codec_, codes(offset), scratch);
  }
  static std::span<const float> VectorOf(const VectorCodec& codec, const char* codes,
                                         std::vector<float>& scratch);

  // At least the norm of every row, dead ones too; not under cosine.
  double max_norm() const;

 private:
  const Segment* segment_;
  const VectorCodec* codec_;
  size_t first_slot_;
  size_t rows_;
  RowColumns columns_;
};

}  // namespace vectable
