#include <fmt/format.h>

#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/text_table.h"
#include "client/proto_names.h"
#include "common/limits.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

struct CreateArguments {
  std::string name;
  std::optional<uint64_t> dimensions;
  std::string precision = "fp32";
  std::string metric = "cosine";
  std::string dimension_names;
};

absl::StatusOr<int> CreateTable(CliContext& context, const CreateArguments& arguments) {
  v1::CreateTableRequest request;
  request.set_name(arguments.name);
  request.set_dimensions(static_cast<uint32_t>(*arguments.dimensions));
  request.set_precision(ToProto(*ParsePrecision(arguments.precision)));
  request.set_metric(ToProto(*ParseMetric(arguments.metric)));
  if (!arguments.dimension_names.empty()) {
    for (std::string& name : SplitAtCommas(arguments.dimension_names)) {
      request.add_dimension_names(std::move(name));
    }
  }
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_ASSIGN_OR_RETURN(const v1::Table table, client->CreateTable(request));
  if (context.json) {
    WriteJson(context.out(), TableJson(table));
  } else {
    context.out() << fmt::format("created table {}: {} dimensions, {}, {}\n", Quoted(table.name()),
                                 WithThousands(table.dimensions()), NameOf(table.precision()),
                                 NameOf(table.metric()));
  }
  return kExitOk;
}

absl::StatusOr<int> ListTables(CliContext& context) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_ASSIGN_OR_RETURN(const std::vector<v1::Table> tables, client->ListTables());
  if (context.json) {
    Json list = Json::array();
    for (const v1::Table& table : tables) list.push_back(TableJson(table));
    WriteJson(context.out(), {{"tables", std::move(list)}});
    return kExitOk;
  }
  TextTable out;
  out.AddColumn("Table");
  for (const char* title : {"Rows", "Dimensions", "Parameters"}) {
    out.AddColumn(title, TextTable::Align::kRight);
  }
  out.AddColumn("Precision");
  out.AddColumn("Metric");
  for (const v1::Table& table : tables) {
    out.AddRow({table.name(), WithThousands(table.rows()), WithThousands(table.dimensions()),
                WithThousands(table.parameters()), std::string(NameOf(table.precision())),
                std::string(NameOf(table.metric()))});
  }
  context.out() << out.Render(context.out_color());
  return kExitOk;
}

constexpr absl::Duration kOptimizePoll = absl::Milliseconds(100);

// The parts of the index, and the recall curve of the largest graph.
std::string SegmentsText(const v1::Table& table, bool color) {
  if (table.segments().empty()) return "";
  TextTable out;
  out.AddColumn("Segment");
  for (const char* title : {"Rows", "Dead rows"}) out.AddColumn(title, TextTable::Align::kRight);
  out.AddColumn("Searched by");
  const v1::Segment* largest = nullptr;
  for (int i = 0; i < table.segments_size(); ++i) {
    const v1::Segment& segment = table.segments(i);
    out.AddRow({fmt::format("{} ({})", i + 1, segment.sealed() ? "sealed" : "growing"),
                WithThousands(segment.rows()), WithThousands(segment.dead_rows()),
                segment.graph() ? "graph" : "scan"});
    if (segment.graph() && (largest == nullptr || segment.rows() > largest->rows())) {
      largest = &segment;
    }
  }
  std::string text = "\n" + out.Render(color);
  if (largest == nullptr) return text;
  TextTable curve;
  for (const char* title : {"Beam width", "Recall@10", "Recall@100"}) {
    curve.AddColumn(title, TextTable::Align::kRight);
  }
  for (const v1::RecallPoint& point : largest->recall()) {
    curve.AddRow({WithThousands(point.width()), fmt::format("{:.4f}", point.recall_at_10()),
                  fmt::format("{:.4f}", point.recall_at_100())});
  }
  return text + "\nMeasured recall of the largest graph\n" + curve.Render(color);
}

absl::StatusOr<int> ShowTable(CliContext& context, const std::string& name) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_ASSIGN_OR_RETURN(const v1::Table table, client->GetTable(name));
  if (context.json) {
    WriteJson(context.out(), WholeTableJson(table));
    return kExitOk;
  }
  TextTable out;
  out.AddColumn("Table");
  out.AddColumn(table.name());
  out.AddRow({"Rows", WithThousands(table.rows())});
  out.AddRow({"Dimensions", WithThousands(table.dimensions())});
  out.AddRow({"Parameters", WithThousands(table.parameters())});
  out.AddRow({"Precision", std::string(NameOf(table.precision()))});
  out.AddRow({"Metric", std::string(NameOf(table.metric()))});
  if (table.dimension_names_size() > 0) {
    out.AddRow({"Dimension names", fmt::format("{}", fmt::join(table.dimension_names(), ", "))});
  }
  out.AddRow({"Next row id", WithThousands(table.next_row_id())});
  out.AddRow({"Searchable", table.searchable() ? "yes"
                                               : fmt::format("not yet: {} of {} rows are loaded",
                                                             WithThousands(table.indexed_rows()),
                                                             WithThousands(table.rows()))});
  const absl::Time created = absl::FromUnixMicros(table.created_unix_micros());
  out.AddRow({"Created", absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", created, absl::UTCTimeZone())});
  context.out() << out.Render(context.out_color()) << SegmentsText(table, context.out_color());
  return kExitOk;
}

absl::StatusOr<int> OptimizeTable(CliContext& context, const std::string& name, bool wait) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_ASSIGN_OR_RETURN(v1::Table table, client->OptimizeTable(name));
  while (wait && table.optimizing()) {
    absl::SleepFor(kOptimizePoll);
    VT_ASSIGN_OR_RETURN(table, client->GetTable(name));
  }
  if (wait && !table.searchable()) {
    return absl::FailedPreconditionError(fmt::format(
        "table {} isn't optimized: its index could not be loaded; the server's log says why",
        Quoted(name)));
  }
  if (context.json) {
    WriteJson(context.out(), WholeTableJson(table));
  } else if (table.optimizing()) {
    context.out() << fmt::format("table {} is being optimized; 'table show' tells how it stands\n",
                                 Quoted(name));
  } else {
    context.out() << fmt::format("table {} is optimized\n", Quoted(name))
                  << SegmentsText(table, context.out_color());
  }
  return kExitOk;
}

