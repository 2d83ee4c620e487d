#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace vectable {

// What is known of a long work at one moment.
struct ProgressState {
  uint64_t rows = 0;
  uint64_t bytes = 0;                   // of the file
  std::optional<uint64_t> total_bytes;  // unknown for a pipe
  absl::Duration elapsed;
};

// "12,345 rows, 45,000 rows/s, 111.0 MB of 300.0 MB, 37 %, 12 s left"; what rests on the size only
// where that is known.
std::string ProgressText(const ProgressState& state);

// "37 %, 12 s left".
std::string StepsText(uint64_t done, uint64_t steps, absl::Duration elapsed);

// Shows the progress of a long work: one line that is redrawn on a terminal, a line now and then
// elsewhere. Not thread-safe.
class Progress {
 public:
  // `err` must outlive the object.
  Progress(std::ostream& err, bool terminal, std::optional<uint64_t> total_bytes);
  // Clears the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Whether it is worth a look at the clock; cheap enough to ask for every row.
  bool Due() { return ++calls_ % 512 == 0; }
  // Shows the progress, unless it was shown a moment ago.
  void Update(uint64_t rows, uint64_t bytes);
  // The same for work that is counted in steps.
  void UpdateSteps(uint64_t done, uint64_t steps);
  // Makes room for another line on the same terminal; the next Update draws anew.
  void Clear();
  absl::Duration elapsed() const { return absl::Now() - start_; }

 private:
  // Whether it is time for a line; the next one is a while later.
  bool DueNow();
  void Draw(const std::string& text);

  std::ostream& err_;
  const bool terminal_;
  const std::optional<uint64_t> total_bytes_;
  const absl::Time start_ = absl::Now();
  absl::Time next_;
  uint64_t calls_ = 0;
  bool drawn_ = false;
};

}  // namespace vectable
