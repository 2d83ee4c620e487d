// The part of Table that merges segments of its index.

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/status_util.h"
#include "engine/table.h"
#include "index/segment_builder.h"

namespace vectable {
namespace {

constexpr absl::Duration kIdleAfter = absl::Milliseconds(500);  // the last write
// Rows from which the growing segment is closed: when nothing is written; and when so little is
// that a merge now and then keeps up with it.
constexpr size_t kCloseIdle = 4096;
constexpr size_t kCloseSlow = 16'384;
constexpr double kSlowRowsPerSecond = 10'000;
constexpr absl::Duration kSlowAfter = absl::Seconds(2);   // of writing
constexpr absl::Duration kRetryAfter = absl::Minutes(1);  // a merge that failed
constexpr uint64_t kOtherBytesPerRow = 256;               // word, links of the graph: an estimate
constexpr uint64_t kReportedRows = 16'384;                // of merges that people are told of

}  // namespace

std::vector<SegmentDescription> Table::Segments() const {
  const std::shared_ptr<const IndexSnapshot> snapshot = index_.snapshot();
  return snapshot == nullptr ? std::vector<SegmentDescription>() : snapshot->Segments();
}

MergeWish Table::NextMerge() {
  const absl::Time now = absl::Now();
  const LiveIndex::Activity activity = index_.activity();
  if (now - activity.last > kIdleAfter) {
    busy_since_ = absl::InfiniteFuture();
  } else if (busy_since_ > now) {
    busy_since_ = now;
    busy_from_ = activity.rows;
  }
  // Nothing is known of a load that has just begun.
  const absl::Duration busy = now - busy_since_;
  const bool slow = busy > kSlowAfter && static_cast<double>(activity.rows - busy_from_) <
                                             kSlowRowsPerSecond * absl::ToDoubleSeconds(busy);
  MergeWish wish;
  const Optimizing optimizing = optimizing_.load(std::memory_order_acquire);
  wish.everything = optimizing == Optimizing::kAsked;
  wish.join = optimizing == Optimizing::kGoesOn;
  wish.idle = now - activity.last > kIdleAfter;
  if (wish.idle) {
    wish.close_from = kCloseIdle;
  } else if (slow) {
    wish.close_from = kCloseSlow;
  }
  return wish;
}

absl::Status Table::LinkIndex(const std::string& folder) const {
  if (!directory_) return absl::OkStatus();
  return directory_->LinkInto(IndexFolderOf(folder, table_id_));
}

uint64_t Table::MergedBytes(uint64_t rows) const {
  return rows * (codec_.row_bytes() + shape_.dimensions + kOtherBytesPerRow);
}

absl::Status Table::Optimize() {
  if (directory_) {
    // What couldn't be done now would be tried again and again.
    VT_RETURN_IF_ERROR(
        Annotate(parts_.store.CheckRoom(MergedBytes(writer_.record().rows)), Label()));
  }
  optimizing_.store(Optimizing::kAsked, std::memory_order_release);
  return index_.failure();
}

absl::Status Table::SaveManifest() {
  if (!directory_) return absl::OkStatus();
  std::optional<IndexManifest> manifest;
  int64_t created = 0;
  writer_.RunExclusive([&](TableRecord& record) {
    manifest = index_.Manifest();
    created = record.created_unix_micros;
  });
  if (!manifest) return absl::OkStatus();
  manifest->table_created = created;
  absl::MutexLock lock(&parts_.publishing);
  VT_RETURN_IF_ERROR(directory_->WriteManifest(*manifest));
  index_.SetCovered(manifest->covered);
  return absl::OkStatus();
}

void Table::CheckSegments(const std::atomic<bool>& stop) {
  if (!unchecked_.exchange(false)) return;
  const std::shared_ptr<const IndexSnapshot> snapshot = index_.snapshot();
  if (snapshot == nullptr) return;
  const absl::Status status = snapshot->CheckSegments([&] { return stop || writer_.retired(); });
  if (status.ok() || stop || writer_.retired()) return;
  parts_.events.Report(
      EventSink::Level::kError,
      absl::StrCat(Label(), ": its index is damaged and made anew: ", status.ToString()));
  writer_.RunExclusive([&](TableRecord& /*record*/) { index_.Lose(); });
  IgnoreStatus(RemoveIndexFiles(), "a load that finds the files finds them damaged, too");
  parts_.on_index_lost(*this);
}

bool Table::MergeSegments(const std::atomic<bool>& stop) {
  CheckSegments(stop);
  const MergeWish wish = NextMerge();
  if (!wish.everything && absl::Now() < merge_again_at_) return false;
  const bool on_request = wish.everything || wish.join;
  if (!on_request && !index_.MayMerge(wish)) return false;
  std::optional<LiveIndex::Merge> merge;
  bool searchable = false;
  writer_.RunExclusive([&](TableRecord& /*record*/) {
    searchable = index_.snapshot() != nullptr;
    merge = index_.PlanMerge(wish, directory_ != nullptr);
  });
  Optimizing before = wish.everything ? Optimizing::kAsked : Optimizing::kGoesOn;
  if (!merge) {
    // What was asked for meanwhile comes next.
    if (on_request && searchable) optimizing_.compare_exchange_strong(before, Optimizing::kNo);
    return false;
  }
  if (wish.everything) optimizing_.compare_exchange_strong(before, Optimizing::kGoesOn);
  const absl::Time start = absl::Now();
  std::shared_ptr<SealedSegment> merged;
  absl::Status status = BuildMerged(*merge, stop, merged);
  bool installed = false;
  writer_.RunExclusive(
      [&](TableRecord& /*record*/) { installed = index_.InstallMerged(*merge, merged); });
  if (stop || writer_.retired()) return false;
  if (status.ok() && installed) status = SaveManifest();
  if (!status.ok()) {
    // The rows are all there and searched; it is tried again later, and on request goes on till
    // then.
    merge_again_at_ = absl::Now() + kRetryAfter;
    if (absl::IsDataLoss(status)) unchecked_ = true;
    parts_.events.Report(EventSink::Level::kError,
                         absl::StrCat(Label(), ": merging segments: ", status.ToString()));
    return false;
  }
  if (installed && merge->plan.live_rows >= kReportedRows) {
    parts_.events.Report(
        EventSink::Level::kInfo,
        absl::StrFormat("%s: %d segments merged into one of %d rows%s after %.1f s", Label(),
                        merge->plan.sources.size(), merge->plan.live_rows,
                        merged->has_graph() ? " with a graph" : "",
                        absl::ToDoubleSeconds(absl::Now() - start)));
  }
  return true;
}

absl::Status Table::BuildMerged(const LiveIndex::Merge& merge, const std::atomic<bool>& stop,
                                std::shared_ptr<SealedSegment>& merged) {
  SegmentBuildOptions options;
  uint64_t file = 0;
  if (directory_) {
    // What the disk has left is rather for the rows.
    VT_RETURN_IF_ERROR(parts_.store.CheckRoom(MergedBytes(merge.plan.live_rows)));
    VT_ASSIGN_OR_RETURN(file, directory_->NewFile());
    options.path = directory_->PathOf(file);
  }
  options.graph.threads = parts_.index.build_threads;
  options.graph_rows = parts_.index.graph_rows;
  options.graph.stop = [&] { return stop || writer_.retired(); };
  std::vector<SegmentSource> sources;
  for (const IndexSnapshot::Part& part : merge.plan.sources) {
    sources.push_back({part.segment, part.slots});
  }
  try {
    absl::StatusOr<std::shared_ptr<SealedSegment>> built =
        BuildSegment(shape_.metric, codec_, sources, merge.plan.version, options);
    if (!built.ok()) return built.status();
    merged = *std::move(built);
    merged->set_file(file);
    return absl::OkStatus();
  } catch (const std::exception& error) {
    return absl::ResourceExhaustedError(error.what());
  }
}

}  // namespace vectable