absl::StatusOr<int> RenameTable(CliContext& context, const std::string& from, const std::string& to,
                                bool replace) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_ASSIGN_OR_RETURN(const v1::RenameTableResponse reply, client->RenameTable(from, to, replace));
  if (context.json) {
    Json json = TableJson(reply.table());
    json["replaced"] = reply.replaced();
    WriteJson(context.out(), json);
  } else {
    context.out() << fmt::format("table {} is now {}{}\n", Quoted(from), Quoted(to),
                                 reply.replaced() ? ", in place of the former one" : "");
  }
  return kExitOk;
}

absl::StatusOr<int> DropTable(CliContext& context, const std::string& name) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_ASSIGN_OR_RETURN(const v1::DropTableResponse dropped, client->DropTable(name));
  const auto& keepers = dropped.kept_by_snapshots();
  if (context.json) {
    Json kept = Json::array();
    for (const std::string& keeper : keepers) kept.push_back(keeper);
    WriteJson(context.out(), {{"dropped", name},
                              {"dropped_rows", dropped.dropped_rows()},
                              {"kept_by_snapshots", std::move(kept)}});
    return kExitOk;
  }
  context.out() << fmt::format("dropped table {} with {} rows\n", Quoted(name),
                               WithThousands(dropped.dropped_rows()));
  if (!keepers.empty()) {
    context.out() << fmt::format(
        "its disk is given back when these snapshots, which hold it, are deleted: {}\n",
        fmt::join(keepers, ", "));
  }
  return kExitOk;
}

void AddCreate(CLI::App& parent, CliContext& context) {
  CLI::App* app = parent.add_subcommand("create", "Create an empty table");
  auto arguments = std::make_shared<CreateArguments>();
  AddText(*app, "name", arguments->name, "The table's name: letters, digits, '_', '.', '-'")
      ->required();
  AddNumber(*app, "--dim", arguments->dimensions, "Values per vector, 1 to 65,536")->required();
  AddChoice(*app, "--precision", arguments->precision, PrecisionNames(),
            "How a value is stored; fp32 if not given");
  AddChoice(*app, "--metric", arguments->metric, MetricNames(),
            "What a score means; cosine if not given");
  AddText(*app, "--dim-names", arguments->dimension_names,
          "A name for each dimension, separated by commas: Object,Animal");
  app->callback([&context, arguments] {
    if (*arguments->dimensions < 1 || *arguments->dimensions > kMaxDimensions) {
      throw CLI::ValidationError("--dim", fmt::format("{} is not between 1 and {}",
                                                      *arguments->dimensions, kMaxDimensions));
    }
    context.command = [&context, arguments] { return CreateTable(context, *arguments); };
  });
}

}  // namespace

std::vector<std::string> PrecisionNames() {
  std::vector<std::string> names;
  for (const Precision precision : kAllPrecisions) names.emplace_back(PrecisionName(precision));
  return names;
}

std::vector<std::string> MetricNames() {
  std::vector<std::string> names;
  for (const Metric metric : {Metric::kCosine, Metric::kDot, Metric::kEuclidean}) {
    names.emplace_back(MetricName(metric));
  }
  return names;
}

void AddTableCommands(CLI::App& app, CliContext& context) {
  CLI::App* table =
      app.add_subcommand("table", "Create, list, show, optimize, rename and drop tables");
  table->require_subcommand(1);
  AddCreate(*table, context);

  CLI::App* list = table->add_subcommand("list", "List all tables");
  list->callback([&context] { context.command = [&context] { return ListTables(context); }; });

  auto name = std::make_shared<std::string>();
  CLI::App* show = table->add_subcommand("show", "Describe one table");
  AddText(*show, "name", *name, "The table's name")->required();
  show->callback([&context, name] {
    context.command = [&context, name] { return ShowTable(context, *name); };
  });

  auto wait = std::make_shared<bool>(false);
  CLI::App* optimize = table->add_subcommand(
      "optimize", "Merge a table's index into as few parts as there can be, with graphs");
  AddText(*optimize, "name", *name, "The table's name")->required();
  optimize->add_flag("--wait", *wait, "Return when the work is done; else it goes on by itself");
  optimize->callback([&context, name, wait] {
    context.command = [&context, name, wait] { return OptimizeTable(context, *name, *wait); };
  });

  auto to = std::make_shared<std::string>();
  auto replace = std::make_shared<bool>(false);
  CLI::App* rename = table->add_subcommand("rename", "Give a table another name");
  AddText(*rename, "name", *name, "The table's name")->required();
  AddText(*rename, "new-name", *to, "The name it shall have")->required();
  rename->add_flag("--replace", *replace,
                   "Take the place of a table of that name, which is dropped in the same step");
  rename->callback([&context, name, to, replace] {
    context.command = [&context, name, to, replace] {
      return RenameTable(context, *name, *to, *replace);
    };
  });

  CLI::App* drop = table->add_subcommand("drop", "Drop a table with all its rows");
  AddText(*drop, "name", *name, "The table's name")->required();
  drop->callback([&context, name] {
    context.command = [&context, name] { return DropTable(context, *name); };
  });
}

}  // namespace vectable
