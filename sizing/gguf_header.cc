#include "sizing/gguf_header.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/checked.h"
#include "sizing/read_file.h"

namespace vectable {
namespace {

constexpr uint64_t kMaxGgufHeaderBytes = uint64_t{256} << 20;
constexpr uint64_t kMaxGgufKeys = 65'536;
constexpr uint64_t kMaxGgufNameBytes = 65'535;  // the format's limit for keys
constexpr uint64_t kMaxGgufArrayDepth = 8;
constexpr uint64_t kMaxGgufTexts = 10'000'000;  // in an array; vocabularies have under a million
constexpr uint64_t kMaxGgufDimensions = 4;

// From ggml.h and gguf-py's constants.
constexpr GgmlType kGgmlTypes[] = {
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},
    {3, "Q4_1", 32, 20},      {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},
    {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 36},      {10, "Q2_K", 256, 84},
    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66},
    {17, "IQ2_XS", 256, 74},  {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},  {22, "IQ2_S", 256, 82},
    {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},
    {29, "IQ1_M", 256, 56},   {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},
};

// Types of metadata values.
enum GgufValue : uint32_t {
  kGgufString = 8,
  kGgufArray = 9,
};

// Bytes of a value of a fixed-size type, or 0.
uint64_t GgufValueBytes(uint32_t type) {
  switch (type) {
    case 0:  // uint8
    case 1:  // int8
    case 7:  // bool
      return 1;
    case 2:  // uint16
    case 3:  // int16
      return 2;
    case 4:  // uint32
    case 5:  // int32
    case 6:  // float32
      return 4;
    case 10:  // uint64
    case 11:  // int64
    case 12:  // float64
      return 8;
    default:
      return 0;
  }
}

// Whether the type is a whole number, signed or not.
bool IsGgufInteger(uint32_t type) {
  return type <= 5 || type == 10 || type == 11;  // float32 is 6
}

// Reads a header from front to back, through a buffer, and never past its limit.
class GgufCursor {
 public:
  explicit GgufCursor(const PartialFile& file)
      : file_(file), limit_(std::min(file.size(), kMaxGgufHeaderBytes)) {}

  uint64_t position() const { return position_; }

  absl::Status Skip(uint64_t bytes) {
    VT_RETURN_IF_ERROR(Need(bytes));
    position_ += bytes;
    return absl::OkStatus();
  }

  absl::StatusOr<uint64_t> Unsigned(size_t bytes) {
    VT_ASSIGN_OR_RETURN(const std::string_view text, Bytes(bytes));
    uint64_t value = 0;
    for (size_t i = bytes; i > 0; --i) value = value << 8 | static_cast<unsigned char>(text[i - 1]);
    return value;
  }
  absl::StatusOr<uint32_t> U32() {
    VT_ASSIGN_OR_RETURN(const uint64_t value, Unsigned(4));
    return static_cast<uint32_t>(value);
  }
  absl::StatusOr<uint64_t> U64() { return Unsigned(8); }

  absl::StatusOr<std::string> String(uint64_t max_bytes, const char* what) {
    VT_ASSIGN_OR_RETURN(const uint64_t length, U64());
    if (length > max_bytes) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " of ", length, " bytes; the limit is ", max_bytes));
    }
    VT_ASSIGN_OR_RETURN(const std::string_view text, Bytes(length));
    return std::string(text);
  }
  absl::Status SkipString() {
    VT_ASSIGN_OR_RETURN(const uint64_t length, U64());
    return Skip(length);
  }

 private:
  static constexpr uint64_t kBufferBytes = uint64_t{1} << 20;

  absl::Status Need(uint64_t bytes) const {
    if (bytes <= limit_ - position_) return absl::OkStatus();
    if (limit_ < file_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the header is over ", kMaxGgufHeaderBytes, " bytes, the limit"));
    }
    return absl::InvalidArgumentError(absl::StrCat("the header needs ", bytes, " bytes at byte ",
                                                   position_, ", but the file has ", file_.size()));
  }

  // The next `bytes` bytes, at most kBufferBytes; good until the next call.
  absl::StatusOr<std::string_view> Bytes(uint64_t bytes) {
    VT_RETURN_IF_ERROR(Need(bytes));
    if (position_ < begin_ || position_ + bytes > begin_ + buffer_.size()) {
      begin_ = position_;
      VT_ASSIGN_OR_RETURN(buffer_, file_.Read(begin_, std::min(kBufferBytes, limit_ - begin_)));
    }
    const std::string_view found = std::string_view(buffer_).substr(position_ - begin_, bytes);
    position_ += bytes;
    return found;
  }

  const PartialFile& file_;
  const uint64_t limit_;
  uint64_t position_ = 0;
  std::string buffer_;
  uint64_t begin_ = 0;  // of the buffer, in the file
};

