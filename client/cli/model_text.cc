#include "client/cli/model_text.h"

#include <fmt/format.h>

#include "client/cli/display.h"
#include "common/precision.h"
#include "common/status_util.h"
#include "sizing/footprint.h"
#include "sizing/presets.h"

namespace vectable {
namespace {

std::string Share(uint64_t part, uint64_t total) {
  if (total == 0) return "";
  return fmt::format("{:.2f} %", 100 * static_cast<double>(part) / static_cast<double>(total));
}

std::vector<NamedCount> PartCounts(const ParameterParts& parts) {
  std::vector<NamedCount> counts = {
      {"Embedding", parts.embedding}, {"Positions", parts.positions},
      {"Attention", parts.attention}, {"MLP", parts.mlp},
      {"Norm", parts.norm},           {"Head", parts.head},
  };
  if (parts.other > 0) counts.push_back({"Other", parts.other});
  return counts;
}

std::string Estimated(uint64_t total, double error_percent) {
  return fmt::format("{} ({:+.2f} %)", WithThousands(total), error_percent);
}

TextTable FactsTable(const ModelReport& report) {
  TextTable table;
  table.AddColumn("Also");
  table.AddColumn("Parameters");
  const auto row = [&table](const char* name, const std::optional<uint64_t>& count) {
    if (count) table.AddRow({name, WithThousands(*count)});
  };
  row("One layer", report.per_layer);
  row("One layer with cross-attention", report.per_cross_layer);
  row("Without embedding, positions, head", report.non_embedding);
  row("Active for one token", report.active);
  if (report.rule) {
    table.AddRow({"Rule of thumb V d + 12 L d^2, an estimate",
                  Estimated(report.rule->total, report.rule->error_percent)});
    if (report.rule->untied) {
      table.AddRow({"The same with an untied head, an estimate",
                    Estimated(report.rule->total_with_head, report.rule->error_percent_with_head)});
    }
  }
  return table;
}

void AddKvRows(const KvCacheReport& cache, TextTable& table) {
  const std::string precision(PrecisionName(cache.precision));
  table.AddRow({fmt::format("Key-value cache, {}, one token", precision),
                FormatBytes(cache.bytes_per_token)});
  if (!cache.bytes) return;
  const std::string window =
      cache.window ? fmt::format(", window {}", WithThousands(*cache.window)) : "";
  table.AddRow({fmt::format("Key-value cache, {}, {} tokens x batch {}{}", precision,
                            WithThousands(*cache.tokens), WithThousands(cache.batch), window),
                FormatBytes(*cache.bytes)});
}

void AddTrainingRows(const ModelReport& report, TextTable& table) {
  const std::string name(report.convention->name);
  table.AddRow({"Training, " + name + ": weights", FormatBytes(report.training->weights)});
  table.AddRow({"Training, " + name + ": gradients", FormatBytes(report.training->gradients)});
  table.AddRow({"Training, " + name + ": optimizer", FormatBytes(report.training->optimizer)});
  table.AddRow({"Training, " + name + ": total", FormatBytes(report.training->total)});
}

bool HasMemory(const ModelReport& report) {
  return report.kv_cache || report.training || report.zero3_bytes_per_gpu ||
         report.activation_bytes;
}

TextTable MemoryTable(const ModelReport& report) {
  TextTable table;
  table.AddColumn("Memory");
  table.AddColumn("Bytes");
  if (report.kv_cache) AddKvRows(*report.kv_cache, table);
  if (report.training) AddTrainingRows(report, table);
  if (report.zero3_bytes_per_gpu) {
    table.AddRow(
        {"Training, ZeRO-3, on each GPU, an estimate", FormatBytes(*report.zero3_bytes_per_gpu)});
  }
  if (report.activation_bytes) {
    table.AddRow({"Activations for training at 16 bits, an estimate",
                  FormatBytes(*report.activation_bytes)});
  }
  return table;
}

// What a file stores, per type.
TextTable TypesTable(const TensorSummary& summary) {
  TextTable table;
  table.AddColumn("Type");
  table.AddColumn("Tensors", TextTable::Align::kRight);
  table.AddColumn("Elements", TextTable::Align::kRight);
  table.AddColumn("Bits each", TextTable::Align::kRight);
  table.AddColumn("Bytes stored");
  for (const auto& [name, totals] : summary.types) {
    const double bits = totals.elements == 0 ? 0
                                             : 8 * static_cast<double>(totals.bytes) /
                                                   static_cast<double>(totals.elements);
    table.AddRow({name, WithThousands(totals.tensors), WithThousands(totals.elements),
                  fmt::format("{:.4g}", bits), FormatBytes(totals.bytes)});
  }
  table.SetFooter("Total",
                  fmt::format("{} tensors in {} {}, {}", WithThousands(summary.all.tensors),
                              WithThousands(summary.files), summary.files == 1 ? "file" : "files",
                              FormatBytes(summary.all.bytes)));
  return table;
}

std::string PackedText(const PackedTotals& packed) {
  std::string schemes;
  for (const std::string& scheme : packed.schemes)
    schemes += (schemes.empty() ? "" : ", ") + scheme;
  const std::string decoded =
      packed.undecoded > 0
          ? ", of which the header doesn't tell how many parameters they hold"
          : fmt::format(" that decode to {} parameters", WithThousands(packed.parameters));
  return fmt::format("Packed weights ({}): {} tensors{}, with their scales {}\n", schemes,
                     WithThousands(packed.tensors), decoded, FormatBytes(packed.bytes));
}

std::string FileText(const TensorSummary& summary, bool bold) {
  std::string text = "\n" + TypesTable(summary).Render(bold);
  if (summary.packed.tensors > 0) text += "\n" + PackedText(summary.packed);
  return text;
}

}  // namespace

TextTable CountsTable(const std::string& title, const std::vector<NamedCount>& counts,
                      uint64_t total) {
  TextTable table;
  table.AddColumn(title);
  table.AddColumn("Parameters", TextTable::Align::kRight);
  table.AddColumn("Share", TextTable::Align::kRight);
  for (const NamedCount& part : counts) {
    table.AddRow({part.name, WithThousands(part.count), Share(part.count, total)});
  }
  table.SetFooter("Total", WithThousands(total) + " Parameters");
  return table;
}

TextTable WeightsTable(const std::vector<WeightsEntry>& weights) {
  TextTable table;
  table.AddColumn("Precision");
  table.AddColumn("Bytes of the weights alone");
  for (const WeightsEntry& entry : weights) {
    table.AddRow({std::string(PrecisionName(entry.precision)), FormatBytes(entry.bytes)});
  }
  return table;
}

std::string ModelText(const ModelReport& report, bool bold) {
  std::string text = Printable(report.name) + "\n\n";
  if (report.parts) {
    text += CountsTable("Part", PartCounts(*report.parts), report.total).Render(bold) + "\n";
  } else {
    text += (report.at_least ? "At least " : "") + WithThousands(report.total) + " Parameters\n\n";
  }
  if (report.rule) text += FactsTable(report).Render(bold) + "\n";
  if (!report.weights.empty()) text += WeightsTable(report.weights).Render(bold);
  if (report.tensors) text += FileText(*report.tensors, bold);
  if (HasMemory(report)) text += "\n" + MemoryTable(report).Render(bold);
  if (!report.notes.empty()) text += "\n";
  for (const std::string& note : report.notes) text += "Note: " + Printable(note) + "\n";
  return text;
}

absl::StatusOr<TextTable> PresetsTable() {
  TextTable table;
  table.AddColumn("Preset");
  table.AddColumn("Parameters", TextTable::Align::kRight);
  table.AddColumn("Model");
  for (const ModelPreset& preset : AllPresets()) {
    VT_ASSIGN_OR_RETURN(const ParameterCounts counts, CountParameters(preset.spec));
    table.AddRow(
        {std::string(preset.name), WithThousands(counts.total), std::string(preset.title)});
  }
  return table;
}

}  // namespace vectable
