// Kernels over halves of codes, at every instruction set, against plain loops.
#include "index/kernels/half_codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/common/test_seed.h"
#include "tests/index/kernel_targets.h"

namespace vectable {
namespace {

enum class Codes { kRandom, kLargest, kOpposed };

// Rows of random floats behind their halves, the codes and norms that belong to them, and queries.
// Halves lie in memory of just their length, so that a sanitizer sees a step too far beyond.
class HalvedRows {
 public:
  HalvedRows(std::mt19937_64& random, size_t dimensions, size_t count, size_t query_count,
             Codes codes, size_t gap = 0)
      : dimensions_(dimensions),
        count_(count),
        coarse_stride_(HalfTail(dimensions) + CoarseRows::kFloats * sizeof(float) + gap),
        fine_stride_(HalfTail(dimensions) + FineRows::kFloats * sizeof(float)),
        coarse_(coarse_stride_ * count + kReadBeyond, '\x77'),
        fine_(fine_stride_ * count + kReadBeyond, '\x77') {
    std::uniform_real_distribution<float> uniform(0, 1);
    const auto draw = [&](int sign) {
      std::vector<int8_t> drawn(dimensions);
      for (int8_t& code : drawn) {
        const int value = codes == Codes::kRandom    ? static_cast<int>(random() % 255) - 127
                          : codes == Codes::kLargest ? 127
                                                     : sign * 127;
        code = static_cast<int8_t>(value);
      }
      return drawn;
    };
    for (size_t i = 0; i < count; ++i) {
      rows_.push_back(draw(-1));
      char* const coarse = coarse_.data() + i * coarse_stride_;
      char* const fine = fine_.data() + i * fine_stride_;
      SplitCodes(rows_[i].data(), dimensions, coarse, fine);
      const float floats[] = {uniform(random), uniform(random), uniform(random)};
      std::memcpy(coarse + HalfTail(dimensions), floats, 2 * sizeof(float));
      std::memcpy(fine + HalfTail(dimensions), floats + 2, sizeof(float));
      norms_.push_back(uniform(random) * 30);
    }
    const size_t run = HalfRun(dimensions);
    for (size_t q = 0; q < query_count; ++q) {
      queries_.push_back(draw(1));
      std::vector<int8_t> halved(2 * PaddedRun(dimensions), 0);
      for (size_t d = 0; d < dimensions; ++d) {
        halved[d < run ? d : d - run + PaddedRun(dimensions)] = queries_[q][d];
      }
      tile_.insert(tile_.end(), halved.begin(), halved.end());
      int32_t sum = 0;
      for (const int8_t code : queries_[q]) sum += code;
      sums_.push_back(sum);
    }
  }

  CoarseRows coarse() const { return {{coarse_.data(), coarse_stride_, dimensions_}}; }
  FineRows fine() const { return {{fine_.data(), fine_stride_, dimensions_}}; }
  const std::vector<int8_t>& codes(size_t i) const { return rows_[i]; }
  const std::vector<float>& norms() const { return norms_; }
  const int8_t* tile() const { return tile_.data(); }
  const int32_t* sums() const { return sums_.data(); }
  HalvedQuery query(size_t q) const { return {tile() + q * 2 * PaddedRun(dimensions_), sums_[q]}; }
  size_t count() const { return count_; }

  int64_t Dot(size_t q, size_t i) const {
    int64_t sum = 0;
    for (size_t d = 0; d < dimensions_; ++d) sum += queries_[q][d] * rows_[i][d];
    return sum;
  }
  // By what the upper halves stand for.
  double CoarseDot(size_t q, size_t i) const {
    double sum = 0;
    for (size_t d = 0; d < dimensions_; ++d) {
      const int upper = (rows_[i][d] + 128) / 16;
      sum += queries_[q][d] * (16.0 * upper - 128 + 7.5);
    }
    return sum;
  }

