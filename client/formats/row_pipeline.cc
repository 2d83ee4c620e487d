#include "client/formats/row_pipeline.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"

namespace vectable {
namespace {

constexpr size_t kMostThreads = 16;
constexpr absl::Duration kLookEvery = absl::Milliseconds(100);

size_t ThreadCount(size_t asked) {
  if (asked == 0) asked = std::thread::hardware_concurrency();
  return std::clamp<size_t>(asked, 1, kMostThreads);
}

}  // namespace

void LineBlock::Clear() {
  text.clear();
  lines.clear();
}

void LineBlock::Add(std::string_view line, uint64_t number) {
  lines.push_back({text.size(), line.size(), number, absl::OkStatus()});
  text += line;
}

void RowBlock::Clear() {
  rows.clear();
  words.clear();
  values.clear();
}

RowPipeline::RowPipeline(Work work, size_t threads) : work_(std::move(work)) {
  const size_t count = ThreadCount(threads);
  most_ahead_ = 2 * count + 1;
  threads_.reserve(count);
  for (size_t i = 0; i < count; ++i) threads_.emplace_back([this] { Run(); });
}

RowPipeline::~RowPipeline() {
  {
    absl::MutexLock lock(&mu_);
    over_ = true;
  }
  work_.cancel();
  for (std::thread& thread : threads_) thread.join();
}

std::optional<uint64_t> RowPipeline::ReadInTurn(LineBlock& block) {
  absl::MutexLock reading(&read_mu_);
  {
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(this, &RowPipeline::MayRead));
    if (over_) return std::nullopt;
  }
  block.Clear();
  const absl::StatusOr<bool> more = work_.read(block);
  absl::MutexLock lock(&mu_);
  if (!more.ok() || !*more) {
    over_ = true;
    end_ = more.status();
    return std::nullopt;
  }
  return next_turn_++;
}

void RowPipeline::Run() {
  LineBlock block;
  while (const std::optional<uint64_t> turn = ReadInTurn(block)) {
    RowBlock rows;
    {
      absl::MutexLock lock(&mu_);
      if (!spare_.empty()) {
        rows = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    rows.Clear();
    work_.parse(block, rows);
    absl::MutexLock lock(&mu_);
    done_.emplace(*turn, std::move(rows));
  }
}

absl::StatusOr<bool> RowPipeline::Next(RowBlock& rows) {
  absl::MutexLock lock(&mu_);
  while (!mu_.AwaitWithTimeout(absl::Condition(this, &RowPipeline::HasNext), kLookEvery)) {
    if (work_.interrupted && work_.interrupted()) return absl::CancelledError("interrupted");
  }
  const auto found = done_.find(delivered_);
  if (found == done_.end()) {
    if (!end_.ok()) return end_;
    return false;
  }
  std::swap(rows, found->second);
  spare_.push_back(std::move(found->second));
  done_.erase(found);
  ++delivered_;
  return true;
}

}  // namespace vectable