absl::Status SkipGgufValue(GgufCursor& cursor, uint32_t type, uint64_t depth);

absl::Status SkipGgufArray(GgufCursor& cursor, uint64_t depth) {
  if (depth >= kMaxGgufArrayDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat("arrays nested deeper than ", kMaxGgufArrayDepth, " levels"));
  }
  VT_ASSIGN_OR_RETURN(const uint32_t type, cursor.U32());
  VT_ASSIGN_OR_RETURN(const uint64_t count, cursor.U64());
  if (const uint64_t bytes = GgufValueBytes(type); bytes > 0) {
    VT_ASSIGN_OR_RETURN(const uint64_t all, (Checked(count) * bytes).Value("an array's bytes"));
    return cursor.Skip(all);
  }
  if (count > kMaxGgufTexts) {
    return absl::InvalidArgumentError(
        absl::StrCat("an array of ", count, " texts or arrays; the limit is ", kMaxGgufTexts));
  }
  // Each of these takes bytes of the file, so its end bounds the loop.
  for (uint64_t i = 0; i < count; ++i) VT_RETURN_IF_ERROR(SkipGgufValue(cursor, type, depth + 1));
  return absl::OkStatus();
}

absl::Status SkipGgufValue(GgufCursor& cursor, uint32_t type, uint64_t depth) {
  if (type == kGgufString) return cursor.SkipString();
  if (type == kGgufArray) return SkipGgufArray(cursor, depth);
  const uint64_t bytes = GgufValueBytes(type);
  if (bytes == 0) {
    return absl::InvalidArgumentError(absl::StrCat("unknown type ", type, " of a value"));
  }
  return cursor.Skip(bytes);
}

// What of the metadata is of use.
struct GgufMetadata {
  std::string architecture;
  std::string name;
  uint64_t alignment = 32;
  uint64_t split = 0;
  uint64_t splits = 0;
  bool with_tokens = false;
  std::vector<std::string> tokens;
};

absl::Status ReadGgufTokens(GgufCursor& cursor, std::vector<std::string>& tokens) {
  VT_ASSIGN_OR_RETURN(const uint32_t type, cursor.U32());
  VT_ASSIGN_OR_RETURN(const uint64_t count, cursor.U64());
  if (type != kGgufString || count > kMaxGgufTexts) {
    return absl::InvalidArgumentError(absl::StrCat("the tokens are ", count, " values of type ",
                                                   type, ", not at most ", kMaxGgufTexts,
                                                   " texts"));
  }
  tokens.clear();
  for (uint64_t i = 0; i < count; ++i) {
    VT_ASSIGN_OR_RETURN(tokens.emplace_back(), cursor.String(kMaxGgufNameBytes, "a token"));
  }
  return absl::OkStatus();
}

// A whole number of any width, of 0 or more.
absl::StatusOr<uint64_t> ReadGgufInteger(GgufCursor& cursor, uint32_t type) {
  if (!IsGgufInteger(type)) {
    return absl::InvalidArgumentError(absl::StrCat("type ", type, " isn't a whole number's"));
  }
  const uint64_t bytes = GgufValueBytes(type);
  VT_ASSIGN_OR_RETURN(const uint64_t value, cursor.Unsigned(bytes));
  const bool is_signed = type == 11 || (type < 6 && type % 2 == 1);
  if (is_signed && value >> (8 * bytes - 1) != 0) {
    return absl::InvalidArgumentError("a negative number; it must be 0 or more");
  }
  return value;
}

