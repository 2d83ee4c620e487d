#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/interrupt.h"
#include "client/cli/json_output.h"
#include "client/cli/progress.h"
#include "client/cli/size_text.h"
#include "client/proto_names.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/advice.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

struct SizeArguments {
  std::string table;
  bool measure = false;
  std::optional<uint64_t> queries;
  std::string budget;
  PrecisionGoal goal;

  bool asks_advice() const { return goal.budget || goal.recall; }
};

absl::StatusOr<v1::PrecisionCosts> Measure(CliContext& context, Client& client,
                                           const SizeArguments& arguments) {
  const InterruptGuard interrupt;
  Progress progress(context.err(), context.err_is_terminal(), std::nullopt);
  v1::MeasurePrecisionsRequest request;
  request.set_table(arguments.table);
  request.set_queries(static_cast<uint32_t>(arguments.queries.value_or(0)));
  return client.MeasurePrecisions(request, [&progress](uint64_t done, uint64_t steps) {
    progress.UpdateSteps(done, steps);
    return InterruptGuard::interrupted() ? absl::CancelledError("interrupted") : absl::OkStatus();
  });
}

std::optional<PrecisionOption> AdviseFrom(const v1::PrecisionCosts& costs,
                                          const PrecisionGoal& goal) {
  std::vector<PrecisionOption> options;
  for (const v1::PrecisionCost& cost : costs.costs()) {
    if (const auto precision = ParsePrecision(NameOf(cost.precision()))) {
      options.push_back(
          {*precision, cost.stored_bytes(), cost.recall_at_10(), cost.rows_refused()});
    }
  }
  return Advise(options, goal);
}

std::string GoalText(const PrecisionGoal& goal) {
  std::string text;
  if (goal.recall) text += fmt::format("a recall@10 of {:g}", *goal.recall);
  if (goal.recall && goal.budget) text += " and ";
  if (goal.budget) text += "a budget of " + FormatBytes(*goal.budget);
  return text;
}

std::string AdviceText(const PrecisionGoal& goal, const PrecisionOption& advice) {
  return fmt::format("Take {} for {}: recall@10 {:.4f}, {}.\n", PrecisionName(advice.precision),
                     GoalText(goal), advice.recall, FormatBytes(advice.bytes));
}

Json AdviceJson(const PrecisionGoal& goal, const std::optional<PrecisionOption>& advice) {
  Json json;
  json["budget_bytes"] = goal.budget ? Json(*goal.budget) : Json(nullptr);
  json["recall"] = goal.recall ? Json(*goal.recall) : Json(nullptr);
  json["precision"] = advice ? Json(std::string(PrecisionName(advice->precision))) : Json(nullptr);
  return json;
}

absl::StatusOr<std::vector<v1::Row>> FirstRows(Client& client,
                                               const v1::ReportTableResponse& report) {
  v1::ScanRequest request;
  request.set_table(report.table());
  request.set_include_vectors(true);
  request.set_limit(RowsShown(report));
  std::vector<v1::Row> rows;
  VT_RETURN_IF_ERROR(client.Scan(request, [&rows](const v1::Row& row) {
    rows.push_back(row);
    return absl::OkStatus();
  }));
  return rows;
}

// Says so where advice was asked for and there is none.
int EndWith(CliContext& context, const SizeArguments& arguments,
            const std::optional<PrecisionOption>& advice) {
  if (!arguments.asks_advice() || advice) return kExitOk;
  context.PrintError(fmt::format("table {}: no precision meets {}", Quoted(arguments.table),
                                 GoalText(arguments.goal)));
  return kExitError;
}

absl::StatusOr<int> Size(CliContext& context, const SizeArguments& arguments) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_ASSIGN_OR_RETURN(const v1::ReportTableResponse report, client->ReportTable(arguments.table));
  std::optional<v1::PrecisionCosts> costs;
  std::optional<PrecisionOption> advice;
  if (arguments.measure || arguments.asks_advice()) {
    VT_ASSIGN_OR_RETURN(costs, Measure(context, *client, arguments));
    if (arguments.asks_advice()) advice = AdviseFrom(*costs, arguments.goal);
  }
  if (context.json) {
    Json json = ReportJson(report);
    if (costs) json["precision_costs"] = CostsJson(*costs);
    if (arguments.asks_advice()) json["advice"] = AdviceJson(arguments.goal, advice);
    WriteJson(context.out(), json);
    return EndWith(context, arguments, advice);
  }
  VT_ASSIGN_OR_RETURN(const std::vector<v1::Row> rows, FirstRows(*client, report));
  context.out() << SizeTable(report, rows).Render(context.out_color()) << "\n"
                << BytesTable(report).Render(context.out_color()) << "\n"
                << MeasuredTable(report).Render(context.out_color());
  if (costs) {
    context.out() << "\n" << CostsTable(*costs).Render(context.out_color()) << CostsNotes(*costs);
  }
  if (advice) context.out() << "\n" << AdviceText(arguments.goal, *advice);
  return EndWith(context, arguments, advice);
}

void ReadArguments(SizeArguments& arguments) {
  if (!arguments.budget.empty()) {
    const absl::StatusOr<uint64_t> bytes = ParseBytes(arguments.budget);
    if (!bytes.ok()) {
      throw CLI::ValidationError("--budget", std::string(bytes.status().message()));
    }
    arguments.goal.budget = *bytes;
  }
  const std::optional<double>& recall = arguments.goal.recall;
  if (recall && !(*recall > 0 && *recall <= 1)) {
    throw CLI::ValidationError("--recall",
                               fmt::format("{:g} is not above 0 and at most 1", *recall));
  }
  if (arguments.queries && (*arguments.queries < 1 || *arguments.queries > UINT32_MAX)) {
    throw CLI::ValidationError("--queries",
                               fmt::format("{} is not 1 to {}", *arguments.queries, UINT32_MAX));
  }
}

}  // namespace

void AddSizeCommand(CLI::App& app, CliContext& context) {
  CLI::App* size = app.add_subcommand(
      "size",
      "Show what a table weighs: parameters, bytes per precision, and what it takes in truth");
  auto arguments = std::make_shared<SizeArguments>();
  AddText(*size, "table", arguments->table, "The table's name")->required();
  size->add_flag("--measure", arguments->measure,
                 "Measure what each precision would cost in answers; the table isn't changed");
  AddNumber(*size, "--queries", arguments->queries,
            "Rows to measure with, chosen by a hash of their ids; 1,000 if not given");
  AddText(*size, "--budget", arguments->budget,
          "Measure, and name the precision with the best recall@10 that fits into so many bytes "
          "(50MB, 1.5GiB)");
  AddNumber(*size, "--recall", arguments->goal.recall,
            "Measure, and name the smallest precision with at least this recall@10 (0.95)");
  size->callback([&context, arguments] {
    ReadArguments(*arguments);
    context.command = [&context, arguments] { return Size(context, *arguments); };
  });
}

}  // namespace vectable
