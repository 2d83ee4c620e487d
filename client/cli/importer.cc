#include "client/cli/importer.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "client/formats/open_reader.h"
#include "client/proto_names.h"
#include "common/names.h"
#include "common/status_util.h"
#include "common/vector_codec.h"
#include "common/vector_math.h"

namespace vectable {
namespace {

constexpr size_t kRejectionsTold = 20;

Metric MetricOf(const v1::Table& table) {
  return ParseMetric(NameOf(table.metric())).value_or(Metric::kCosine);
}

Precision PrecisionOf(const v1::Table& table) {
  return ParsePrecision(NameOf(table.precision())).value_or(Precision::kFp32);
}

absl::Status Differs(const v1::Table& table, std::string_view what, std::string_view has,
                     std::string_view wanted) {
  return absl::FailedPreconditionError(
      fmt::format("table {} exists with {} {}; the import asks for {}", Quoted(table.name()), what,
                  has, wanted));
}

// Whether rows of the file can go into the table that is there.
absl::Status CheckTable(const v1::Table& table, const ImportOptions& options,
                        const VectorReader& reader) {
  if (table.dimensions() != reader.dimensions()) {
    return absl::FailedPreconditionError(fmt::format(
        "table {} has {} dimensions, but {} has {} values per row (expected {}, found {})",
        Quoted(table.name()), table.dimensions(), options.file, reader.dimensions(),
        table.dimensions(), reader.dimensions()));
  }
  if (options.precision && ToProto(*options.precision) != table.precision()) {
    return Differs(table, "precision", NameOf(table.precision()),
                   PrecisionName(*options.precision));
  }
  if (options.metric && ToProto(*options.metric) != table.metric()) {
    return Differs(table, "metric", NameOf(table.metric()), MetricName(*options.metric));
  }
  const std::vector<std::string> names(table.dimension_names().begin(),
                                       table.dimension_names().end());
  if (!options.dimension_names.empty() && options.dimension_names != names) {
    return Differs(table, "dimension names", fmt::format("'{}'", fmt::join(names, ",")),
                   fmt::format("'{}'", fmt::join(options.dimension_names, ",")));
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Table> CreateFor(Client& client, const ImportOptions& options,
                                    const VectorReader& reader) {
  v1::CreateTableRequest request;
  request.set_name(options.table);
  request.set_dimensions(reader.dimensions());
  request.set_precision(ToProto(options.precision.value_or(Precision::kFp32)));
  request.set_metric(ToProto(options.metric.value_or(Metric::kCosine)));
  for (const std::string& name : options.dimension_names) request.add_dimension_names(name);
  return client.CreateTable(request);
}

// One run of an import.
class ImportRun {
 public:
  ImportRun(const ImportOptions& options, const ImportHooks& hooks, VectorReader& reader,
            const v1::Table& table, RowUploader& uploader, ImportSummary& summary)
      : options_(options),
        hooks_(hooks),
        reader_(reader),
        metric_(MetricOf(table)),
        codec_(PrecisionOf(table), reader.dimensions()),
        uploader_(uploader),
        summary_(summary) {}

  // Reads and sends all rows, and waits for the last acknowledgement.
  absl::Status Run() {
    const absl::Status read = ReadRows();
    const absl::Status sent =
        read.ok() && !summary_.interrupted ? uploader_.Finish() : uploader_.Abandon();
    Count();
    return sent.ok() ? read : sent;
  }

 private:
  absl::Status ReadRows() {
    VectorRow row;
    while (!options_.limit || summary_.rows_read < *options_.limit) {
      if (Interrupted()) return absl::OkStatus();
      const absl::StatusOr<bool> more = reader_.Next(row);
      if (more.ok() && !*more) return absl::OkStatus();
      if (!more.ok() && Interrupted()) return absl::OkStatus();
      if (!more.ok() && !absl::IsInvalidArgument(more.status())) return more.status();
      ++summary_.rows_read;
      const absl::Status bad = more.ok() ? CheckRow(row) : more.status();
      if (bad.ok()) {
        VT_RETURN_IF_ERROR(uploader_.Add(row.word, row.vector, row.line));
      } else if (options_.skip_bad) {
        Reject(std::string(bad.message()));
      } else {
        return bad;
      }
      if (hooks_.on_row) hooks_.on_row(summary_.rows_read, reader_);
    }
    return absl::OkStatus();
  }

  bool Interrupted() {
    if (hooks_.interrupted && hooks_.interrupted()) summary_.interrupted = true;
    return summary_.interrupted;
  }

  // What the server would refuse, seen here because here the line is known.
  absl::Status CheckRow(const VectorRow& row) {
    codes_.clear();
    // Only at 16 bits a value can be out of range: the other precisions needn't be tried.
    const absl::Status bad = BitsPerComponent(codec_.precision()) == 16
                                 ? EncodeRowVector(codec_, metric_, row.vector, codes_)
                                 : CheckVector(row.vector, reader_.dimensions(), metric_);
    if (bad.ok()) return bad;
    return Annotate(bad, fmt::format("{}: word {}", reader_.Position(row.line), Quoted(row.word)));
  }

  void Reject(const std::string& message) {
    if (rejected_here_++ < kRejectionsTold && hooks_.on_rejected) hooks_.on_rejected(message);
  }

  void Count() {
    const UploadCounts counts = uploader_.counts();
    summary_.inserted = counts.inserted;
    summary_.replaced = counts.replaced;
    summary_.rejected = counts.rejected + rejected_here_;
    for (const Rejection& rejection : counts.rejections) {
      if (!hooks_.on_rejected) break;
      hooks_.on_rejected(fmt::format("{}: word {}: {}", reader_.Position(rejection.position),
                                     Quoted(rejection.word), rejection.reason));
    }
  }

  const ImportOptions& options_;
  const ImportHooks& hooks_;
  VectorReader& reader_;
  const Metric metric_;
  const VectorCodec codec_;
  std::string codes_;
  RowUploader& uploader_;
  ImportSummary& summary_;
  uint64_t rejected_here_ = 0;
};

}  // namespace

absl::Status ImportFile(Client& client, const ImportOptions& options, const ImportHooks& hooks,
                        ImportSummary& summary) {
  absl::StatusOr<v1::Table> table = client.GetTable(options.table);
  if (!table.ok() && !absl::IsNotFound(table.status())) return table.status();
  GloveOptions layout;
  if (options.dimensions) layout.dimensions = static_cast<uint32_t>(*options.dimensions);
  if (table.ok()) layout.likely_dimensions = table->dimensions();
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<VectorReader> reader,
                      OpenVectorReader(options.file, options.format, layout));
  if (table.ok()) {
    VT_RETURN_IF_ERROR(CheckTable(*table, options, *reader));
  } else {
    table = CreateFor(client, options, *reader);
    VT_RETURN_IF_ERROR(table.status());
    summary.created = true;
  }
  if (hooks.on_open) hooks.on_open(*reader);
  UploadOptions upload;
  upload.table = options.table;
  upload.on_bad = options.skip_bad ? v1::ON_BAD_SKIP : v1::ON_BAD_ERROR;
  upload.stall_timeout = client.options().timeout;
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<RowUploader> uploader, client.Upload(upload));
  return ImportRun(options, hooks, *reader, *table, *uploader, summary).Run();
}

}  // namespace vectable
