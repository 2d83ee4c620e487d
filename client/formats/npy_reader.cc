#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "client/formats/formats.h"
#include "client/formats/matrix_reader.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

constexpr size_t kMaxNpyHeaderBytes = size_t{1} << 20;  // numpy's own are 128 bytes, or some more

absl::Status BadHeader(std::string_view reason) {
  return absl::InvalidArgumentError(fmt::format("bad .npy header: {}", reason));
}

struct NpyHeader {
  std::string type;  // of Python's text: "<f4"
  bool fortran_order = false;
  std::vector<uint64_t> shape;
  bool has_type = false;
  bool has_order = false;
  bool has_shape = false;
};

// Reads Python's text of a dictionary as numpy writes it: {'descr': '<f4', 'fortran_order': False,
// 'shape': (3, 4), }.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  absl::StatusOr<NpyHeader> Parse() {
    NpyHeader header;
    if (!Take("{")) return BadHeader("it isn't a dictionary");
    while (!Take("}")) {
      VT_ASSIGN_OR_RETURN(const std::string key, Text());
      if (!Take(":")) return BadHeader("a key without a value");
      if (key == "descr") {
        VT_ASSIGN_OR_RETURN(header.type, Text());
        header.has_type = true;
      } else if (key == "fortran_order") {
        header.fortran_order = Take("True");
        if (!header.fortran_order && !Take("False")) {
          return BadHeader("fortran_order is neither True nor False");
        }
        header.has_order = true;
      } else if (key == "shape") {
        VT_ASSIGN_OR_RETURN(header.shape, Shape());
        header.has_shape = true;
      } else {
        return BadHeader("unknown key " + Quoted(key));
      }
      if (!Take(",") && !At("}")) return BadHeader("no comma between its members");
    }
    SkipBlanks();
    if (!rest_.empty()) return BadHeader("text after the dictionary");
    if (!header.has_type || !header.has_order || !header.has_shape) {
      return BadHeader("it lacks descr, fortran_order or shape");
    }
    return header;
  }

 private:
  void SkipBlanks() {
    const size_t begin = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(begin == rest_.npos ? rest_.size() : begin);
  }
  bool At(std::string_view token) {
    SkipBlanks();
    return rest_.starts_with(token);
  }
  bool Take(std::string_view token) {
    if (!At(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  absl::StatusOr<std::string> Text() {
    SkipBlanks();
    const char quote = rest_.empty() ? '\0' : rest_[0];
    if (quote == '[') {
      return BadHeader("an array of records; save one of its columns as a matrix of its own");
    }
    const size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : rest_.npos;
    if (end == rest_.npos) return BadHeader("a text in quotes is missing");
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  absl::StatusOr<std::vector<uint64_t>> Shape() {
    std::vector<uint64_t> shape;
    if (!Take("(")) return BadHeader("the shape isn't a tuple");
    while (!Take(")")) {
      SkipBlanks();
      uint64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc()) return BadHeader("the shape holds no number from 0 to 2^64 - 1");
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      Take("L");  // of Python 2
      shape.push_back(size);
      if (shape.size() > 32) return BadHeader("more than 32 dimensions");
      if (!Take(",") && !At(")")) return BadHeader("no comma between the numbers of its shape");
    }
    return shape;
  }

  std::string_view rest_;
};

absl::StatusOr<ElementType> TypeOf(const std::string& text) {
  using Kind = ElementType::Kind;
  ElementType type;
  if (text.size() == 3) {
    const std::string_view name = std::string_view(text).substr(1);
    type.big_endian = text[0] == '>';
    const bool single = name == "i1" || name == "u1";
    const bool order = text[0] == '<' || text[0] == '>' || (single && text[0] == '|');
    if (name == "f2") type.kind = Kind::kF16;
    if (name == "f8") type.kind = Kind::kF64;
    if (name == "i1") type.kind = Kind::kI8;
    if (name == "u1") type.kind = Kind::kU8;
    if (order && (single || name == "f2" || name == "f4" || name == "f8")) return type;
  }
  return absl::InvalidArgumentError(
      fmt::format("numbers of type {} aren't read (expected f2, f4, f8, i1 or u1 with their byte "
                  "order, found {})",
                  Quoted(text), Quoted(text)));
}

uint64_t NpyLength(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

absl::StatusOr<NpyHeader> ReadHeader(ByteSource& bytes) {
  std::string start(8, '\0');
  VT_ASSIGN_OR_RETURN(size_t got, bytes.ReadFull(start));
  if (got < 8 || !std::string_view(start).starts_with("\x93NUMPY")) {
    return absl::InvalidArgumentError("is no .npy file (expected to begin with \\x93NUMPY)");
  }
  const int version = start[6];
  if (version < 1 || version > 3 || start[7] != 0) {
    return BadHeader(fmt::format("version {}.{} isn't read (expected 1.0 to 3.0)", version,
                                 static_cast<int>(start[7])));
  }
  std::string length(version == 1 ? 2 : 4, '\0');
  VT_ASSIGN_OR_RETURN(got, bytes.ReadFull(length));
  const uint64_t size = NpyLength(length);
  if (got == length.size() && size > kMaxNpyHeaderBytes) {
    return BadHeader(fmt::format("of {} bytes; the limit is {}", size, kMaxNpyHeaderBytes));
  }
  std::string text(size, '\0');
  VT_ASSIGN_OR_RETURN(const size_t text_got, bytes.ReadFull(text));
  if (got < length.size() || text_got < size) {
    VT_RETURN_IF_ERROR(bytes.CheckEnds());
    return absl::DataLossError(
        fmt::format("byte {}: the file ends within its header", bytes.offset()));
  }
  return HeaderParser(text).Parse();
}

}  // namespace

absl::StatusOr<std::unique_ptr<VectorReader>> OpenNpy(std::unique_ptr<ByteSource> bytes,
                                                      const ReadOptions& options) {
  const std::string name = bytes->name();
  const absl::StatusOr<NpyHeader> header = ReadHeader(*bytes);
  if (!header.ok()) return Annotate(header.status(), name);
  const absl::StatusOr<ElementType> type = TypeOf(header->type);
  if (!type.ok()) return Annotate(type.status(), name);
  if (header->shape.size() != 2) {
    return absl::InvalidArgumentError(
        fmt::format("{}: holds an array of {} dimensions, not a matrix (expected a shape (rows, "
                    "values), found ({}))",
                    name, header->shape.size(), fmt::join(header->shape, ", ")));
  }
  MatrixLayout layout{header->shape[1], header->shape[0], *type, bytes->offset()};
  VT_RETURN_IF_ERROR(Annotate(CheckLayout(layout), name));
  if (const std::optional<uint64_t> size = bytes->unpacked_bytes()) {
    VT_RETURN_IF_ERROR(Annotate(CheckFileSize(layout, *size), name));
  }
  VT_ASSIGN_OR_RETURN(std::unique_ptr<WordList> words, WordsFor(bytes->path(), options));
  std::unique_ptr<MatrixRows> rows;
  const bool by_columns = header->fortran_order && layout.dimensions > 1 && *layout.rows > 1;
  if (!by_columns) {
    rows = StreamedRows(std::move(bytes), layout);
  } else if (bytes->plain()) {
    VT_ASSIGN_OR_RETURN(std::unique_ptr<PartialFile> file, OpenPlain(bytes->path()));
    rows = ColumnsInFile(std::move(file), layout);
  } else {
    return absl::InvalidArgumentError(
        name +
        ": is stored column by column (fortran_order), which is read from a plain file "
        "alone, neither packed nor from a pipe");
  }
  return MatrixReader::Create(name, fmt::format("npy ({})", header->type), layout, std::move(rows),
                              std::move(words));
}

}  // namespace vectable
