#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "common/metric.h"
#include "tests/index/index_model.h"

namespace vectable {

// Kinds of rows that are hard in different ways.
enum class Data {
  kRandom,
  kAllEqual,      // ties, to be settled by row id
  kNearTies,      // rows that differ in the last place of a value
  kHugeValue,     // one component dwarfs the others
  kMixedNorms,    // 1e-30 to 1e30
  kSmallNorms,    // 1e-30 to 1e18, whose squares float can hold
  kOverflowing,   // sums that float can't hold
  kFewDirections  // many exact ties under cosine at different norms
};

inline std::string DataName(Data data) {
  switch (data) {
    case Data::kRandom:
      return "Random";
    case Data::kAllEqual:
      return "AllEqual";
    case Data::kNearTies:
      return "NearTies";
    case Data::kHugeValue:
      return "HugeValue";
    case Data::kMixedNorms:
      return "MixedNorms";
    case Data::kSmallNorms:
      return "SmallNorms";
    case Data::kOverflowing:
      return "Overflowing";
    case Data::kFewDirections:
      return "FewDirections";
  }
  return "";
}

// Makes rows and queries of one kind.
class TestData {
 public:
  TestData(Data data, size_t dimensions, uint64_t seed)
      : data_(data), dimensions_(dimensions), random_(seed), base_(Gauss()) {}

  Vector Next() {
    switch (data_) {
      case Data::kRandom:
        return Gauss();
      case Data::kAllEqual:
        return base_;
      case Data::kNearTies: {
        Vector vector = base_;
        float& value = vector[random_() % dimensions_];
        value = std::nextafter(value, random_() % 2 == 0 ? -9.0F : 9.0F);
        return vector;
      }
      case Data::kHugeValue: {
        Vector vector = Gauss();
        vector[0] = 1e6F + static_cast<float>(random_() % 3);
        return vector;
      }
      case Data::kMixedNorms:
        return Scaled(Gauss(), std::pow(10.0, Uniform(-30, 30)));
      case Data::kSmallNorms:
        return Scaled(Gauss(), std::pow(10.0, Uniform(-30, 17)));
      case Data::kOverflowing:
        return Scaled(Gauss(), std::pow(10.0, Uniform(15, 37.9)) / std::sqrt(dimensions_));
      case Data::kFewDirections: {
        Vector vector(dimensions_, 0.0F);
        vector[random_() % std::min<size_t>(dimensions_, 4)] = 1.0F;
        return Scaled(vector, std::exp2(static_cast<double>(random_() % 9) - 4));
      }
    }
    return {};
  }

  std::mt19937_64& random() { return random_; }

 private:
  double Uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  Vector Gauss() {
    std::normal_distribution<float> normal;
    Vector vector(dimensions_);
    for (float& value : vector) value = normal(random_);
    if (vector[0] == 0) vector[0] = 1;
    return vector;
  }
  static Vector Scaled(Vector vector, double factor) {
    constexpr double kMax = std::numeric_limits<float>::max();
    for (float& value : vector) {
      value = static_cast<float>(std::clamp(value * factor, -kMax, kMax));
    }
    return vector;
  }

  const Data data_;
  const size_t dimensions_;
  std::mt19937_64 random_;
  const Vector base_;
};

// An index and the model of it, grown together.
class ModelledIndex {
 public:
  ModelledIndex(Metric metric, VectorCodec codec, const BatchBackend& backend)
      : metric_(metric), codec_(codec), index_(metric, codec, backend) {}
  ModelledIndex(Metric metric, size_t dimensions, const BatchBackend& backend)
      : ModelledIndex(metric, VectorCodec(Precision::kFp32, dimensions), backend) {}

  void Put(uint64_t row_id, const std::string& word, const Vector& vector) {
    const std::string codes = Storable(vector);
    index_.Put(row_id, word, codes);
    const Vector stored = VectorOf(codec_, codes.data());
    model_[row_id] = {word, stored, SquaredNormInDouble(stored)};
  }
  void Erase(uint64_t row_id) {
    index_.Erase(row_id);
    model_.erase(row_id);
  }
  std::shared_ptr<const IndexSnapshot> Publish() {
    index_.Publish(++sequence_);
    return index_.snapshot();
  }
  TableIndex& index() { return index_; }
  const IndexModel& model() const { return model_; }
  Metric metric() const { return metric_; }
  const VectorCodec& codec() const { return codec_; }

  // Adds rows with consecutive ids.
  void Fill(TestData& data, size_t rows) {
    for (size_t i = 0; i < rows; ++i) {
      const uint64_t row_id = next_row_id_++;
      Put(row_id, absl::StrCat("w", row_id), data.Next());
    }
  }
  // Erases `count` rows chosen at random.
  void EraseSome(std::mt19937_64& random, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const auto at = model_.lower_bound(random() % next_row_id_);
      if (at != model_.end()) Erase(at->first);
    }
  }

 private:
  // The vector's codes; those of a vector of ones where they would be all zero or out of range.
  std::string Storable(const Vector& vector) const {
    std::string codes;
    if (codec_.precision() == Precision::kFp32) return CodesOf(codec_, vector);
    if (codec_.Encode(vector, codes).ok() &&
        SquaredNormInDouble(VectorOf(codec_, codes.data())) > 0) {
      return codes;
    }
    return CodesOf(codec_, Vector(vector.size(), 1.0F));
  }

  const Metric metric_;
  const VectorCodec codec_;
  TableIndex index_;
  IndexModel model_;
  uint64_t next_row_id_ = 0;
  uint64_t sequence_ = 0;
};

}  // namespace vectable
