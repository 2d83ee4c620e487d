#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "index/growing_segment.h"
#include "index/segment_builder.h"
#include "tests/index/index_model.h"
#include "tests/index/test_data.h"

namespace vectable {

// Growing segments, dead rows among theirs, and what lives in them as of version().
class SegmentRows {
 public:
  struct Row {
    std::string word;
    std::string codes;
  };

  SegmentRows(Metric metric, VectorCodec codec, uint64_t seed)
      : metric_(metric), codec_(codec), data_(Data::kRandom, codec.dimensions(), seed) {}

  // Segments of `rows` slots each; a tenth of the rows is replaced by later ones, a tenth erased,
  // and a tenth erased only after version().
  void Fill(size_t segments, size_t rows) {
    for (size_t i = 0; i < segments; ++i) {
      segments_.push_back(std::make_shared<GrowingSegment>(metric_, codec_));
      while (segments_.back()->slots() < rows) Change();
    }
    for (uint64_t row_id = 5; row_id < next_row_id_; row_id += 10) {
      if (live_.contains(row_id)) MarkDead(row_id, version() + 1);
    }
  }

  Metric metric() const { return metric_; }
  const VectorCodec& codec() const { return codec_; }
  uint64_t version() const { return 7; }
  const std::map<uint64_t, Row>& live() const { return live_; }
  const std::vector<uint64_t>& erased() const { return erased_; }
  Vector NextVector() { return data_.Next(); }
  std::mt19937_64& random() { return data_.random(); }

  absl::StatusOr<std::shared_ptr<SealedSegment>> Build(const SegmentBuildOptions& options) const {
    std::vector<SegmentSource> sources;
    for (const auto& segment : segments_) sources.push_back({segment, segment->slots()});
    return BuildSegment(metric_, codec_, sources, version(), options);
  }

  // The slot of a growing segment that holds the row in version().
  std::pair<const GrowingSegment*, uint32_t> Find(uint64_t row_id) const {
    for (const auto& segment : segments_) {
      const uint32_t slot = segment->FindRowId(row_id, segment->slots(), version());
      if (slot != kNoSlot) return {segment.get(), slot};
    }
    return {nullptr, kNoSlot};
  }

 private:
  void Change() {
    const uint64_t row_id = next_row_id_++;
    Append(row_id, WordOf(row_id));
    const uint64_t other = random()() % next_row_id_;
    if (!live_.contains(other)) return;
    if (row_id % 10 == 1) {
      MarkDead(other, 1 + random()() % version());
      erased_.push_back(other);
      live_.erase(other);
    } else if (row_id % 10 == 2) {
      MarkDead(other, 1 + random()() % version());
      Append(other, live_[other].word);
    }
  }
  void Append(uint64_t row_id, const std::string& word) {
    const std::string codes = CodesOf(codec_, data_.Next());
    segments_.back()->Append(row_id, word, codes);
    live_[row_id] = {word, codes};
  }
  void MarkDead(uint64_t row_id, uint64_t version) {
    for (const auto& segment : segments_) {
      const uint32_t slot = segment->FindLiveRowId(row_id);
      if (slot != kNoSlot) return segment->MarkDead(slot, version);
    }
    FAIL() << "no row " << row_id;
  }
  static std::string WordOf(uint64_t row_id) {
    if (row_id == 3) return {"nul\0nul", 7};
    return absl::StrCat("w", row_id, std::string(row_id % 40, 'x'));
  }

  const Metric metric_;
  const VectorCodec codec_;
  TestData data_;
  std::vector<std::shared_ptr<GrowingSegment>> segments_;
  uint64_t next_row_id_ = 0;
  std::map<uint64_t, Row> live_;
  std::vector<uint64_t> erased_;
};

}  // namespace vectable
