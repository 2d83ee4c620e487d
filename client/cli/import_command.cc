#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/display.h"
#include "client/cli/importer.h"
#include "client/cli/interrupt.h"
#include "client/cli/json_output.h"
#include "client/cli/progress.h"
#include "client/formats/open_reader.h"
#include "common/limits.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

constexpr size_t kRejectionsTold = 20;

struct ImportArguments {
  ImportOptions options;
  std::optional<uint64_t> dimensions;
  std::string precision;
  std::string metric;
  std::string dimension_names;
  std::string on_bad = "error";
  std::string on_duplicate = "last";
  std::string encoding = "utf-8";
  std::string on_bad_utf8 = "error";
  std::string rejects_file;
};

// Where the rejected rows are told: all of them in a file, where one is named, and the first on the
// terminal.
class Rejects {
 public:
  explicit Rejects(CliContext& context) : context_(context) {}

  // Appends where an earlier run is gone on with.
  absl::Status Open(const std::string& path, const ImportOptions& options) {
    path_ = path;
    if (path_.empty()) return absl::OkStatus();
    for (const std::string& read :
         {options.file, options.rules.only_words, options.read.vocabulary}) {
      std::error_code ignored;
      if (std::filesystem::equivalent(path_, read, ignored)) {
        return absl::InvalidArgumentError(path_ +
                                          ": is read, and can't be the file of the rejects");
      }
    }
    file_.open(path_, options.resume ? std::ios::app : std::ios::trunc);
    if (file_) return absl::OkStatus();
    return absl::InvalidArgumentError(
        fmt::format("{}: cannot write the rejected rows: {}", path_, std::strerror(errno)));
  }

  void Tell(const std::string& message) {
    if (file_.is_open()) file_ << Printable(message) << '\n';
    if (told_++ < kRejectionsTold) context_.PrintWarning("left out: " + message);
  }

  absl::Status Close() {
    if (told_ > kRejectionsTold) {
      context_.PrintWarning(fmt::format(
          "{} more rows were left out{}", WithThousands(told_ - kRejectionsTold),
          path_.empty() ? " (--rejects FILE lists them all)" : "; all are in " + path_));
    }
    if (!file_.is_open()) return absl::OkStatus();
    file_.close();
    if (file_) return absl::OkStatus();
    return absl::UnknownError(path_ + ": cannot write all rejected rows");
  }

 private:
  CliContext& context_;
  std::string path_;
  std::ofstream file_;
  uint64_t told_ = 0;
};

std::string Acknowledged(const ImportSummary& summary, const std::string& table) {
  if (summary.created && summary.inserted + summary.replaced == 0) {
    return fmt::format("no row was acknowledged; the new table {} stays", Quoted(table));
  }
  if (summary.inserted + summary.replaced == 0) return "no row was acknowledged";
  return fmt::format(
      "{} rows were acknowledged before and are in table {} ({} inserted, {} replaced)",
      WithThousands(summary.inserted + summary.replaced), Quoted(table),
      WithThousands(summary.inserted), WithThousands(summary.replaced));
}

// What else is worth saying: "; 3 rows of other words, 2 of words met before".
std::string OtherCounts(const ImportSummary& summary) {
  std::string text;
  if (summary.not_asked > 0) {
    text += fmt::format(", {} of words not asked for", WithThousands(summary.not_asked));
  }
  if (summary.duplicates > 0) {
    text += fmt::format(", {} of words met before", WithThousands(summary.duplicates));
  }
  return text;
}

