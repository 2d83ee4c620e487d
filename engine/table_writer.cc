#include "engine/table_writer.h"

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
      queue_([this](const std::vector<Job*>& jobs) { Commit(jobs); }, kGroupBytes),
      record_(std::move(record)) {}

absl::StatusOr<MutationOutcome> TableWriter::Submit(Mutation mutation, bool skip_bad) {
  Job job{std::move(mutation), skip_bad};
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

void TableWriter::Commit(const std::vector<Job*>& jobs) {
  GroupResolver resolver(store_, record(), limits_);
  std::vector<vectable::Commit> commits;
  std::vector<Job*> committed;
  for (Job* job : jobs) {
    if (!Admit(*job, resolver.after().applied_sequence)) continue;
    absl::StatusOr<GroupResolver::Resolved> resolved =
        resolver.Resolve(job->mutation, job->skip_bad, /*always=*/job->sequence != 0);
    if (!resolved.ok()) {
      job->outcome = resolved.status();
      continue;
    }
    job->outcome = std::move(resolved->outcome);
    if (resolved->commit.sequence == 0) continue;
    commits.push_back(std::move(resolved->commit));
    committed.push_back(job);
  }
  if (commits.empty()) return;
  const absl::Status status = WriteAndIndex(resolver.after(), commits);
  for (Job* job : committed) {
    if (!status.ok()) {
      job->outcome = status;
    } else if (listener_) {
      listener_(job->outcome->sequence, job->mutation);
    }
  }
}

absl::Status TableWriter::WriteAndIndex(const TableRecord& after,
                                        const std::vector<vectable::Commit>& commits) {
  VT_RETURN_IF_ERROR(store_.Write(after, commits, index_.taken_in()));
  {
    absl::MutexLock lock(&mu_);
    record_ = after;
  }
  // The store has the rows: an index that fails is made again from them, and the write stands.
  if (!index_.Apply(commits)) index_lost_();
  return absl::OkStatus();
}

}  // namespace vectable
