#include "client/cli/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "sizing/footprint.h"

namespace vectable {
namespace {

constexpr absl::Duration kRedraw = absl::Milliseconds(200);
constexpr absl::Duration kPlainLine = absl::Seconds(10);
constexpr double kLeastSeconds = 1e-3;

std::string TimeText(double seconds) {
  const auto whole = static_cast<uint64_t>(seconds + 0.5);
  if (whole < 100) return fmt::format("{} s", whole);
  if (whole < 6000) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

std::string ProgressText(const ProgressState& state) {
  const double seconds = std::max(absl::ToDoubleSeconds(state.elapsed), kLeastSeconds);
  const double rate = static_cast<double>(state.rows) / seconds;
  std::string text = fmt::format("{} rows, {} rows/s", WithThousands(state.rows),
                                 WithThousands(static_cast<uint64_t>(rate)));
  if (state.bytes > 0) text += fmt::format(", {:.1f} MB", static_cast<double>(state.bytes) / 1e6);
  if (!state.total_bytes || *state.total_bytes == 0 || state.bytes == 0) return text;
  text += fmt::format(" of {:.1f} MB", static_cast<double>(*state.total_bytes) / 1e6);
  return text + ", " + StepsText(state.bytes, *state.total_bytes, state.elapsed);
}

std::string StepsText(uint64_t done, uint64_t steps, absl::Duration elapsed) {
  if (steps == 0 || done == 0) return "0 %";
  const double seconds = std::max(absl::ToDoubleSeconds(elapsed), kLeastSeconds);
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(steps));
  return fmt::format("{:.0f} %, {} left", share * 100, TimeText(seconds / share - seconds));
}

Progress::Progress(std::ostream& err, bool terminal, std::optional<uint64_t> total_bytes)
    : err_(err),
      terminal_(terminal),
      total_bytes_(total_bytes),
      next_(start_ + (terminal ? kRedraw : kPlainLine)) {}

Progress::~Progress() { Clear(); }

void Progress::Clear() {
  if (!drawn_) return;
  err_ << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

bool Progress::DueNow() {
  const absl::Time now = absl::Now();
  if (now < next_) return false;
  next_ = now + (terminal_ ? kRedraw : kPlainLine);
  return true;
}

void Progress::Draw(const std::string& text) {
  if (terminal_) {
    err_ << "\r" << text << "\x1b[K" << std::flush;
    drawn_ = true;
  } else {
    err_ << text << "\n" << std::flush;
  }
}

void Progress::Update(uint64_t rows, uint64_t bytes) {
  if (DueNow()) Draw(ProgressText({rows, bytes, total_bytes_, elapsed()}));
}

void Progress::UpdateSteps(uint64_t done, uint64_t steps) {
  if (DueNow()) Draw(StepsText(done, steps, elapsed()));
}

}  // namespace vectable
