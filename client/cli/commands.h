#pragma once

#include <CLI/CLI.hpp>

#include "client/cli/context.h"

namespace vectable {

// Each adds commands to `app`, whose parse sets context.command. The context must outlive the parse
// and the run of the command.
void AddTableCommands(CLI::App& app,
                      CliContext& context);  // table create, list, show, rename, drop
void AddImportCommand(CLI::App& app, CliContext& context);   // import
void AddExportCommand(CLI::App& app, CliContext& context);   // export
void AddPutCommand(CLI::App& app, CliContext& context);      // put
void AddRowCommands(CLI::App& app, CliContext& context);     // get, delete, words
void AddSearchCommands(CLI::App& app, CliContext& context);  // nearest, similarity
void AddSizeCommand(CLI::App& app, CliContext& context);     // size
void AddBenchCommand(CLI::App& app, CliContext& context);    // bench
void AddModelCommand(CLI::App& app, CliContext& context);    // model
void AddModelLayers(CLI::App& model,
                    CliContext& context);  // model linear, embedding, attention, presets
void AddSnapshotCommands(CLI::App& app, CliContext& context);  // snapshot create, list, delete
void AddInfoCommand(CLI::App& app, CliContext& context);       // info

// Names that --precision and --metric accept.
std::vector<std::string> PrecisionNames();
std::vector<std::string> MetricNames();

}  // namespace vectable