 private:
  const size_t dimensions_;
  const size_t count_;
  const size_t coarse_stride_;
  const size_t fine_stride_;
  std::vector<char> coarse_;
  std::vector<char> fine_;
  std::vector<float> norms_;
  std::vector<std::vector<int8_t>> rows_;
  std::vector<std::vector<int8_t>> queries_;
  std::vector<int8_t> tile_;
  std::vector<int32_t> sums_;
};

class HalfCodesTest : public KernelTest {
 protected:
  void CheckDots(size_t dimensions, Codes codes, size_t count, size_t query_count, size_t gap) {
    SCOPED_TRACE(testing::Message() << dimensions << " dimensions, " << count << " rows, "
                                    << query_count << " queries, gap " << gap);
    const HalvedRows rows(random_, dimensions, count, query_count, codes, gap);
    std::vector<int32_t> expected;
    for (size_t q = 0; q < query_count; ++q) {
      for (size_t i = 0; i < count; ++i) {
        expected.push_back(static_cast<int32_t>(rows.Dot(q, i)));
      }
    }
    std::vector<int32_t> found(query_count * count, -1);
    DotHalvesTile(rows.tile(), rows.sums(), query_count, rows.coarse(), rows.fine(), count,
                  found.data());
    ASSERT_EQ(found, expected);
    std::vector<uint32_t> slots(count);
    for (size_t i = 0; i < count; ++i) slots[i] = static_cast<uint32_t>(count - 1 - i);
    found.assign(count, -1);
    DotHalvesAt(rows.query(0), rows.coarse(), rows.fine(), slots.data(), count, found.data());
    std::reverse(found.begin(), found.end());
    ASSERT_EQ(found, std::vector<int32_t>(expected.begin(), expected.begin() + count));
    std::vector<int8_t> joined(dimensions);
    JoinCodes(rows.coarse().row(0), rows.fine().row(0), dimensions, joined.data());
    ASSERT_EQ(joined, rows.codes(0));
  }