absl::Status ReadGgufPair(GgufCursor& cursor, GgufMetadata& metadata) {
  VT_ASSIGN_OR_RETURN(const std::string key, cursor.String(kMaxGgufNameBytes, "a key"));
  VT_ASSIGN_OR_RETURN(const uint32_t type, cursor.U32());
  if (type == kGgufString && (key == "general.architecture" || key == "general.name")) {
    VT_ASSIGN_OR_RETURN(std::string text, cursor.String(kMaxGgufNameBytes, key.c_str()));
    (key == "general.name" ? metadata.name : metadata.architecture) = std::move(text);
    return absl::OkStatus();
  }
  if (key == "general.alignment" && type == 4) {
    VT_ASSIGN_OR_RETURN(metadata.alignment, cursor.U32());
    if (metadata.alignment == 0 || metadata.alignment % 8 != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("alignment ", metadata.alignment, " isn't a multiple of 8"));
    }
    return absl::OkStatus();
  }
  if (key == "tokenizer.ggml.tokens" && type == kGgufArray && metadata.with_tokens) {
    return Annotate(ReadGgufTokens(cursor, metadata.tokens), "key " + Quoted(key));
  }
  if (key == "split.no" || key == "split.count") {
    const absl::StatusOr<uint64_t> number = ReadGgufInteger(cursor, type);
    if (!number.ok()) return Annotate(number.status(), "key " + Quoted(key));
    (key == "split.no" ? metadata.split : metadata.splits) = *number;
    return absl::OkStatus();
  }
  return Annotate(SkipGgufValue(cursor, type, 0), "key " + Quoted(key));
}

// A tensor with the place of its bytes after the header.
struct GgufTensor {
  TensorInfo info;
  uint64_t offset = 0;
};

absl::Status FillGgufTensor(GgufCursor& cursor, GgufTensor& tensor) {
  TensorInfo& info = tensor.info;
  VT_ASSIGN_OR_RETURN(const uint32_t rank, cursor.U32());
  if (rank > kMaxGgufDimensions) {
    return absl::InvalidArgumentError(
        absl::StrCat(rank, " dimensions; the limit is ", kMaxGgufDimensions));
  }
  Checked elements(1);
  for (uint32_t i = 0; i < rank; ++i) {
    VT_ASSIGN_OR_RETURN(const uint64_t size, cursor.U64());
    info.shape.push_back(size);
    elements = elements * size;
  }
  VT_ASSIGN_OR_RETURN(const uint32_t number, cursor.U32());
  VT_ASSIGN_OR_RETURN(tensor.offset, cursor.U64());
  const GgmlType* type = FindGgmlType(number);
  if (type == nullptr) return absl::InvalidArgumentError(absl::StrCat("unknown type ", number));
  info.type = type->name;
  VT_ASSIGN_OR_RETURN(info.elements, elements.Value("its elements"));
  const uint64_t row = info.shape.empty() ? 1 : info.shape[0];
  if (row % type->block_elements != 0) {
    return absl::InvalidArgumentError(absl::StrCat("rows of ", row, " elements aren't whole ",
                                                   info.type, " blocks of ", type->block_elements));
  }
  VT_ASSIGN_OR_RETURN(
      info.bytes,
      (Checked(info.elements / type->block_elements) * type->block_bytes).Value("its bytes"));
  return absl::OkStatus();
}

absl::Status ReadGgufTensor(GgufCursor& cursor, GgufTensor& tensor) {
  VT_ASSIGN_OR_RETURN(tensor.info.name, cursor.String(kMaxGgufNameBytes, "a tensor's name"));
  return Annotate(FillGgufTensor(cursor, tensor), "tensor " + Quoted(tensor.info.name));
}

