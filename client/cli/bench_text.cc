#include "client/cli/bench_text.h"

#include <fmt/format.h>

#include <cmath>

#include "client/proto_names.h"
#include "common/names.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

std::string IndexText(const BenchReport& report) {
  const int segments = report.table.segments_size();
  const uint64_t in_graphs = report.graph_rows();
  return fmt::format("{} segment{}, {}{}", segments, segments == 1 ? "" : "s",
                     in_graphs == 0
                         ? "no graph"
                         : fmt::format("{} of {} rows in graphs", WithThousands(in_graphs),
                                       WithThousands(report.table.rows())),
                     report.table.optimizing() ? ", being optimized" : "");
}

std::string RateText(double rate) {
  return rate < 100 ? fmt::format("{:.1f}", rate)
                    : WithThousands(static_cast<uint64_t>(std::llround(rate)));
}

std::string ExactText(const Measurement& measured) {
  if (measured.exact()) return "yes";
  if (measured.exact_queries == 0) return "no";
  return fmt::format("{} of {}", WithThousands(measured.exact_queries),
                     WithThousands(measured.queries));
}

// Why answers are exact although a recall was asked for.
std::string GraphNote(const BenchReport& report) {
  bool all_exact = true;
  bool scanned = false;  // all queries of a measurement that could have walked
  for (const Measurement& measured : report.measurements) {
    all_exact = all_exact && measured.exact();
    scanned = scanned || (measured.exact() && measured.asked_recall && *measured.asked_recall < 1);
  }
  if (all_exact && report.graph_rows() == 0) {
    return fmt::format(
        "Table {} has no graph, so every answer is exact, whatever recall is asked. 'vectable "
        "table\noptimize {} --wait' builds one, where a table has 16,384 rows or more.\n",
        Quoted(report.table.name()), report.table.name());
  }
  if (!scanned) return "";
  return "Exact where a recall was asked: no walk along the graph was measured to reach it, or a "
         "scan\ncosts less.\n";
}

}  // namespace

TextTable BenchHead(const BenchReport& report, const BenchOptions& options,
                    const std::string& server) {
  const v1::Table& table = report.table;
  TextTable out;
  out.AddColumn("Table");
  out.AddColumn(table.name());
  out.AddRow({"Rows", WithThousands(table.rows())});
  out.AddRow({"Dimensions", WithThousands(table.dimensions())});
  out.AddRow({"Metric", std::string(NameOf(table.metric()))});
  out.AddRow({"Precision", std::string(NameOf(table.precision()))});
  out.AddRow({"Index", IndexText(report)});
  out.AddRow({"Server", fmt::format("{}, version {}", server, report.server_version)});
  out.AddRow({"Queries", fmt::format("{} words of the table (seed {}), k = {}",
                                     WithThousands(report.queries), options.seed, options.k)});
  return out;
}

TextTable BenchTable(const BenchReport& report, const BenchOptions& options) {
  TextTable out;
  out.AddColumn("Asked");
  out.AddColumn("Calls");
  const std::string recall = fmt::format("Recall@{}", options.k);
  for (const char* title :
       {"Queries/s", "p50 ms", "p95 ms", "p99 ms", "Max ms", recall.c_str(), "Width", "Exact"}) {
    out.AddColumn(title, TextTable::Align::kRight);
  }
  for (const Measurement& measured : report.measurements) {
    const LatencySummary& latency = measured.latency;
    out.AddRow({measured.asked_text(), measured.calls_text(),
                RateText(measured.queries_per_second()), fmt::format("{:.3f}", latency.p50),
                fmt::format("{:.3f}", latency.p95), fmt::format("{:.3f}", latency.p99),
                fmt::format("{:.3f}", latency.max), fmt::format("{:.4f}", measured.recall),
                measured.width == 0 ? "-" : WithThousands(measured.width), ExactText(measured)});
  }
  return out;
}

std::string BenchNotes(const BenchReport& report) {
  std::string notes = GraphNote(report);
  if (report.queries_gone > 0) {
    notes += fmt::format("Sampled words that are gone from the table and were left out: {}.\n",
                         WithThousands(report.queries_gone));
  }
  if (report.rows_changed) {
    notes +=
        "The table was written to meanwhile; recall is against the rows as they were at the "
        "start.\n";
  }
  if (report.index_changed)
    notes += "The index was merged meanwhile: the figures mix both states.\n";
  return notes;
}

}  // namespace vectable
