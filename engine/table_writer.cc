#include "engine/table_writer.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

// Codes and keys that are committed together at most, unless a single mutation has more.
constexpr size_t kGroupBytes = size_t{8} << 20;

}  // namespace

TableWriter::TableWriter(TableRecord record, Store& store, const Limits& limits, LiveIndex& index,
                         Listener listener, IndexLost index_lost)
    : store_(store),
      limits_(limits),
      index_(index),
      listener_(std::move(listener)),
      index_lost_(std::move(index_lost)),
      queue_([this](const std::vector<Job*>& jobs) { return StoreGroup(jobs); }, kGroupBytes),
      record_(std::move(record)) {}

absl::StatusOr<MutationOutcome> TableWriter::Submit(Mutation mutation, bool skip_bad,
                                                    std::function<void()> on_stored) {
  Job job{std::move(mutation), skip_bad, /*sequence=*/0, std::move(on_stored)};
  queue_.Run(job);
  return std::move(job.outcome);
}

absl::Status TableWriter::Apply(uint64_t sequence, const Mutation& mutation) {
  if (sequence == 0) return absl::InvalidArgumentError("sequence numbers begin at 1");
  Job job{mutation, /*skip_bad=*/false, sequence};
  queue_.Run(job);
  return job.outcome.status();
}

void TableWriter::RunExclusive(const std::function<void(TableRecord& record)>& work) {
  queue_.RunExclusive([&] {
    TableRecord changed = record();
    work(changed);
    absl::MutexLock lock(&mu_);
    record_ = std::move(changed);
  });
}

void TableWriter::Retire() {
  absl::MutexLock lock(&mu_);
  retired_ = true;
}

bool TableWriter::retired() const {
  absl::MutexLock lock(&mu_);
  return retired_;
}

TableRecord TableWriter::record() const {
  absl::MutexLock lock(&mu_);
  return record_;
}

bool TableWriter::Admit(Job& job, uint64_t applied) const {
  absl::MutexLock lock(&mu_);
  if (retired_) {
    job.outcome = absl::NotFoundError(absl::StrCat("table ", Quoted(record_.name), " was dropped"));
    return false;
  }
  if (job.sequence == 0 || job.sequence == applied + 1) return true;
  if (job.sequence > applied) {
    job.outcome = absl::FailedPreconditionError(
        absl::StrCat("mutation ", job.sequence, " can't follow mutation ", applied));
  }
  return false;  // applied before: done
}

std::function<void()> TableWriter::StoreGroup(const std::vector<Job*>& jobs) {
  auto group = std::make_shared<Group>(store_, record(), limits_);
  size_t taken_in = 0;  // commits
  for (Job* job : jobs) {
    if (!Admit(*job, group->resolver.after().applied_sequence)) continue;
    if (group->commits.size() > taken_in) {
      group->resolver.TakeIn(group->commits.back());
      taken_in = group->commits.size();
    }
    absl::StatusOr<GroupResolver::Resolved> resolved =
        group->resolver.Resolve(job->mutation, job->skip_bad, /*always=*/job->sequence != 0);
    if (!resolved.ok()) {
      job->outcome = resolved.status();
      continue;
    }
    job->outcome = std::move(resolved->outcome);
    if (resolved->commit.sequence == 0) continue;
    group->commits.push_back(std::move(resolved->commit));
    group->jobs.push_back(job);
  }
  if (group->commits.empty()) return nullptr;
  const TableRecord& after = group->resolver.after();
  const absl::Status status = store_.Write(after, group->commits, index_.taken_in());
  if (!status.ok()) {
    for (Job* job : group->jobs) job->outcome = status;
    return nullptr;
  }
  {
    absl::MutexLock lock(&mu_);
    record_ = after;
  }
  for (Job* job : group->jobs) {
    if (job->on_stored) job->on_stored();
  }
  return [this, group] { IndexGroup(*group); };
}

void TableWriter::IndexGroup(const Group& group) {
  // The store has the rows: an index that fails is made again from them, and the write stands.
  if (!index_.Apply(group.commits)) index_lost_();
  if (!listener_) return;
  for (const Job* job : group.jobs) listener_(job->outcome->sequence, job->mutation);
}

}  // namespace vectable