absl::Status CheckGgufPlaces(std::vector<GgufTensor>& tensors, uint64_t data_bytes,
                             uint64_t alignment) {
  std::sort(tensors.begin(), tensors.end(), [](const GgufTensor& a, const GgufTensor& b) {
    return std::pair(a.offset, a.info.bytes) < std::pair(b.offset, b.info.bytes);
  });
  uint64_t used = 0;
  for (const GgufTensor& tensor : tensors) {
    const std::string label = absl::StrCat("tensor ", Quoted(tensor.info.name), ": ");
    if (tensor.offset % alignment != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(label, "its offset ", tensor.offset, " isn't a multiple of ", alignment));
    }
    if (tensor.offset > data_bytes || tensor.info.bytes > data_bytes - tensor.offset) {
      return absl::InvalidArgumentError(absl::StrCat(label, tensor.info.bytes, " bytes from ",
                                                     tensor.offset, " pass the end of the file, ",
                                                     data_bytes, " bytes after the header"));
    }
    if (tensor.offset < used) {
      return absl::InvalidArgumentError(absl::StrCat(label, "its bytes from ", tensor.offset,
                                                     " overlap another tensor's, up to ", used));
    }
    used = tensor.offset + tensor.info.bytes;
  }
  return absl::OkStatus();
}

absl::Status CheckGgufNames(const std::vector<GgufTensor>& tensors) {
  absl::flat_hash_set<std::string_view> names;
  names.reserve(tensors.size());
  for (const GgufTensor& tensor : tensors) {
    if (!names.insert(tensor.info.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor ", Quoted(tensor.info.name), ": the header names it twice"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> ReadGgufVersion(GgufCursor& cursor) {
  VT_ASSIGN_OR_RETURN(const uint64_t magic, cursor.U32());
  if (magic != 0x46554747) return absl::InvalidArgumentError("the file doesn't begin with 'GGUF'");
  VT_ASSIGN_OR_RETURN(const uint32_t version, cursor.U32());
  if (version == 2 || version == 3) return version;
  if (version != 0 && (version & 0xFFFF) == 0) {
    return absl::InvalidArgumentError("big-endian GGUF files aren't read");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("GGUF version ", version, " isn't read; versions 2 and 3 are"));
}

absl::StatusOr<uint64_t> ReadGgufCount(GgufCursor& cursor, uint64_t limit, const char* what) {
  VT_ASSIGN_OR_RETURN(const uint64_t count, cursor.U64());
  if (count <= limit) return count;
  return absl::InvalidArgumentError(
      absl::StrCat("the header speaks of ", count, " ", what, "; the limit is ", limit));
}

}  // namespace

const GgmlType* FindGgmlType(uint32_t number) {
  for (const GgmlType& type : kGgmlTypes) {
    if (type.number == number) return &type;
  }
  return nullptr;
}

absl::StatusOr<GgufHeader> ReadGgufHeader(const std::string& path, bool with_tokens) {
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<PartialFile> file, PartialFile::Open(path));
  GgufCursor cursor(*file);
  GgufHeader header;
  VT_ASSIGN_OR_RETURN(header.version, ReadGgufVersion(cursor));
  VT_ASSIGN_OR_RETURN(const uint64_t tensors, ReadGgufCount(cursor, kMaxTensors, "tensors"));
  VT_ASSIGN_OR_RETURN(const uint64_t pairs, ReadGgufCount(cursor, kMaxGgufKeys, "keys"));
  GgufMetadata metadata;
  metadata.with_tokens = with_tokens;
  for (uint64_t i = 0; i < pairs; ++i) VT_RETURN_IF_ERROR(ReadGgufPair(cursor, metadata));
  std::vector<GgufTensor> placed;
  for (uint64_t i = 0; i < tensors; ++i) {
    GgufTensor tensor;
    VT_RETURN_IF_ERROR(ReadGgufTensor(cursor, tensor));
    placed.push_back(std::move(tensor));
  }
  const uint64_t alignment = metadata.alignment;
  const uint64_t data_begin = (cursor.position() + alignment - 1) / alignment * alignment;
  const uint64_t data_bytes = file->size() > data_begin ? file->size() - data_begin : 0;
  VT_RETURN_IF_ERROR(CheckGgufNames(placed));
  VT_RETURN_IF_ERROR(CheckGgufPlaces(placed, data_bytes, alignment));
  header.architecture = std::move(metadata.architecture);
  header.name = std::move(metadata.name);
  header.split = metadata.split;
  header.splits = metadata.splits;
  header.header_bytes = cursor.position();
  header.tokens = std::move(metadata.tokens);
  for (GgufTensor& tensor : placed) {
    tensor.info.offset = data_begin + tensor.offset;
    header.tensors.push_back(std::move(tensor.info));
  }
  return header;
}

}  // namespace vectable
