#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace vectable {

// Some lines of a text.
struct LineBlock {
  struct Line {
    size_t begin = 0;  // in `text`
    size_t size = 0;
    uint64_t number = 0;  // from 1
    absl::Status status;  // why the line couldn't be read
  };
  std::string text;
  std::vector<Line> lines;

  void Clear();
  void Add(std::string_view line, uint64_t number);
  std::string_view TextOf(const Line& line) const {
    return std::string_view(text).substr(line.begin, line.size);
  }
};

// The rows of some lines, one for each.
struct RowBlock {
  struct Row {
    size_t word_begin = 0;  // in `words`
    size_t word_size = 0;
    uint64_t place = 0;
    absl::Status status;  // why the line is no row; INVALID_ARGUMENT
  };
  std::vector<Row> rows;
  std::string words;
  std::vector<float> values;  // rows x dimensions, also of bad rows

  void Clear();
};

// Makes rows of lines on several threads, and gives them in the order of the lines. Memory is
// bounded by the size of the blocks. One thread takes; the others are its own.
class RowPipeline {
 public:
  struct Work {
    // Fills the next block, empty before; false at the end, an error where the text can't be read
    // on. Called on one thread at a time, in the order of the text.
    std::function<absl::StatusOr<bool>(LineBlock&)> read;
    // Fills the rows of a block, empty before. Called on several threads.
    std::function<void(const LineBlock&, RowBlock&)> parse;
    // Ends a `read` that waits; from the destructor, on another thread.
    std::function<void()> cancel;
    // Asked while Next waits; may be empty.
    std::function<bool()> interrupted;
  };

  // `threads` 0: one per processor.
  RowPipeline(Work work, size_t threads);
  ~RowPipeline();
  RowPipeline(const RowPipeline&) = delete;
  RowPipeline& operator=(const RowPipeline&) = delete;

  // The next block's rows. False at the end; the error of `read` in its place; CANCELLED when
  // interrupted.
  absl::StatusOr<bool> Next(RowBlock& rows) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // A block's turn, or nothing when there is nothing left to read.
  std::optional<uint64_t> ReadInTurn(LineBlock& block) ABSL_LOCKS_EXCLUDED(read_mu_, mu_);
  void Run() ABSL_LOCKS_EXCLUDED(read_mu_, mu_);
  bool MayRead() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return over_ || next_turn_ < delivered_ + most_ahead_;
  }
  bool HasNext() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return done_.contains(delivered_) || (over_ && delivered_ == next_turn_);
  }

  const Work work_;
  uint64_t most_ahead_ = 0;  // blocks read and not yet given out

  absl::Mutex read_mu_ ABSL_ACQUIRED_BEFORE(mu_);  // held while a block is read
  absl::Mutex mu_;
  uint64_t next_turn_ ABSL_GUARDED_BY(mu_) = 0;  // of the next block to be read
  uint64_t delivered_ ABSL_GUARDED_BY(mu_) = 0;  // blocks given out
  bool over_ ABSL_GUARDED_BY(mu_) = false;       // nothing more is read
  absl::Status end_ ABSL_GUARDED_BY(mu_);        // why
  std::map<uint64_t, RowBlock> done_ ABSL_GUARDED_BY(mu_);
  std::vector<RowBlock> spare_ ABSL_GUARDED_BY(mu_);

  std::vector<std::thread> threads_;
};

}  // namespace vectable
