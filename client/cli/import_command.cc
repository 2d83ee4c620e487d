#include <fmt/format.h>

#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
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

struct ImportArguments {
  ImportOptions options;
  std::string precision;
  std::string metric;
  std::string dimension_names;
  std::string on_bad = "error";
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

void PrintSummary(CliContext& context, const ImportSummary& summary, const std::string& table,
                  double seconds) {
  if (context.json) {
    WriteJson(context.out(), {{"rows_read", summary.rows_read},
                              {"inserted", summary.inserted},
                              {"replaced", summary.replaced},
                              {"rejected", summary.rejected},
                              {"seconds", seconds},
                              {"created", summary.created}});
    return;
  }
  const double rate = static_cast<double>(summary.rows_read) / std::max(seconds, 1e-3);
  context.out() << fmt::format(
      "{} rows read into {} table {} in {:.2f} s ({} rows/s): {} inserted, {} replaced, {} left "
      "out\n",
      WithThousands(summary.rows_read), summary.created ? "the new" : "the", Quoted(table), seconds,
      WithThousands(static_cast<uint64_t>(rate)), WithThousands(summary.inserted),
      WithThousands(summary.replaced), WithThousands(summary.rejected));
}

absl::StatusOr<int> Import(CliContext& context, const ImportOptions& options) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  const InterruptGuard guard;
  std::unique_ptr<Progress> progress;
  ImportHooks hooks;
  hooks.on_open = [&](const VectorReader& reader) {
    progress =
        std::make_unique<Progress>(context.err(), context.err_is_terminal(), reader.total_bytes());
  };
  hooks.on_row = [&](uint64_t rows, const VectorReader& reader) {
    if (progress->Due()) progress->Update(rows, reader.bytes_read());
  };
  hooks.on_rejected = [&](const std::string& message) {
    if (progress) progress->Clear();
    context.PrintWarning("left out: " + message);
  };
  hooks.interrupted = InterruptGuard::interrupted;
  ImportSummary summary;
  const absl::Time start = absl::Now();
  const absl::Status status = ImportFile(*client, options, hooks, summary);
  progress.reset();
  if (!status.ok()) {
    const std::string message(status.message());
    return absl::Status(status.code(), message + "; " + Acknowledged(summary, options.table));
  }
  if (summary.interrupted) {
    context.PrintError("interrupted; " + Acknowledged(summary, options.table));
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
  if (options.dimensions && (*options.dimensions < 1 || *options.dimensions > kMaxDimensions)) {
    throw CLI::ValidationError(
        "--dim", fmt::format("{} is not between 1 and {}", *options.dimensions, kMaxDimensions));
  }
}

}  // namespace

void AddImportCommand(CLI::App& app, CliContext& context) {
  CLI::App* import = app.add_subcommand(
      "import", "Read a file of word vectors into a table, which is created if absent");
  auto arguments = std::make_shared<ImportArguments>();
  ImportOptions& options = arguments->options;
  AddText(*import, "file", options.file, "The file, plain or gzip; - is standard input")
      ->required();
  AddText(*import, "--table", options.table, "The table's name")->required();
  AddChoice(*import, "--format", options.format, VectorFormats(),
            "The file's format; found out if not given");
  AddNumber(*import, "--dim", options.dimensions,
            "Values per row of the file; found out from its first lines if not given");
  AddChoice(*import, "--precision", arguments->precision, PrecisionNames(),
            "How a value is stored; fp32 for a new table if not given");
  AddChoice(*import, "--metric", arguments->metric, MetricNames(),
            "What a score means; cosine for a new table if not given");
  AddText(*import, "--dim-names", arguments->dimension_names,
          "A name for each dimension of a new table, separated by commas");
  AddChoice(*import, "--on-bad", arguments->on_bad, {"error", "skip"},
            "Stop at a bad row, or leave it out and go on; stop if not given");
  AddNumber(*import, "--limit", options.limit, "Read at most this many rows");
  import->callback([&context, arguments] {
    ReadArguments(*arguments);
  context.command = [&context, arguments] { return Import(context, arguments->options); };
});
}  // namespace vectable

}  // namespace vectable
