#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "client/cli/commands.h"
#include "client/cli/model_arguments.h"
#include "client/cli/model_json.h"
#include "client/cli/model_text.h"
#include "common/status_util.h"
#include "sizing/model_file.h"
#include "sizing/model_report.h"
#include "sizing/presets.h"

namespace vectable {
namespace {

absl::StatusOr<ModelReport> PresetReport(const std::string& name, const MemoryOptions& options) {
  VT_ASSIGN_OR_RETURN(const ModelPreset* const preset, FindPreset(name));
  VT_ASSIGN_OR_RETURN(ModelReport report, ReportSpec(preset->spec, options));
  report.name = fmt::format("{} ({})", preset->name, preset->title);
  if (!preset->note.empty() && !options.window) report.notes.emplace_back(preset->note);
  return report;
}

absl::StatusOr<ModelReport> ShapeReport(const ModelArguments& arguments,
                                        const MemoryOptions& options) {
  VT_ASSIGN_OR_RETURN(const TransformerSpec spec, SpecFromFlags(arguments));
  VT_ASSIGN_OR_RETURN(ModelReport report, ReportSpec(spec, options));
  report.name =
      fmt::format("Transformer of {} layers, d {}", spec.layers + spec.cross_layers, spec.d);
  if (report.activation_bytes && !HeadsAreGiven(arguments)) {
    report.activation_bytes.reset();
    report.notes.emplace_back("an estimate of activations needs --heads");
  }
  return report;
}

absl::StatusOr<ModelReport> BareReport(const std::string& text, const MemoryOptions& options) {
  VT_ASSIGN_OR_RETURN(const uint64_t parameters, ParseModelNumber("--parameters", text));
  VT_ASSIGN_OR_RETURN(ModelReport report, ReportTotal(parameters, options));
  report.name = "A model of so many parameters";
  return report;
}

absl::StatusOr<ModelReport> MakeModelReport(const ModelArguments& arguments) {
  VT_ASSIGN_OR_RETURN(const MemoryOptions options, MemoryFromFlags(arguments));
  if (!arguments.preset.empty()) return PresetReport(arguments.preset, options);
  if (!arguments.config.empty()) return ReportConfigFile(arguments.config, options);
  if (!arguments.file.empty()) return ReportModelFile(arguments.file, options);
  if (!arguments.parameters.empty()) return BareReport(arguments.parameters, options);
  return ShapeReport(arguments, options);
}

absl::StatusOr<int> Model(CliContext& context, const ModelArguments& arguments) {
  VT_ASSIGN_OR_RETURN(const ModelReport report, MakeModelReport(arguments));
  if (context.json) {
    WriteJson(context.out(), ModelJson(report));
  } else {
    context.out() << ModelText(report, context.out_color());
  }
  return kExitOk;
}

}  // namespace

void AddModelCommand(CLI::App& app, CliContext& context) {
  CLI::App* model =
      app.add_subcommand("model", "Count a model's parameters and its memory; needs no server");
  auto arguments = std::make_shared<ModelArguments>();
  model->require_subcommand(0, 1);
  AddModelOptions(*model, *arguments);
  AddModelLayers(*model, context);
  model->callback([&context, model, arguments] {
    if (!model->get_subcommands().empty()) {
      if (AnyModelOption(*arguments)) {
        throw CLI::ValidationError("model", "a layer or list takes none of the model's options");
      }
      return;
    }
    CheckModelSource(*arguments);
    context.command = [&context, arguments] { return Model(context, *arguments); };
  });
}

}  // namespace vectable