void PrintSummary(CliContext& context, const ImportSummary& summary, const std::string& table,
                  double seconds) {
  if (context.json) {
    WriteJson(context.out(), {{"rows_read", summary.rows_read},
                              {"inserted", summary.inserted},
                              {"replaced", summary.replaced},
                              {"rejected", summary.rejected},
                              {"not_asked", summary.not_asked},
                              {"duplicates", summary.duplicates},
                              {"resumed_behind", summary.resumed_behind},
                              {"seconds", seconds},
                              {"created", summary.created}});
    return;
  }
  const double rate = static_cast<double>(summary.rows_read) / std::max(seconds, 1e-3);
  context.out() << fmt::format(
      "{} rows read into {} table {} in {:.2f} s ({} rows/s): {} inserted, {} replaced, {} left "
      "out{}\n",
      WithThousands(summary.rows_read), summary.created ? "the new" : "the", Quoted(table), seconds,
      WithThousands(static_cast<uint64_t>(rate)), WithThousands(summary.inserted),
      WithThousands(summary.replaced), WithThousands(summary.rejected), OtherCounts(summary));
}

std::string HowToGoOn(const ImportSummary& summary) {
  return summary.resumable ? "; --resume goes on behind them" : "";
}

absl::StatusOr<int> Import(CliContext& context, const ImportArguments& arguments) {
  const ImportOptions& options = arguments.options;
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  Rejects rejects(context);
  const InterruptGuard guard;
  std::unique_ptr<Progress> progress;
  ImportHooks hooks;
  hooks.on_open = [&](const VectorReader& reader) {
    // Not before it is known that there is something to import.
    VT_RETURN_IF_ERROR(rejects.Open(arguments.rejects_file, options));
    context.PrintWarning(fmt::format("reading {} as {}", options.file, reader.Description()));
    progress =
        std::make_unique<Progress>(context.err(), context.err_is_terminal(), reader.total_bytes());
    return absl::OkStatus();
  };
  hooks.on_row = [&](uint64_t rows, const VectorReader& reader) {
    if (progress->Due()) progress->Update(rows, reader.bytes_read());
  };
  hooks.on_rejected = [&](const std::string& message) {
    if (progress) progress->Clear();
    rejects.Tell(message);
  };
  hooks.on_note = [&](const std::string& message) {
    if (progress) progress->Clear();
    context.PrintWarning(message);
  };
  hooks.interrupted = InterruptGuard::interrupted;
  ImportSummary summary;
  const absl::Time start = absl::Now();
  absl::Status status = ImportFile(*client, options, hooks, summary);
  progress.reset();
  const absl::Status listed = rejects.Close();
  if (status.ok()) status = listed;
  if (!status.ok()) {
    return absl::Status(status.code(),
                        fmt::format("{}; {}{}", std::string(status.message()),
                                    Acknowledged(summary, options.table), HowToGoOn(summary)));
  }
  if (summary.interrupted) {
    context.PrintError("interrupted; " + Acknowledged(summary, options.table) + HowToGoOn(summary));
    return kExitInterrupted;
  }
  PrintSummary(context, summary, options.table, absl::ToDoubleSeconds(absl::Now() - start));
  return kExitOk;
}

void ReadArguments(ImportArguments& arguments) {
  ImportOptions& options = arguments.options;
  if (!arguments.precision.empty()) options.precision = ParsePrecision(arguments.precision);
  if (!arguments.metric.empty()) options.metric = ParseMetric(arguments.metric);
  if (!arguments.dimension_names.empty()) {
    options.dimension_names = SplitAtCommas(arguments.dimension_names);
  }
  options.skip_bad = arguments.on_bad == "skip";
  if (arguments.on_duplicate == "first") options.rules.on_duplicate = OnDuplicate::kFirst;
  if (arguments.on_duplicate == "error") options.rules.on_duplicate = OnDuplicate::kError;
  WordRules& words = options.read.words;
  if (arguments.encoding == "latin-1") words.encoding = TextEncoding::kLatin1;
  if (arguments.on_bad_utf8 == "replace") words.on_bad_utf8 = OnBadUtf8::kReplace;
  if (arguments.on_bad_utf8 == "skip") words.on_bad_utf8 = OnBadUtf8::kSkip;
  if (!arguments.rejects_file.empty() && !options.skip_bad &&
      words.on_bad_utf8 != OnBadUtf8::kSkip) {
    throw CLI::ValidationError("--rejects", "no row is left out without --on-bad skip");
  }
  if (!arguments.dimensions) return;
  if (*arguments.dimensions < 1 || *arguments.dimensions > kMaxDimensions) {
    throw CLI::ValidationError(
        "--dim", fmt::format("{} is not between 1 and {}", *arguments.dimensions, kMaxDimensions));
  }
  options.read.dimensions = static_cast<uint32_t>(*arguments.dimensions);
}

