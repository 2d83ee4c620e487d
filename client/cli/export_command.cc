#include <fmt/format.h>

#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/import_rules.h"
#include "client/cli/interrupt.h"
#include "client/cli/json_output.h"
#include "client/cli/progress.h"
#include "client/formats/vector_writer.h"
#include "client/proto_names.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

constexpr uint64_t kLeftOutTold = 20;

struct ExportArguments {
  std::string table;
  std::string file;
  std::string format;
  std::string on_bad = "error";
  bool normalize = false;
};

struct Exported {
  uint64_t rows = 0;
  uint64_t left_out = 0;
};

absl::StatusOr<std::string> FormatOf(const ExportArguments& arguments) {
  if (!arguments.format.empty()) return arguments.format;
  if (const auto format = WriterFormatFor(arguments.file)) return *format;
  return absl::InvalidArgumentError(
      fmt::format("the ending of {} stands for no format; name one with --format: {}",
                  Quoted(arguments.file), fmt::join(WriterFormats(), ", ")));
}

// Writes all rows, in the order of their ids, as they are when it begins.
absl::Status WriteRows(CliContext& context, Client& client, const ExportArguments& arguments,
                       uint64_t expected, VectorWriter& writer, Exported& exported) {
  Progress progress(context.err(), context.err_is_terminal(), std::nullopt);
  v1::ScanRequest request;
  request.set_table(arguments.table);
  request.set_include_vectors(true);
  std::vector<float> vector;
  return client.Scan(request, [&](const v1::Row& row) -> absl::Status {
    if (InterruptGuard::interrupted()) return absl::CancelledError("interrupted");
    vector.assign(row.vector().values().begin(), row.vector().values().end());
    if (arguments.normalize) ScaleToUnit(vector);
    const absl::Status added = writer.Add(row.word(), vector);
    if (absl::IsInvalidArgument(added) && arguments.on_bad == "skip") {
      if (exported.left_out++ < kLeftOutTold) {
        progress.Clear();
        context.PrintWarning("left out: " + std::string(added.message()));
      }
      return absl::OkStatus();
    }
    VT_RETURN_IF_ERROR(added);
    ++exported.rows;
    if (progress.Due()) progress.UpdateSteps(exported.rows + exported.left_out, expected);
    return absl::OkStatus();
  });
}

absl::StatusOr<int> Export(CliContext& context, const ExportArguments& arguments) {
  VT_ASSIGN_OR_RETURN(const std::string format, FormatOf(arguments));
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_ASSIGN_OR_RETURN(const v1::Table table, client->GetTable(arguments.table));
  WriteOptions options;
  options.dimensions = table.dimensions();
  options.rows = table.rows();
  if (!arguments.normalize) {
    options.precision = ParsePrecision(NameOf(table.precision())).value_or(Precision::kFp32);
  }
  options.metric = ParseMetric(NameOf(table.metric())).value_or(Metric::kCosine);
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<VectorWriter> writer,
                      OpenVectorWriter(arguments.file, format, options));
  const InterruptGuard guard;
  const absl::Time start = absl::Now();
  Exported exported;
  absl::Status status = WriteRows(context, *client, arguments, table.rows(), *writer, exported);
  if (status.ok()) status = writer->Finish();
  if (InterruptGuard::interrupted() && !status.ok()) {
    context.PrintError(arguments.file == "-" ? "interrupted; what was written isn't whole"
                                             : "interrupted; no file was written");
    return kExitInterrupted;
  }
  VT_RETURN_IF_ERROR(status);
  const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
  if (context.json) {
    WriteJson(context.out(), {{"rows_written", exported.rows},
                              {"left_out", exported.left_out},
                              {"format", format},
                              {"files", writer->files()},
                              {"seconds", seconds}});
    return kExitOk;
  }
  const std::string text = fmt::format(
      "{} rows of table {} written to {} as {} in {:.2f} s{}", WithThousands(exported.rows),
      Quoted(arguments.table), fmt::join(writer->files(), " and "), format, seconds,
      exported.left_out > 0 ? fmt::format("; {} left out", WithThousands(exported.left_out)) : "");
  if (arguments.file == "-") {
    context.PrintWarning(text);
  } else {
    context.out() << text << '\n';
  }
  return kExitOk;
}

}  // namespace

void AddExportCommand(CLI::App& app, CliContext& context) {
  CLI::App* const command =
      app.add_subcommand("export", "Write a table's rows to a file, in the order of their ids");
  auto arguments = std::make_shared<ExportArguments>();
  AddText(*command, "table", arguments->table, "The table's name")->required();
  AddText(*command, "file", arguments->file,
          "The file, replaced if it is there; - is standard output")
      ->required();
  AddChoice(
      *command, "--format", arguments->format, WriterFormats(),
      "The file's format; told by the ending of its name if not given. npy, safetensors, fvecs "
      "and faiss have the words in a second file, FILE.words.txt, tsv in FILE.metadata.tsv");
  AddChoice(
      *command, "--on-bad", arguments->on_bad, {"error", "skip"},
      "Stop at a word that the format can't hold, or leave it out and go on; stop if not given");
  command->add_flag("--normalize", arguments->normalize, "Scale vectors to length 1");
  command->callback([&context, arguments] {
    if (context.json && arguments->file == "-") {
      throw CLI::ValidationError("--json", "standard output can't hold both the rows and JSON");
    }
    context.command = [&context, arguments] { return Export(context, *arguments); };
  });
}

}  // namespace vectable
