// The part of Table that fills its index.

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/status_util.h"
#include "engine/table.h"

namespace vectable {
namespace {

constexpr uint64_t kRowsPerStep = 4096;  // between looks at the stop flag
constexpr absl::Duration kReportInterval = absl::Seconds(2);
constexpr absl::Duration kLoadAgainAfter = absl::Milliseconds(50);
constexpr size_t kLogEntriesPerRead = 256;
constexpr size_t kRoundsBesideWriters = 1000;  // before writers are held up

}  // namespace

void Table::LoadIndex(const std::atomic<bool>& stop) {
  absl::Status status;
  try {
    // The store may be opened again meanwhile.
    while (absl::IsUnavailable(status = TryLoadIndex(stop)) && !stop && !writer_.retired()) {
      absl::SleepFor(kLoadAgainAfter);
    }
  } catch (const std::exception& error) {
    status = absl::ResourceExhaustedError(absl::StrCat("loading the index: ", error.what()));
  }
  if (status.ok() || stop || RetiredBetweenCommits()) return;
  index_.Fail(status);
  parts_.events.Report(EventSink::Level::kError, Annotate(status, Label()).ToString());
}

bool Table::TakeOver(const TableRecord& stored, TableRecord& record) {
  const bool changed = stored != record;
  const bool failed = !index_.failure().ok();
  record = stored;
  if (changed) index_.Lose();
  if (failed) index_.Fail(absl::OkStatus());
  return changed || failed;
}

absl::Status Table::RemoveIndexFiles() {
  absl::MutexLock lock(&parts_.publishing);
  VT_RETURN_IF_ERROR(directory_->Remove());
  index_.SetCovered(std::nullopt);
  return absl::OkStatus();
}

bool Table::RetiredBetweenCommits() {
  // A drop takes the rows away before it retires the writer; its turn must be over.
  bool retired = false;
  writer_.RunExclusive([&](TableRecord& /*record*/) { retired = writer_.retired(); });
  return retired;
}

absl::Status Table::TryLoadIndex(const std::atomic<bool>& stop) {
  const absl::Time start = absl::Now();
  bool opened = false;
  if (directory_) {
    std::unique_ptr<TableIndex> index = index_.MakeEmpty();
    absl::StatusOr<std::optional<uint64_t>> covered = OpenSegments(*index);
    absl::Status status = covered.status();
    if (status.ok() && *covered) {
      // What comes after it must be kept from now on.
      index_.SetCovered(**covered);
      status = CatchUpAndInstall(std::move(index), **covered);
      opened = status.ok();
      unchecked_ = opened;
    }
    if (!status.ok()) {
      parts_.events.Report(
          EventSink::Level::kWarning,
          absl::StrCat(Label(), ": its index can't be used and is made anew: ", status.ToString()));
    }
    if (!opened) {
      VT_RETURN_IF_ERROR(RemoveIndexFiles());
    }
  }
  if (!opened) {
    std::unique_ptr<TableIndex> index = index_.MakeEmpty();
    VT_ASSIGN_OR_RETURN(const uint64_t sequence, LoadRows(*index, stop));
    if (stop) return absl::OkStatus();
    VT_RETURN_IF_ERROR(CatchUpAndInstall(std::move(index), sequence));
  }
  const uint64_t rows = index_.indexed_rows();
  if (rows > 0) {
    parts_.events.Report(EventSink::Level::kInfo,
                         absl::StrFormat("%s: %d rows searchable after %.2f s", Label(), rows,
                                         absl::ToDoubleSeconds(absl::Now() - start)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<uint64_t>> Table::OpenSegments(TableIndex& index) {
  VT_ASSIGN_OR_RETURN(const std::optional<IndexManifest> manifest, directory_->ReadManifest());
  if (!manifest) return std::optional<uint64_t>();
  const TableRecord record = writer_.record();
  if (manifest->table_created != record.created_unix_micros) {
    return absl::FailedPreconditionError("it is that of another table");
  }
  if (manifest->written > record.applied_sequence) {
    return absl::DataLossError(absl::StrCat("it goes up to mutation ", manifest->written,
                                            "; the store has ", record.applied_sequence));
  }
  std::vector<std::shared_ptr<SealedSegment>> segments;
  for (const IndexManifest::Segment& named : manifest->segments) {
    VT_ASSIGN_OR_RETURN(SegmentReader reader, SegmentReader::Open(directory_->PathOf(named.file)));
    VT_ASSIGN_OR_RETURN(segments.emplace_back(),
                        SealedSegment::Open(std::move(reader), shape_.metric, codec_));
  }
  VT_RETURN_IF_ERROR(index.Restore(*manifest, std::move(segments)));
  return std::optional<uint64_t>(manifest->covered);
}

absl::Status Table::CatchUpAndInstall(std::unique_ptr<TableIndex> index, uint64_t sequence) {
  VT_ASSIGN_OR_RETURN(sequence, CatchUp(*index, sequence, kRoundsBesideWriters));
  absl::Status status;
  writer_.RunExclusive([&](TableRecord& record) {
    absl::StatusOr<uint64_t> reached = CatchUp(*index, sequence, SIZE_MAX);
    status = reached.status();
    if (!status.ok()) return;
    if (*reached != record.applied_sequence) {
      status = absl::DataLossError(absl::StrCat("the log ends at mutation ", *reached,
                                                "; the last one was ", record.applied_sequence));
      return;
    }
    index->Publish(record.applied_sequence);
    if (index->snapshot()->live_rows() != record.rows) {
      status = absl::DataLossError(absl::StrCat("the store holds ", index->snapshot()->live_rows(),
                                                " rows, its catalogue says ", record.rows));
      return;
    }
    index_.Install(std::move(index));
  });
  return status;
}

absl::StatusOr<uint64_t> Table::LoadRows(TableIndex& index, const std::atomic<bool>& stop) {
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<RowCursor> cursor,
                      parts_.store.ScanRows(table_id_, 0, std::nullopt));
  uint64_t rows = 0;
  absl::Time next_report = absl::Now() + kReportInterval;
  while (true) {
    VT_ASSIGN_OR_RETURN(const bool more, cursor->Next());
    if (!more) break;
    const RowView row = cursor->row();
    VT_RETURN_IF_ERROR(
        Annotate(codec_.CheckLength(row.codes), absl::StrCat("row id ", row.row_id)));
    index.Put(row.row_id, row.word, row.codes);
    if (++rows % kRowsPerStep != 0) continue;
    index_.SetProgress(rows);
    if (stop) break;
    if (absl::Now() < next_report) continue;
    next_report += kReportInterval;
    parts_.events.Report(
        EventSink::Level::kInfo,
        absl::StrCat(Label(), ": ", rows, " of ", cursor->table().rows, " rows loaded"));
  }
  return cursor->table().applied_sequence;
}

absl::StatusOr<uint64_t> Table::CatchUp(TableIndex& index, uint64_t sequence, size_t rounds) const {
  // A log that can't be read is none of the table's business while it needs nothing of it.
  for (; rounds > 0 && sequence < writer_.record().applied_sequence; --rounds) {
    VT_ASSIGN_OR_RETURN(const std::vector<LogEntry> entries,
                        parts_.store.ReadLog(table_id_, sequence, kLogEntriesPerRead));
    if (entries.empty()) break;
    for (const LogEntry& entry : entries) {
      if (entry.sequence != sequence + 1) {
        return absl::DataLossError(
            absl::StrCat("the log goes from mutation ", sequence, " to ", entry.sequence));
      }
      VT_RETURN_IF_ERROR(TakeIn(index, entry));
      sequence = entry.sequence;
    }
  }
  return sequence;
}

absl::Status Table::TakeIn(TableIndex& index, const LogEntry& entry) const {
  // The rows as they are now: what came after this entry is taken in again when its own entry
  // comes.
  using Rows = std::vector<std::optional<StoredRow>>;
  VT_ASSIGN_OR_RETURN(const Rows rows, parts_.store.GetByRowIds(table_id_, entry.row_ids));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]) {
      index.Erase(entry.row_ids[i]);
      continue;
    }
    VT_RETURN_IF_ERROR(
        Annotate(codec_.CheckLength(rows[i]->codes), absl::StrCat("row id ", rows[i]->row_id)));
    index.Put(rows[i]->row_id, rows[i]->word, rows[i]->codes);
  }
  return absl::OkStatus();
}

}  // namespace vectable