  std::mt19937_64 random_{TestSeed()};
};

TEST_P(HalfCodesTest, ProductsEqualAPlainSumAtEveryWidth) {
  for (size_t dimensions = 1; dimensions <= 300; ++dimensions) {
    ASSERT_NO_FATAL_FAILURE(CheckDots(dimensions, Codes::kRandom, 5, 3, dimensions % 9));
  }
  for (const size_t dimensions : {511, 512, 513, 768, 1000, 4096}) {
    ASSERT_NO_FATAL_FAILURE(CheckDots(dimensions, Codes::kRandom, 9, 5, 3));
  }
}

TEST_P(HalfCodesTest, ExtremeCodesDoNotOverflow) {
  for (const size_t dimensions : {1, 63, 64, 65, 300, 65'536}) {
    ASSERT_NO_FATAL_FAILURE(CheckDots(dimensions, Codes::kLargest, 5, 4, 0));
    ASSERT_NO_FATAL_FAILURE(CheckDots(dimensions, Codes::kOpposed, 5, 4, 4));
  }
}

TEST_P(HalfCodesTest, AnyNumberOfRowsAndQueriesWillDo) {
  for (const size_t count : {1, 2, 3, 4, 15, 16, 17, 63, 64, 65, 130, 300}) {
    for (const size_t queries : {1, 2, 3, 4, 5, 7, 8}) {
      ASSERT_NO_FATAL_FAILURE(CheckDots(37, Codes::kRandom, count, queries, 7));
    }
  }
}

constexpr CodeBounds kBounds = {0.25F, 0.5F, 0.125F, 0.0625F, 0.75F};

// What a row may score at most, given its product.
double UpperBound(const HalvedRows& rows, size_t i, double dot, double error, RowNorms norms) {
  double upper = double{kBounds.factor} * rows.coarse().scale(i) * dot + kBounds.constant;
  upper += kBounds.e_weight * error;
  if (norms.norms == nullptr) return upper;
  const double norm = norms.norms[i];
  upper += kBounds.n_weight * norm;
  if (norms.euclidean) upper -= 0.5 * norm * norm * (1 - kBounds.square_weight);
  return upper;
}

void ExpectSelected(const std::vector<uint32_t>& places, const std::vector<double>& upper,
                    double threshold) {
  ASSERT_TRUE(std::is_sorted(places.begin(), places.end()));
  for (uint32_t i = 0; i < upper.size(); ++i) {
    if (std::abs(upper[i] - threshold) < 1e-2) continue;  // rounding decides
    ASSERT_EQ(std::binary_search(places.begin(), places.end(), i), upper[i] > threshold)
        << "row " << i << " of " << upper.size() << ", threshold " << threshold;
  }
}

TEST_P(HalfCodesTest, SelectsWhatMayReachTheThreshold) {
  for (const size_t count : {1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 70, 256, 257, 600}) {
    for (const size_t dimensions : {1, 12, 100}) {
      const HalvedRows rows(random_, dimensions, count, 1, Codes::kRandom, count % 5);
      std::vector<int32_t> dots(count);
      std::vector<float> scales(count);
      std::vector<float> errors(count);
      for (size_t i = 0; i < count; ++i) {
        dots[i] = static_cast<int32_t>(rows.Dot(0, i));
        scales[i] = rows.coarse().scale(i);
        errors[i] = rows.fine().error(i);
      }
      for (const int kind : {0, 1, 2}) {
        const RowNorms norms{kind > 0 ? rows.norms().data() : nullptr, kind == 2};
        std::vector<double> coarse;
        std::vector<double> whole;
        for (size_t i = 0; i < count; ++i) {
          const double rough = rows.CoarseDot(0, i);
          coarse.push_back(UpperBound(rows, i, rough, rows.coarse().error(i), norms));
          whole.push_back(UpperBound(rows, i, dots[i], errors[i], norms));
        }
        const float infinity = std::numeric_limits<float>::infinity();
        for (const float threshold : {-infinity, -1000.0F, -40.0F, 0.0F, 40.0F, 1000.0F, 1e9F}) {
          std::vector<uint32_t> places(count + 16);
          places.resize(SelectByCoarse(rows.query(0), kBounds, rows.coarse(), norms, count,
                                       threshold, places.data()));
          ASSERT_NO_FATAL_FAILURE(ExpectSelected(places, coarse, threshold));
          places.resize(count + 16);
          places.resize(SelectByDots(dots.data(), scales.data(), errors.data(), norms, kBounds,
                                     count, threshold, places.data()));
          ASSERT_NO_FATAL_FAILURE(ExpectSelected(places, whole, threshold));
        }
      }
    }
  }
}

TEST_P(HalfCodesTest, ScoresUnvisitedLinksAndMarksAll) {
  constexpr size_t kRows = 500;
  constexpr uint8_t kWalk = 7;
  for (const size_t dimensions : {3, 100, 301}) {
    const HalvedRows rows(random_, dimensions, kRows, 1, Codes::kRandom);
    for (const bool euclidean : {false, true}) {
      const CoarseQuery query{rows.query(0),
                              0.01F,
                              rows.coarse(),
                              {euclidean ? rows.norms().data() : nullptr, euclidean}};
      const auto score = [&](uint32_t slot) {
        const double norm = euclidean ? rows.norms()[slot] : 0;
        return 0.01 * rows.coarse().scale(slot) * rows.CoarseDot(0, slot) - norm * norm / 2;
      };
      for (size_t degree = 0; degree <= kMostLinks; degree += degree < 40 ? 1 : 11) {
        std::vector<uint32_t> links;
        std::vector<uint8_t> marks(kRows, kWalk - 1);
        std::vector<uint32_t> all(kRows);
        for (uint32_t i = 0; i < kRows; ++i) all[i] = i;
        std::shuffle(all.begin(), all.end(), random_);
        links.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(degree));
        for (const uint32_t slot : links) {
          if (random_() % 2 == 0) marks[slot] = kWalk;
        }
        if (degree > 0 && degree % 3 == 0) links[degree - degree / 3] = ~uint32_t{0};
        const float above = static_cast<float>(score(all[kRows - 1]));
        std::vector<uint32_t> expected;
        std::vector<uint8_t> marked = marks;
        for (const uint32_t slot : links) {
          if (slot == ~uint32_t{0}) break;
          if (marked[slot] != kWalk && score(slot) > above) expected.push_back(slot);
          marked[slot] = kWalk;
        }
        std::vector<uint32_t> slots(kMostLinks + 16);
        std::vector<float> scores(kMostLinks + 16);
        const size_t count = ScoreUnvisited(query, links.data(), degree, marks.data(), kWalk, above,
                                            slots.data(), scores.data());
        slots.resize(count);
        ASSERT_EQ(slots, expected) << degree << " links, " << dimensions << " dimensions";
        ASSERT_EQ(marks, marked);
        std::vector<float> again(count);
        ScoreCoarseAt(query, slots.data(), count, again.data());
        for (size_t i = 0; i < count; ++i) {
          ASSERT_EQ(scores[i], again[i]);
          ASSERT_NEAR(scores[i], score(slots[i]), 1e-3 * (1 + std::abs(score(slots[i]))));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, HalfCodesTest, testing::ValuesIn(KernelTargets()),
                         KernelTargetName);

}  // namespace
}  // namespace vectable
