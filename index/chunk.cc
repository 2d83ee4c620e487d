#include "index/chunk.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "common/vector_math.h"

namespace vectable {

Chunk::Chunk(Metric metric, VectorCodec codec, size_t capacity, bool huge_pages)
    : metric_(metric),
      codec_(codec),
      codes_(AllocateLarge<char>(capacity * codec.row_bytes(), huge_pages)),
      unit_vectors_(metric == Metric::kCosine && stores_floats()
                        ? AllocateLarge<float>(capacity * codec.dimensions(), huge_pages)
                        : nullptr),
      unit_factors_(metric == Metric::kCosine && !stores_floats()
                        ? AllocateLarge<float>(capacity, false)
                        : nullptr),
      squared_norms_(AllocateLarge<double>(capacity, false)),
      row_ids_(AllocateLarge<uint64_t>(capacity, false)),
      words_(AllocateLarge<std::string_view>(capacity, false)),
      dead_at_(AllocateLarge<std::atomic<uint64_t>>(capacity, false)),
      previous_of_word_(AllocateLarge<uint32_t>(capacity, false)),
      previous_of_row_id_(AllocateLarge<uint32_t>(capacity, false)) {}

std::span<const float> Chunk::Vector(size_t offset, std::vector<float>& scratch) const {
  const size_t dimensions = codec_.dimensions();
  if (stores_floats()) return {floats() + offset * dimensions, dimensions};
  scratch.resize(dimensions);
  codec_.Decode(codes(offset), 1, scratch.data());
  return scratch;
}

const float* Chunk::SearchVectors(size_t rows, std::vector<float>& scratch) const {
  if (stores_floats()) return metric_ == Metric::kCosine ? unit_vectors_.get() : floats();
  scratch.resize(rows * codec_.dimensions());
  if (metric_ == Metric::kCosine) {
    codec_.DecodeUnit(codes(0), rows, unit_factors_.get(), scratch.data());
  } else {
    codec_.Decode(codes(0), rows, scratch.data());
  }
  return scratch.data();
}

void Chunk::AddMemory(size_t rows, IndexMemory& memory) const {
  memory.codes += TouchedBytes(rows * codec_.row_bytes());
  if (unit_vectors_ != nullptr) {
    memory.search_codes += TouchedBytes(rows * codec_.dimensions() * sizeof(float));
  }
  if (unit_factors_ != nullptr) memory.search_codes += TouchedBytes(rows * sizeof(float));
  memory.words += TouchedBytes(rows * sizeof(std::string_view));
  memory.id_maps +=
      TouchedBytes(rows * sizeof(uint64_t)) + 2 * TouchedBytes(rows * sizeof(uint32_t));
  memory.row_state +=
      TouchedBytes(rows * sizeof(double)) + TouchedBytes(rows * sizeof(std::atomic<uint64_t>));
}

void Chunk::Append(size_t offset, uint64_t row_id, std::string_view word, std::string_view codes) {
  std::copy(codes.begin(), codes.end(), codes_.get() + offset * codec_.row_bytes());
  const std::span<const float> vector = Vector(offset, scratch_);
  const double squared_norm = SquaredNormInDouble(vector);
  squared_norms_[offset] = squared_norm;
  row_ids_[offset] = row_id;
  new (&words_[offset]) std::string_view(word);
  new (&dead_at_[offset]) std::atomic<uint64_t>(kNeverDead);
  if (unit_vectors_ != nullptr) WriteUnitVector(offset, vector, squared_norm);
  if (unit_factors_ != nullptr) {
    unit_factors_[offset] = codec_.UnitFactor(this->codes(offset), squared_norm);
  }
  const double search_norm = metric_ == Metric::kCosine ? 1.0 : std::sqrt(squared_norm);
  max_search_norm_.store(std::max(max_search_norm(), search_norm), std::memory_order_relaxed);
  min_row_id_.store(std::min(min_row_id(), row_id), std::memory_order_relaxed);
  max_row_id_.store(std::max(max_row_id(), row_id), std::memory_order_relaxed);
}

void Chunk::WriteUnitVector(size_t offset, std::span<const float> vector, double squared_norm) {
  const double norm = std::sqrt(squared_norm);
  float* unit = unit_vectors_.get() + offset * vector.size();
  for (size_t i = 0; i < vector.size(); ++i) unit[i] = static_cast<float>(vector[i] / norm);
}

void Chunk::MarkDead(size_t offset, uint64_t version) {
  dead_rows_.fetch_add(1, std::memory_order_release);
  dead_at_[offset].store(version, std::memory_order_release);
}

}  // namespace vectable
