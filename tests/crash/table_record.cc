#include "tests/crash/table_record.h"

#include <utility>

namespace vectable {

CrashVector VectorOfSeed(uint64_t seed) {
  CrashVector vector;
  uint64_t state = seed;
  for (float& value : vector) {  // splitmix64
    state += 0x9E3779B97F4A7C15;
    uint64_t mixed = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    mixed ^= mixed >> 31;
    value = static_cast<float>(mixed % 512) / 256 - 1;
  }
  vector.front() += 2;  // never all zero
  return vector;
}

void TableContent::Apply(const Change& change) {
  for (const auto& [word, vector] : change.puts) {
    const auto [place, is_new] = rows.try_emplace(word);
    if (is_new) place->second.row_id = next_row_id++;
    place->second.vector = vector;
  }
  for (const std::string& word : change.deletes) rows.erase(word);
}

void TableRecord::Acknowledge(size_t changes) {
  for (; changes > 0 && !pending_.empty(); --changes) {
    content_.Apply(pending_.front());
    pending_.pop_front();
  }
}

bool TableRecord::Accept(const TableContent& found) {
  TableContent expected = content_;
  bool accepted = expected == found;
  for (const Change& change : pending_) {
    if (accepted) break;
    expected.Apply(change);
    accepted = expected == found;
  }
  pending_.clear();
  if (accepted) content_ = std::move(expected);
  return accepted;
}

}  // namespace vectable
