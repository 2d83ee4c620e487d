#include "engine/live_index.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace vectable {
namespace {

constexpr absl::Duration kCancelPoll = absl::Milliseconds(20);

}  // namespace

std::unique_ptr<TableIndex> LiveIndex::MakeEmpty() const {
  return std::make_unique<TableIndex>(metric_, codec_, backend_);
}

std::shared_ptr<const IndexSnapshot> LiveIndex::snapshot() const {
  absl::MutexLock lock(&mu_);
  return snapshot_;
}

absl::StatusOr<std::shared_ptr<const IndexSnapshot>> LiveIndex::WaitForSnapshot(
    absl::Time deadline, const std::function<bool()>& cancelled,
    const std::function<uint64_t()>& rows) const {
  uint64_t progress = 0;
  {
    absl::MutexLock lock(&mu_);
    const auto settled = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) {
      return snapshot_ != nullptr || !failure_.ok();
    };
    while (!mu_.AwaitWithDeadline(absl::Condition(&settled),
                                  std::min(deadline, absl::Now() + kCancelPoll))) {
      if (cancelled && cancelled()) return absl::CancelledError("the search was cancelled");
      if (absl::Now() >= deadline) break;
    }
    if (snapshot_ != nullptr) return snapshot_;
    if (!failure_.ok()) return failure_;
    progress = progress_;
  }
  return absl::UnavailableError(
      absl::StrCat("still loading: ", progress, " of ", rows(), " rows are indexed"));
}

absl::Status LiveIndex::failure() const {
  absl::MutexLock lock(&mu_);
  return failure_;
}

uint64_t LiveIndex::indexed_rows() const {
  absl::MutexLock lock(&mu_);
  return snapshot_ != nullptr ? snapshot_->live_rows() : progress_;
}

void LiveIndex::SetProgress(uint64_t rows) {
  absl::MutexLock lock(&mu_);
  progress_ = rows;
}

void LiveIndex::Fail(const absl::Status& status) {
  absl::MutexLock lock(&mu_);
  failure_ = status;
}

void LiveIndex::Install(std::unique_ptr<TableIndex> index) {
  index_ = std::move(index);
  absl::MutexLock lock(&mu_);
  snapshot_ = index_->snapshot();
  failure_ = absl::OkStatus();
}

bool LiveIndex::Apply(std::span<const Commit> commits) {
  if (index_ == nullptr || commits.empty()) return true;
  uint64_t rows = 0;
  try {
    for (const Commit& commit : commits) {
      rows += commit.changes.size();
      for (const RowChange& change : commit.changes) {
        if (commit.kind == RowChange::Kind::kErase) {
          index_->Erase(change.row_id);
          continue;
        }
        if (!codec_.CheckLength(change.codes).ok()) throw std::exception();
        if (change.fresh) {
          index_->Insert(change.row_id, change.word, change.codes);
        } else {
          index_->Put(change.row_id, change.word, change.codes);
        }
      }
    }
    index_->Publish(commits.back().sequence);
  } catch (const std::exception&) {
    Lose();
    return false;
  }
  std::shared_ptr<const IndexSnapshot> published = index_->snapshot();
  absl::MutexLock lock(&mu_);
  snapshot_.swap(published);
  activity_.rows += rows;
  activity_.last = absl::Now();
  return true;
}

std::optional<LiveIndex::Merge> LiveIndex::PlanMerge(MergeWish wish, bool keep_log) {
  if (index_ == nullptr) return std::nullopt;
  wish.close = keep_log && !covered();
  std::optional<MergePlan> plan = index_->PlanMerge(wish);
  if (!plan) return std::nullopt;
  if (wish.close) SetCovered(index_->snapshot()->sequence());
  return Merge{*std::move(plan), index_.get(), wish.close};
}

bool LiveIndex::InstallMerged(const Merge& merge, std::shared_ptr<SealedSegment> merged) {
  if (index_ == nullptr || index_.get() != merge.index) return false;
  if (merge.first && merged == nullptr) SetCovered(std::nullopt);
  index_->InstallMerged(merge.plan, std::move(merged));
  std::shared_ptr<const IndexSnapshot> published = index_->snapshot();
  absl::MutexLock lock(&mu_);
  snapshot_.swap(published);
  return true;
}

std::optional<IndexManifest> LiveIndex::Manifest() const {
  return index_ == nullptr ? std::nullopt : index_->Manifest();
}

void LiveIndex::SetCovered(std::optional<uint64_t> sequence) {
  absl::MutexLock lock(&mu_);
  covered_ = sequence;
}

std::optional<uint64_t> LiveIndex::covered() const {
  absl::MutexLock lock(&mu_);
  return covered_;
}

void LiveIndex::Lose() {
  index_.reset();
  absl::MutexLock lock(&mu_);
  snapshot_.reset();
  progress_ = 0;
}

bool LiveIndex::MayMerge(const MergeWish& wish) const {
  const std::shared_ptr<const IndexSnapshot> seen = snapshot();
  return seen != nullptr && seen->MayMerge(wish.close_from);
}

LiveIndex::Activity LiveIndex::activity() const {
  absl::MutexLock lock(&mu_);
  return activity_;
}

uint64_t LiveIndex::taken_in() const {
  absl::MutexLock lock(&mu_);
  if (snapshot_ == nullptr) return 0;
  return covered_ ? std::min(*covered_, snapshot_->sequence()) : snapshot_->sequence();
}

}  // namespace vectable
