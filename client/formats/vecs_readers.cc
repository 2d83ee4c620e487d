#include <fmt/format.h>

#include <utility>

#include "client/formats/formats.h"
#include "client/formats/matrix_reader.h"
#include "common/status_util.h"

namespace vectable {
namespace {

uint64_t UnsignedLe(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

// Reads `bytes` bytes that a header must have.
absl::StatusOr<std::string> TakeBytes(ByteSource& source, size_t bytes) {
  std::string taken(bytes, '\0');
  VT_ASSIGN_OR_RETURN(const size_t got, source.ReadFull(taken));
  if (got == bytes) return taken;
  VT_RETURN_IF_ERROR(source.CheckEnds());
  return absl::DataLossError(
      fmt::format("byte {}: the file ends within its header", source.offset()));
}

// Rows that each begin with their number of values.
class VecsRows final : public MatrixRows {
 public:
  VecsRows(std::unique_ptr<ByteSource> bytes, const MatrixLayout& layout)
      : bytes_(std::move(bytes)),
        layout_(layout),
        row_(4 + layout.dimensions * layout.type.bytes(), '\0') {}

  absl::StatusOr<bool> Next(std::span<float> row) override {
    const uint64_t begin = bytes_->offset();
    const absl::StatusOr<size_t> got = bytes_->ReadFull(row_);
    if (!got.ok()) {
      return absl::Status(got.status().code(), fmt::format("byte {}: {}", bytes_->offset(),
                                                           std::string(got.status().message())));
    }
    if (*got == 0) return false;
    const uint64_t count = *got < 4 ? layout_.dimensions : UnsignedLe(row_.substr(0, 4));
    if (count != layout_.dimensions) {
      return absl::DataLossError(
          fmt::format("byte {}: a row of another number of values than those before (expected {}, "
                      "found {})",
                      begin, layout_.dimensions, count));
    }
    if (*got < row_.size()) {
      VT_RETURN_IF_ERROR(Annotate(bytes_->CheckEnds(), fmt::format("byte {}", bytes_->offset())));
      return absl::DataLossError(
          fmt::format("byte {}: the file ends within a row (expected {} bytes, found {})",
                      begin + *got, row_.size(), *got));
    }
    VT_RETURN_IF_ERROR(DecodeElements(layout_.type, std::string_view(row_).substr(4), row));
    return true;
  }

  uint64_t bytes_read() const override { return bytes_->bytes_read(); }
  std::optional<uint64_t> total_bytes() const override { return bytes_->total_bytes(); }

 private:
  const std::unique_ptr<ByteSource> bytes_;
  const MatrixLayout layout_;
  std::string row_;
};

absl::StatusOr<std::unique_ptr<VectorReader>> OpenVecs(std::unique_ptr<ByteSource> bytes,
                                                       const ReadOptions& options,
                                                       ElementType::Kind kind,
                                                       const std::string& format) {
  const std::string name = bytes->name();
  const absl::StatusOr<std::string_view> start = bytes->Peek(4);
  if (!start.ok()) return Annotate(start.status(), name);
  MatrixLayout layout;
  layout.dimensions = start->size() < 4 ? 0 : UnsignedLe(*start);
  layout.type.kind = kind;
  VT_RETURN_IF_ERROR(Annotate(CheckLayout(layout), name));
  const uint64_t row_bytes = 4 + layout.dimensions * layout.type.bytes();
  if (const std::optional<uint64_t> size = bytes->unpacked_bytes()) {
    if (*size % row_bytes != 0) {
      return absl::DataLossError(fmt::format(
          "{}: ends within a row: {} bytes are no whole number of rows of {} values (expected a "
          "multiple of {}, found {} more)",
          name, *size, layout.dimensions, row_bytes, *size % row_bytes));
    }
    layout.rows = *size / row_bytes;
  }
  VT_ASSIGN_OR_RETURN(std::unique_ptr<WordList> words, WordsFor(bytes->path(), options));
  return MatrixReader::Create(
      name, format, layout, std::make_unique<VecsRows>(std::move(bytes), layout), std::move(words));
}

absl::StatusOr<MatrixLayout> ReadFbinHeader(ByteSource& bytes) {
  VT_ASSIGN_OR_RETURN(const std::string header, TakeBytes(bytes, 8));
  MatrixLayout layout;
  layout.rows = UnsignedLe(std::string_view(header).substr(0, 4));
  layout.dimensions = UnsignedLe(std::string_view(header).substr(4));
  return layout;
}

// faiss/impl/index_write.cpp: the kind, d (i32), ntotal (i64), two numbers that nothing uses (i64),
// is_trained (u8), metric_type (i32), metric_arg (f32) for others than the two usual ones, then the
// number of the codes (u64) in floats or, since FAISS 1.7, in units of 4 bytes, and they.
absl::StatusOr<MatrixLayout> ReadFaissHeader(ByteSource& bytes) {
  VT_ASSIGN_OR_RETURN(const std::string kind, TakeBytes(bytes, 4));
  if (kind != "IxFI" && kind != "IxF2" && kind != "IxFl") {
    return absl::InvalidArgumentError(
        fmt::format("an index of FAISS of a kind that isn't read (expected IndexFlat: IxFI, IxF2 "
                    "or IxFl, found "
                    "{})",
                    kind));
  }
  VT_ASSIGN_OR_RETURN(const std::string header, TakeBytes(bytes, 33));
  const std::string_view fields(header);
  MatrixLayout layout;
  layout.dimensions = UnsignedLe(fields.substr(0, 4));
  layout.rows = UnsignedLe(fields.substr(4, 8));
  if (UnsignedLe(fields.substr(29, 4)) > 1) VT_RETURN_IF_ERROR(TakeBytes(bytes, 4).status());
  VT_RETURN_IF_ERROR(CheckLayout(layout));
  VT_ASSIGN_OR_RETURN(const std::string count, TakeBytes(bytes, 8));
  if (UnsignedLe(count) != *layout.rows * layout.dimensions) {
    return absl::DataLossError(
        fmt::format("the index speaks of {} rows of {} values and holds {} values (expected {}, "
                    "found {})",
                    *layout.rows, layout.dimensions, UnsignedLe(count),
                    *layout.rows * layout.dimensions, UnsignedLe(count)));
  }
  return layout;
}

absl::StatusOr<std::unique_ptr<VectorReader>> OpenCounted(
    std::unique_ptr<ByteSource> bytes, const ReadOptions& options, const std::string& format,
    absl::StatusOr<MatrixLayout> (*read_header)(ByteSource&)) {
  const std::string name = bytes->name();
  absl::StatusOr<MatrixLayout> layout = read_header(*bytes);
  if (!layout.ok()) return Annotate(layout.status(), name);
  layout->offset = bytes->offset();
  VT_RETURN_IF_ERROR(Annotate(CheckLayout(*layout), name));
  if (const std::optional<uint64_t> size = bytes->unpacked_bytes()) {
    VT_RETURN_IF_ERROR(Annotate(CheckFileSize(*layout, *size), name));
  }
  VT_ASSIGN_OR_RETURN(std::unique_ptr<WordList> words, WordsFor(bytes->path(), options));
  return MatrixReader::Create(name, format, *layout, StreamedRows(std::move(bytes), *layout),
                              std::move(words));
}

}  // namespace

absl::StatusOr<std::unique_ptr<VectorReader>> OpenFvecs(std::unique_ptr<ByteSource> bytes,
                                                        const ReadOptions& options) {
  return OpenVecs(std::move(bytes), options, ElementType::Kind::kF32, "fvecs");
}

absl::StatusOr<std::unique_ptr<VectorReader>> OpenBvecs(std::unique_ptr<ByteSource> bytes,
                                                        const ReadOptions& options) {
  return OpenVecs(std::move(bytes), options, ElementType::Kind::kU8, "bvecs");
}

absl::StatusOr<std::unique_ptr<VectorReader>> OpenFbin(std::unique_ptr<ByteSource> bytes,
                                                       const ReadOptions& options) {
  return OpenCounted(std::move(bytes), options, "fbin", ReadFbinHeader);
}

absl::StatusOr<std::unique_ptr<VectorReader>> OpenFaissFlat(std::unique_ptr<ByteSource> bytes,
                                                            const ReadOptions& options) {
  return OpenCounted(std::move(bytes), options, "a flat index of FAISS", ReadFaissHeader);
}

}  // namespace vectable
