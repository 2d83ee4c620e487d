#include "client/cli/importer.h"

#include <fmt/format.h>

#include <memory>
#include <thread>
#include <utility>

#include "client/cli/import_state.h"
#include "client/formats/open_reader.h"
#include "client/proto_names.h"
#include "common/names.h"
#include "common/status_util.h"
#include "common/vector_codec.h"
#include "common/vector_math.h"

namespace vectable {
namespace {

constexpr size_t kRejectionsKept = 100'000;  // of those by the server: rows are checked here before
constexpr uint64_t kRowsBetweenLooks = 1024;  // at what was acknowledged

Metric MetricOf(const v1::Table& table) {
  return ParseMetric(NameOf(table.metric())).value_or(Metric::kCosine);
}

Precision PrecisionOf(const v1::Table& table) {
  return ParsePrecision(NameOf(table.precision())).value_or(Precision::kFp32);
}

absl::Status Differs(const v1::Table& table, std::string_view what, std::string_view has,
                     std::string_view wanted) {
  return absl::FailedPreconditionError(
      fmt::format("table {} exists with {} {}; the import asks for {}", Quoted(table.name()), what,
                  has, wanted));
}

// Whether rows of the file can go into the table that is there.
absl::Status CheckTable(const v1::Table& table, const ImportOptions& options,
                        const VectorReader& reader) {
  if (table.dimensions() != reader.dimensions()) {
    return absl::FailedPreconditionError(fmt::format(
        "table {} has {} dimensions, but {} has {} values per row (expected {}, found {})",
        Quoted(table.name()), table.dimensions(), options.file, reader.dimensions(),
        table.dimensions(), reader.dimensions()));
  }
  if (options.precision && ToProto(*options.precision) != table.precision()) {
    return Differs(table, "precision", NameOf(table.precision()),
                   PrecisionName(*options.precision));
  }
  if (options.metric && ToProto(*options.metric) != table.metric()) {
    return Differs(table, "metric", NameOf(table.metric()), MetricName(*options.metric));
  }
  const std::vector<std::string> names(table.dimension_names().begin(),
                                       table.dimension_names().end());
  if (!options.dimension_names.empty() && options.dimension_names != names) {
    return Differs(table, "dimension names", fmt::format("'{}'", fmt::join(names, ",")),
                   fmt::format("'{}'", fmt::join(options.dimension_names, ",")));
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Table> CreateFor(Client& client, const ImportOptions& options,
                                    const VectorReader& reader) {
  v1::CreateTableRequest request;
  request.set_name(options.table);
  request.set_dimensions(reader.dimensions());
  request.set_precision(ToProto(options.precision.value_or(Precision::kFp32)));
  request.set_metric(ToProto(options.metric.value_or(Metric::kCosine)));
  // Names in the file are a help and no wish: those that can't be used are passed over.
  std::vector<std::string> names = options.dimension_names;
  if (names.empty() && CheckDimensionNames(reader.dimension_names(), reader.dimensions()).ok()) {
    names = reader.dimension_names();
  }
  for (const std::string& name : names) request.add_dimension_names(name);
  return client.CreateTable(request);
}

// One run of an import.
class ImportRun {
 public:
  struct Parts {
    VectorReader& reader;
    ImportRules& rules;
    const v1::Table& table;
    RowUploader& uploader;
    ImportState& state;
  };

  ImportRun(const ImportOptions& options, const ImportHooks& hooks, const Parts& parts,
            ImportSummary& summary)
      : options_(options),
        hooks_(hooks),
        reader_(parts.reader),
        rules_(parts.rules),
        metric_(MetricOf(parts.table)),
        codec_(PrecisionOf(parts.table), parts.reader.dimensions()),
        uploader_(parts.uploader),
        state_(parts.state),
        summary_(summary) {}

  // Reads and sends all rows, and waits for the last acknowledgement.
  absl::Status Run() {
    const absl::Status read = ReadRows();
    const bool to_its_end = read.ok() && !summary_.interrupted;
    const absl::Status sent = to_its_end ? uploader_.Finish() : uploader_.Abandon();
    Count();
    if (to_its_end && sent.ok() && !at_limit_) {
      state_.Remove();
    } else {
      state_.Save(uploader_.counts().through, /*now=*/true);
      const bool reached = uploader_.counts().through > 0 || summary_.resumed_behind > 0;
      summary_.resumable = reached && state_.status().ok();
    }
    if (const std::string doubts = reader_.Doubts(); !doubts.empty() && hooks_.on_note) {
      hooks_.on_note(doubts);
    }
    return sent.ok() ? read : sent;
  }

  // Keeps how far it came, now and then; of the thread that runs.
  void KeepState() {
    state_.Save(uploader_.counts().through, /*now=*/false);
    if (state_.status().ok() || told_) return;
    told_ = true;
    if (hooks_.on_note) {
      hooks_.on_note("how far the import came can't be kept for --resume: " +
                     std::string(state_.status().message()));
    }
  }

 private:
  absl::Status ReadRows() {
    VectorRow row;
    // The limit counts those of an earlier run, too.
    for (uint64_t met = 0;; ++met) {
      at_limit_ = options_.limit && met >= *options_.limit;
      if (at_limit_) return absl::OkStatus();
      if (Interrupted()) return absl::OkStatus();
      const absl::StatusOr<bool> more = reader_.Next(row);
      if (more.ok() && !*more) return CheckReached();
      if (!more.ok() && Interrupted()) return absl::OkStatus();
      if (!more.ok() && !absl::IsInvalidArgument(more.status())) return more.status();
      last_place_ = row.place;
      if (row.place <= summary_.resumed_behind) {
        PassOver(row, more.ok());
        continue;
      }
      ++summary_.rows_read;
      VT_RETURN_IF_ERROR(Take(row, more.status()));
      if (hooks_.on_row) hooks_.on_row(summary_.rows_read, reader_);
      if (summary_.rows_read % kRowsBetweenLooks == 0) KeepState();
    }
  }

  // The end came before the place that the earlier run reached: this is another stream.
  absl::Status CheckReached() {
    if (last_place_ >= summary_.resumed_behind) return absl::OkStatus();
    at_limit_ = true;  // what was kept stays
    return absl::FailedPreconditionError(fmt::format(
        "{}: the end comes before the place that the earlier run reached (expected {} {}, "
        "found {})",
        reader_.Position(last_place_), reader_.place_name(), summary_.resumed_behind, last_place_));
  }

  // What an earlier run has dealt with; its words were met all the same.
  void PassOver(VectorRow& row, bool read) {
    ImportRules::Verdict verdict = ImportRules::Verdict::kTake;
    if (read && Check(row, verdict).ok() && verdict == ImportRules::Verdict::kTake) {
      rules_.Remember(row);
    }
  }

  // Sends the row, or does with it what the options say of such a row.
  absl::Status Take(VectorRow& row, const absl::Status& read) {
    ImportRules::Verdict verdict = ImportRules::Verdict::kTake;
    absl::Status bad = read;
    if (bad.ok()) bad = Check(row, verdict);
    if (!bad.ok()) {
      if (!options_.skip_bad && !IsToLeaveOut(bad)) return bad;
      ++rejected_here_;
      if (hooks_.on_rejected) hooks_.on_rejected(std::string(bad.message()));
      return absl::OkStatus();
    }
    switch (verdict) {
      case ImportRules::Verdict::kNotAsked:
        ++summary_.not_asked;
        return absl::OkStatus();
      case ImportRules::Verdict::kDuplicate:
        ++summary_.duplicates;
        return absl::OkStatus();
      case ImportRules::Verdict::kTake:
        rules_.Remember(row);
        return uploader_.Add(row.word, row.vector, row.place);
    }
    return absl::OkStatus();
  }

  bool Interrupted() {
    if (hooks_.interrupted && hooks_.interrupted()) summary_.interrupted = true;
    return summary_.interrupted;
  }

  // Applies the rules, and sees what the server would refuse, because here the place is known.
  absl::Status Check(VectorRow& row, ImportRules::Verdict& verdict) {
    const absl::StatusOr<ImportRules::Verdict> applied = rules_.Apply(row, reader_.place_name());
    if (!applied.ok()) return Annotate(applied.status(), reader_.Position(row.place));
    verdict = *applied;
    if (verdict != ImportRules::Verdict::kTake) return absl::OkStatus();
    codes_.clear();
    // Only at 16 bits a value can be out of range: the other precisions needn't be tried.
    const absl::Status bad = BitsPerComponent(codec_.precision()) == 16
                                 ? EncodeRowVector(codec_, metric_, row.vector, codes_)
                                 : CheckVector(row.vector, reader_.dimensions(), metric_);
    if (bad.ok()) return bad;
    return Annotate(bad, fmt::format("{}: word {}", reader_.Position(row.place), Quoted(row.word)));
  }

  void Count() {
    const UploadCounts counts = uploader_.counts();
    summary_.inserted = counts.inserted;
    summary_.replaced = counts.replaced;
    summary_.rejected = counts.rejected + rejected_here_;
    for (const Rejection& rejection : counts.rejections) {
      if (!hooks_.on_rejected) break;
      hooks_.on_rejected(fmt::format("{}: word {}: {}", reader_.Position(rejection.position),
                                     Quoted(rejection.word), rejection.reason));
    }
  }

  const ImportOptions& options_;
  const ImportHooks& hooks_;
  VectorReader& reader_;
  ImportRules& rules_;
  const Metric metric_;
  const VectorCodec codec_;
  std::string codes_;
  RowUploader& uploader_;
  ImportState& state_;
  ImportSummary& summary_;
  uint64_t rejected_here_ = 0;
  uint64_t last_place_ = 0;
  bool at_limit_ = false;
  bool told_ = false;  // that nothing can be kept
};

// The options that decide what the rows become.
std::string DecidingOptions(const ImportOptions& options) {
  const ReadOptions& read = options.read;
  const RuleOptions& rules = options.rules;
  return fmt::format(
      "format {}, dim {}, vocab '{}', tensor '{}', encoding {}, bad utf-8 {}, words '{}', "
      "duplicates {}, lowercase {}, normalize {}",
      read.format, read.dimensions.value_or(0), read.vocabulary, read.tensor,
      static_cast<int>(read.words.encoding), static_cast<int>(read.words.on_bad_utf8),
      rules.only_words, static_cast<int>(rules.on_duplicate), rules.lowercase, rules.normalize);
}

// Where an earlier run ended, if it is asked for; otherwise that is forgotten. `table_created` is
// nothing where there is no table.
absl::Status FindStart(const ImportOptions& options, const ImportHooks& hooks, ImportState& state,
                       std::optional<uint64_t> table_created, ImportSummary& summary) {
  if (!options.resume) {
    state.Remove();
    return absl::OkStatus();
  }
  VT_ASSIGN_OR_RETURN(const std::optional<ImportState::Reached> reached, state.Load());
  const char* note = nullptr;
  if (!reached) {
    note = "there is nothing to go on with; the file is read from its start";
  } else if (reached->table_created != table_created) {
    note = "the table of the earlier run is gone; the file is read from its start";
    state.Remove();
  } else {
    summary.resumed_behind = reached->place;
  }
  if (note != nullptr && hooks.on_note) hooks.on_note(note);
  return absl::OkStatus();
}

}  // namespace

absl::Status ImportFile(Client& client, const ImportOptions& options, const ImportHooks& hooks,
                        ImportSummary& summary) {
  absl::StatusOr<v1::Table> table = client.GetTable(options.table);
  if (!table.ok() && !absl::IsNotFound(table.status())) return table.status();
  VT_ASSIGN_OR_RETURN(ImportRules rules, ImportRules::Create(options.rules, options.read.words));
  ReadOptions read = options.read;
  if (table.ok()) read.likely_dimensions = table->dimensions();
  // While the file gives nothing, how far it came is kept all the same; other threads ask, too.
  ImportRun* running = nullptr;
  read.interrupted = [&, self = std::this_thread::get_id()] {
    if (std::this_thread::get_id() == self && running != nullptr) running->KeepState();
    return hooks.interrupted && hooks.interrupted();
  };
  absl::StatusOr<std::unique_ptr<VectorReader>> opened = OpenVectorReader(options.file, read);
  if (absl::IsCancelled(opened.status()) && hooks.interrupted && hooks.interrupted()) {
    summary.interrupted = true;
    return absl::OkStatus();
  }
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<VectorReader> reader, std::move(opened));
  if (options.read.dimensions && *options.read.dimensions != reader->dimensions()) {
    return absl::FailedPreconditionError(
        fmt::format("{} has {} values per row (expected {}, found {})", options.file,
                    reader->dimensions(), *options.read.dimensions, reader->dimensions()));
  }
  ImportState state(client.options().server, options.table, options.file, DecidingOptions(options));
  VT_RETURN_IF_ERROR(
      FindStart(options, hooks, state,
                table.ok() ? std::optional(table->created_unix_micros()) : std::nullopt, summary));
  if (table.ok()) {
    VT_RETURN_IF_ERROR(CheckTable(*table, options, *reader));
  } else {
    table = CreateFor(client, options, *reader);
    VT_RETURN_IF_ERROR(table.status());
    summary.created = true;
  }
  state.set_table_created(table->created_unix_micros());
  if (hooks.on_open) VT_RETURN_IF_ERROR(hooks.on_open(*reader));
  if (summary.resumed_behind > 0 && hooks.on_note) {
    hooks.on_note(
        fmt::format("going on behind {} {}", reader->place_name(), summary.resumed_behind));
  }
  UploadOptions upload;
  upload.table = options.table;
  upload.on_bad = options.skip_bad ? v1::ON_BAD_SKIP : v1::ON_BAD_ERROR;
  upload.stall_timeout = client.options().timeout;
  upload.max_rejections_kept = kRejectionsKept;
  upload.position_name = reader->place_name();
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<RowUploader> uploader, client.Upload(upload));
  const ImportRun::Parts parts{*reader, rules, *table, *uploader, state};
  ImportRun run(options, hooks, parts, summary);
  running = &run;
  const absl::Status status = run.Run();
  running = nullptr;
  return status;
}

}  // namespace vectable
