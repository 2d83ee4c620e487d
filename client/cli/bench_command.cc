#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/cli/arguments.h"
#include "client/cli/bench_json.h"
#include "client/cli/bench_run.h"
#include "client/cli/bench_text.h"
#include "client/cli/commands.h"
#include "client/cli/interrupt.h"
#include "client/cli/progress.h"
#include "common/limits.h"
#include "common/status_util.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

constexpr uint64_t kMostBenchQueries = 10'000;
constexpr uint64_t kMostInFlight = 256;  // each is a thread
constexpr double kMostSeconds = 600;

constexpr const char* kBenchNotes =
    R"(Queries are words of the table and are asked by word: a word is no hit of its own, and a
call carries no vector. Rows of a table find their neighbours by their own links, so that
other vectors may find a little less. Times are those of calls as this program sees them;
for a batch, of the whole batch. Recall counts a hit that scores no less than the k-th
true neighbour. The table isn't changed.)";

struct BenchArguments {
  BenchOptions options;
  std::optional<uint64_t> queries, seed, k, batch, concurrency;
  std::optional<double> seconds;
  std::string recalls;
};

absl::StatusOr<int> Bench(CliContext& context, const BenchOptions& options) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  absl::StatusOr<BenchReport> report;
  {
    const InterruptGuard guard;
    Progress progress(context.err(), context.err_is_terminal(), std::nullopt);
    BenchHooks hooks;
    hooks.interrupted = InterruptGuard::interrupted;
    hooks.progress = [&progress](uint64_t done, uint64_t steps) {
      progress.UpdateSteps(done, steps);
    };
    report = RunBench(*client, options, hooks);
  }
  if (absl::IsCancelled(report.status())) {
    context.PrintError("interrupted; nothing is reported");
    return kExitInterrupted;
  }
  VT_RETURN_IF_ERROR(report.status());
  if (context.json) {
    WriteJson(context.out(), BenchJson(*report, options, context.server));
    return kExitOk;
  }
  context.out() << BenchHead(*report, options, context.server).Render(context.out_color()) << "\n"
                << BenchTable(*report, options).Render(context.out_color());
  const std::string notes = BenchNotes(*report);
  if (!notes.empty()) context.out() << "\n" << notes;
  return kExitOk;
}

// Puts a number that was given into `out`.
template <typename Out>
void TakeCount(const std::string& name, const std::optional<uint64_t>& given, uint64_t most,
               Out& out) {
  if (!given) return;
  if (*given < 1 || *given > most) {
    throw CLI::ValidationError(
        name, fmt::format("{} is not between 1 and {}", *given, WithThousands(most)));
  }
  out = static_cast<Out>(*given);
}

void ReadBenchArguments(BenchArguments& arguments) {
  BenchOptions& options = arguments.options;
  const Limits limits;
  TakeCount("--queries", arguments.queries, kMostBenchQueries, options.queries);
  TakeCount("-k", arguments.k, limits.max_k, options.k);
  TakeCount("--batch", arguments.batch, limits.max_queries, options.batch);
  TakeCount("--concurrency", arguments.concurrency, kMostInFlight, options.concurrency);
  options.seed = arguments.seed.value_or(options.seed);
  if (arguments.seconds) {
    if (!(*arguments.seconds >= 0 && *arguments.seconds <= kMostSeconds)) {
      throw CLI::ValidationError("--seconds", fmt::format("{:g} is not between 0 and {:g}",
                                                          *arguments.seconds, kMostSeconds));
    }
    options.time = absl::Seconds(*arguments.seconds);
  }
  if (arguments.recalls.empty()) return;
  options.recalls = ParseNumbers("--recall", arguments.recalls);
  for (const double recall : options.recalls) {
    if (recall > 0 && recall <= 1) continue;
    throw CLI::ValidationError("--recall", fmt::format("{:g} isn't over 0 and up to 1", recall));
  }
}

}  // namespace

void AddBenchCommand(CLI::App& app, CliContext& context) {
  CLI::App* bench = app.add_subcommand(
      "bench", "Measure recall against speed of searches in a table, with its own words");
  auto arguments = std::make_shared<BenchArguments>();
  AddText(*bench, "table", arguments->options.table, "The table's name")->required();
  AddNumber(*bench, "--queries", arguments->queries,
            "Words to ask for, chosen at random, 1 to 10,000; 1,000 if not given");
  AddNumber(*bench, "--seed", arguments->seed,
            "Chooses them: the same words for the same seed and table; 1 if not given");
  AddNumber(*bench, "-k,--k", arguments->k, "Hits per query, 1 to 10,000; 10 if not given");
  AddText(*bench, "--recall", arguments->recalls,
          "Recalls to ask for, each over 0 and up to 1, separated by commas; "
          "0.9,0.95,0.98,0.99 if not given");
  AddNumber(*bench, "--seconds", arguments->seconds,
            "How long one measurement takes, 0 to 600, and longer until each query was asked "
            "where answers aren't exact; 2 if not given");
  AddNumber(*bench, "--batch", arguments->batch,
            "Queries per call where there are batches, 1 to 1,000; 100 if not given");
  AddNumber(*bench, "--concurrency", arguments->concurrency,
            "Calls in flight where there are several, 1 to 256; 4 if not given");
  bench->footer(kBenchNotes);
  bench->callback([&context, arguments] {
    ReadBenchArguments(*arguments);
    context.command = [&context, arguments] { return Bench(context, arguments->options); };
  });
}

}  // namespace vectable
