#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "client/formats/formats.h"
#include "client/formats/matrix_reader.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/gguf_header.h"
#include "sizing/safetensors_header.h"
#include "sizing/tensor_role.h"

namespace vectable {
namespace {

constexpr size_t kTensorsNamed = 20;  // in an error

bool IsMatrix(const TensorInfo& tensor) { return tensor.shape.size() == 2; }

std::string NamesOf(const std::vector<const TensorInfo*>& tensors) {
  std::vector<std::string> names;
  for (const TensorInfo* tensor : tensors) {
    if (names.size() == kTensorsNamed) break;
    names.push_back(
        fmt::format("{} ({} {})", tensor->name, tensor->type, fmt::join(tensor->shape, " x ")));
  }
  std::sort(names.begin(), names.end());
  const size_t more = tensors.size() - names.size();
  return fmt::format("{}{}", fmt::join(names, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

// The tensor that is asked for, or the token table.
absl::StatusOr<const TensorInfo*> Choose(const std::vector<TensorInfo>& tensors,
                                         const std::string& asked) {
  std::vector<const TensorInfo*> matrices;
  std::vector<const TensorInfo*> tables;
  for (const TensorInfo& tensor : tensors) {
    if (!asked.empty() && tensor.name == asked) {
      if (IsMatrix(tensor)) return &tensor;
      return absl::InvalidArgumentError(
          fmt::format("tensor {} is no matrix (expected 2 dimensions, found {})", Quoted(asked),
                      tensor.shape.size()));
    }
    if (!IsMatrix(tensor)) continue;
    matrices.push_back(&tensor);
    const bool table = RoleOfTensor(tensor.name, tensor.shape) == TensorRole::kEmbedding;
    if (table && !absl::StrContains(tensor.name, "token_type")) tables.push_back(&tensor);
  }
  if (!asked.empty()) {
    return absl::NotFoundError(fmt::format("no tensor {}; the file has {}", Quoted(asked),
                                           matrices.empty() ? "no matrix" : NamesOf(matrices)));
  }
  if (matrices.size() == 1) return matrices[0];
  if (tables.size() == 1) return tables[0];
  if (matrices.empty()) return absl::NotFoundError("the file has no matrix");
  return absl::InvalidArgumentError(fmt::format(
      "which of the file's matrices is the table isn't clear; name one with --tensor: {}",
      NamesOf(tables.empty() ? matrices : tables)));
}

absl::Status CheckPlain(const ByteSource& bytes, std::string_view format) {
  if (bytes.plain()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{}: {} is read from a plain file alone, neither packed nor from a pipe",
                  bytes.name(), format));
}

absl::StatusOr<std::unique_ptr<VectorReader>> OpenTensor(const std::string& path,
                                                         const std::string& format,
                                                         const TensorInfo& tensor, uint64_t rows,
                                                         uint64_t dimensions,
                                                         std::unique_ptr<WordList> words) {
  const std::optional<ElementType> type = ElementType::Named(tensor.type);
  if (!type) {
    return absl::InvalidArgumentError(
        fmt::format("{}: tensor {} is of type {}, which isn't read (expected {}, found {})", path,
                    Quoted(tensor.name), tensor.type, kElementTypes, tensor.type));
  }
  MatrixLayout layout{dimensions, rows, *type, tensor.offset};
  VT_RETURN_IF_ERROR(Annotate(CheckLayout(layout), path));
  VT_ASSIGN_OR_RETURN(std::unique_ptr<PartialFile> file, OpenPlain(path));
  return MatrixReader::Create(path,
                              fmt::format("{}, tensor {} ({})", format, tensor.name, tensor.type),
                              layout, RowsInFile(std::move(file), layout), std::move(words));
}

}  // namespace

absl::StatusOr<std::unique_ptr<VectorReader>> OpenSafetensors(std::unique_ptr<ByteSource> bytes,
                                                              const ReadOptions& options) {
  VT_RETURN_IF_ERROR(CheckPlain(*bytes, "safetensors"));
  const std::string path = bytes->path();
  const absl::StatusOr<SafetensorsHeader> header = ReadSafetensorsHeader(path);
  if (!header.ok()) return Annotate(header.status(), path);
  const absl::StatusOr<const TensorInfo*> tensor = Choose(header->tensors, options.tensor);
  if (!tensor.ok()) return Annotate(tensor.status(), path);
  VT_ASSIGN_OR_RETURN(std::unique_ptr<WordList> words, WordsFor(path, options, /*model=*/true));
  return OpenTensor(path, "safetensors", **tensor, (*tensor)->shape[0], (*tensor)->shape[1],
                    std::move(words));
}

absl::StatusOr<std::unique_ptr<VectorReader>> OpenGguf(std::unique_ptr<ByteSource> bytes,
                                                       const ReadOptions& options) {
  VT_RETURN_IF_ERROR(CheckPlain(*bytes, "GGUF"));
  const std::string path = bytes->path();
  absl::StatusOr<GgufHeader> header = ReadGgufHeader(path, /*with_tokens=*/true);
  if (!header.ok()) return Annotate(header.status(), path);
  const std::string usual = "token_embd.weight";
  const bool has_usual =
      std::any_of(header->tensors.begin(), header->tensors.end(),
                  [&usual](const TensorInfo& tensor) { return tensor.name == usual; });
  const absl::StatusOr<const TensorInfo*> tensor =
      Choose(header->tensors, options.tensor.empty() && has_usual ? usual : options.tensor);
  if (!tensor.ok()) return Annotate(tensor.status(), path);
  // ggml's shapes begin with the length of a row.
  const uint64_t rows = (*tensor)->shape[1];
  std::unique_ptr<WordList> words;
  if (options.vocabulary.empty() && !header->tokens.empty() && (*tensor)->name == usual) {
    std::vector<std::optional<std::string>> tokens(std::make_move_iterator(header->tokens.begin()),
                                                   std::make_move_iterator(header->tokens.end()));
    words = WordList::Of(std::move(tokens), "words from the file's own vocabulary", options.words);
  } else {
    VT_ASSIGN_OR_RETURN(words, WordsFor(path, options, /*model=*/true));
  }
  return OpenTensor(path, fmt::format("GGUF version {}", header->version), **tensor, rows,
                    (*tensor)->shape[0], std::move(words));
}

}  // namespace vectable
