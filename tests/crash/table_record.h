#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace vectable {

inline constexpr size_t kCrashDimensions = 8;

using CrashVector = std::array<float, kCrashDimensions>;

// A vector that half a float holds exactly; those of two seeds differ in direction.
CrashVector VectorOfSeed(uint64_t seed);

// A change of a table, atomic.
struct Change {
  std::vector<std::pair<std::string, CrashVector>> puts;  // each word once
  std::vector<std::string> deletes;
};

// A row as the server must have it.
struct RecordedRow {
  uint64_t row_id = 0;
  CrashVector vector = {};
  bool operator==(const RecordedRow&) const = default;
};

// All rows of a table, and the id that comes next.
struct TableContent {
  std::map<std::string, RecordedRow> rows;
  uint64_t next_row_id = 0;

  void Apply(const Change& change);
  bool operator==(const TableContent&) const = default;
};

// What was asked of a table and what of that was acknowledged: after a crash the table must hold
// the content of all acknowledged changes, and of none, some or all of those after them, in order.
class TableRecord {
 public:
  // To be called before the change is sent.
  void Begin(Change change) { pending_.push_back(std::move(change)); }
  // The oldest changes that were begun are durable.
  void Acknowledge(size_t changes = 1);

  // Whether `found` may be what a crash left; if so the record goes on from there.
  bool Accept(const TableContent& found);

  const TableContent& acknowledged() const { return content_; }
  size_t pending() const { return pending_.size(); }

 private:
  TableContent content_;
  std::deque<Change> pending_;
};

}  // namespace vectable