void AddFileOptions(CLI::App& command, ImportArguments& arguments) {
  ReadOptions& read = arguments.options.read;
  AddText(command, "file", arguments.options.file,
          "The file, plain or packed with gzip or zstd; - is standard input")
      ->required();
  AddChoice(command, "--format", read.format, VectorFormats(),
            "The file's format; told by its content if not given");
  AddNumber(command, "--dim", arguments.dimensions,
            "Values per row of a text; found out from its first lines if not given");
  AddText(
      command, "--vocab", read.vocabulary,
      "The rows' words, for formats without: one per line, or a vocab.json, a tokenizer.json, or "
      "the projector's metadata; if not given, such a file beside, or else the rows' numbers");
  AddText(command, "--tensor", read.tensor,
          "Which tensor or dataset of the file; found out if not given");
  AddChoice(command, "--encoding", arguments.encoding, {"utf-8", "latin-1"},
            "How words are encoded; utf-8 if not given");
  AddChoice(command, "--on-bad-utf8", arguments.on_bad_utf8, {"error", "replace", "skip"},
            "A word that isn't UTF-8 is a bad row, gets U+FFFD for what is wrong, or is left out; "
            "error if not given");
}

void AddTableOptions(CLI::App& command, ImportArguments& arguments) {
  AddText(command, "--table", arguments.options.table, "The table's name")->required();
  AddChoice(command, "--precision", arguments.precision, PrecisionNames(),
            "How a value is stored; fp32 for a new table if not given");
  AddChoice(command, "--metric", arguments.metric, MetricNames(),
            "What a score means; cosine for a new table if not given");
  AddText(command, "--dim-names", arguments.dimension_names,
          "A name for each dimension of a new table, separated by commas");
}

void AddRowOptions(CLI::App& command, ImportArguments& arguments) {
  ImportOptions& options = arguments.options;
  AddChoice(command, "--on-bad", arguments.on_bad, {"error", "skip"},
            "Stop at a bad row, or leave it out and go on; stop if not given");
  AddText(command, "--rejects", arguments.rejects_file,
          "A file to list every row in that is left out as bad, with the reason");
  AddChoice(
      command, "--on-duplicate", arguments.on_duplicate, {"first", "last", "error"},
      "Which row of a word that comes again stays, or that it is a bad row; last if not given");
  AddNumber(command, "--limit", options.limit, "Read at most this many rows");
  AddText(command, "--words", options.rules.only_words,
          "A file of the only words to take, one per line");
  command.add_flag("--lowercase", options.rules.lowercase, "Put words into lower case");
  command.add_flag("--normalize", options.rules.normalize, "Scale vectors to length 1");
  command.add_flag("--resume", options.resume,
                   "Go on behind the rows that an earlier run of the same import, which was ended, "
                   "got into the table");
}

}  // namespace

void AddImportCommand(CLI::App& app, CliContext& context) {
  CLI::App* const command = app.add_subcommand(
      "import", "Read a file of word vectors into a table, which is created if absent");
  auto arguments = std::make_shared<ImportArguments>();
  AddFileOptions(*command, *arguments);
  AddTableOptions(*command, *arguments);
  AddRowOptions(*command, *arguments);
  command->callback([&context, arguments] {
    ReadArguments(*arguments);
    context.command = [&context, arguments] { return Import(context, *arguments); };
  });
}

}  // namespace vectable
