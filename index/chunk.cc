#include "index/chunk.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "common/vector_math.h"

namespace vectable {

Chunk::Chunk(Metric metric, size_t dimensions, size_t capacity, bool huge_pages)
    : metric_(metric),
      dimensions_(dimensions),
      vectors_(AllocateLarge<float>(capacity * dimensions, huge_pages)),
      unit_vectors_(metric == Metric::kCosine
                        ? AllocateLarge<float>(capacity * dimensions, huge_pages)
                        : nullptr),
      squared_norms_(AllocateLarge<double>(capacity, false)),
      row_ids_(AllocateLarge<uint64_t>(capacity, false)),
      words_(AllocateLarge<std::string_view>(capacity, false)),
      dead_at_(AllocateLarge<std::atomic<uint64_t>>(capacity, false)),
      previous_of_word_(AllocateLarge<uint32_t>(capacity, false)),
      previous_of_row_id_(AllocateLarge<uint32_t>(capacity, false)) {}

void Chunk::Append(size_t offset, uint64_t row_id, std::string_view word,
                   std::span<const float> vector) {
  const double squared_norm = SquaredNormInDouble(vector);
  std::copy(vector.begin(), vector.end(), vectors_.get() + offset * dimensions_);
  squared_norms_[offset] = squared_norm;
  row_ids_[offset] = row_id;
  new (&words_[offset]) std::string_view(word);
  new (&dead_at_[offset]) std::atomic<uint64_t>(kNeverDead);
  if (metric_ == Metric::kCosine) WriteUnitVector(offset, vector, squared_norm);
  const double search_norm = metric_ == Metric::kCosine ? 1.0 : std::sqrt(squared_norm);
  max_search_norm_.store(std::max(max_search_norm(), search_norm), std::memory_order_relaxed);
  min_row_id_.store(std::min(min_row_id(), row_id), std::memory_order_relaxed);
  max_row_id_.store(std::max(max_row_id(), row_id), std::memory_order_relaxed);
}

void Chunk::WriteUnitVector(size_t offset, std::span<const float> vector, double squared_norm) {
  const double norm = std::sqrt(squared_norm);
  float* unit = unit_vectors_.get() + offset * dimensions_;
  for (size_t i = 0; i < dimensions_; ++i) unit[i] = static_cast<float>(vector[i] / norm);
}

void Chunk::MarkDead(size_t offset, uint64_t version) {
  dead_rows_.fetch_add(1, std::memory_order_release);
  dead_at_[offset].store(version, std::memory_order_release);
}

}  // namespace vectable
