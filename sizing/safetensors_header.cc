#include "sizing/safetensors_header.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/checked.h"
#include "sizing/json_scan.h"
#include "sizing/read_file.h"

namespace vectable {
namespace {

struct TypeBits {
  std::string_view name;
  uint32_t bits;
};

constexpr TypeBits kTypes[] = {
    {"F64", 64},        {"F32", 32},        {"F16", 16},    {"BF16", 16},   {"F8_E4M3", 8},
    {"F8_E5M2", 8},     {"F8_E8M0", 8},     {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4},
    {"I64", 64},        {"I32", 32},        {"I16", 16},    {"I8", 8},      {"U64", 64},
    {"U32", 32},        {"U16", 16},        {"U8", 8},      {"BOOL", 8},    {"C64", 64},
    {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
};

// A tensor with the place of its bytes.
struct PlacedTensor {
  TensorInfo info;
  uint64_t begin = 0;
  uint64_t end = 0;
};

absl::Status Bad(std::string_view tensor, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("tensor ", Quoted(tensor), ": ", what));
}

// Computes elements and bytes from type and shape, and compares them with the offsets.
absl::Status CheckTensorBytes(PlacedTensor& tensor) {
  TensorInfo& info = tensor.info;
  const uint32_t bits = SafetensorsTypeBits(info.type);
  if (bits == 0) return Bad(info.name, absl::StrCat("unknown dtype ", Quoted(info.type)));
  if (tensor.end < tensor.begin) {
    return Bad(info.name, absl::StrCat("its offsets end at ", tensor.end, " before they begin at ",
                                       tensor.begin));
  }
  Checked elements(1);
  for (const uint64_t size : info.shape) elements = elements * size;
  absl::StatusOr<uint64_t> count = elements.Value("its elements");
  if (!count.ok()) return Annotate(count.status(), "tensor " + Quoted(info.name));
  const absl::StatusOr<uint64_t> all_bits = (elements * bits).Value("its bits");
  if (!all_bits.ok()) return Annotate(all_bits.status(), "tensor " + Quoted(info.name));
  if (*all_bits % 8 != 0) return Bad(info.name, "its bits don't fill whole bytes");
  info.elements = *count;
  info.bytes = *all_bits / 8;
  if (info.bytes != tensor.end - tensor.begin) {
    return Bad(info.name, absl::StrCat("its shape takes ", info.bytes, " bytes as ", info.type,
                                       ", its offsets span ", tensor.end - tensor.begin));
  }
  return absl::OkStatus();
}

// Takes the header's JSON: {"__metadata__": {...}, NAME: {"dtype", "shape", "data_offsets"}, ...}.
class HeaderVisitor final : public JsonVisitor {
 public:
  std::vector<PlacedTensor> tensors;
  TiedNames left_out;

  absl::Status OnKey(size_t depth, std::string& key) override {
    if (depth == 1) {
      in_metadata_ = key == "__metadata__";
      current_ = {};
      current_.info.name = std::move(key);
    } else {
      field_ = std::move(key);
    }
    return absl::OkStatus();
  }

  absl::Status OnBegin(size_t depth, bool object) override {
    if (depth == 0 && object) return absl::OkStatus();
    if (depth == 0) return absl::InvalidArgumentError("the header isn't a JSON object");
    if (depth == 1 && object) {
      numbers_ = nullptr;
      offsets_.clear();
      has_type_ = has_shape_ = has_offsets_ = false;
      return absl::OkStatus();
    }
    if (depth == 2 && !object && !in_metadata_) return BeginNumbers();
    return Misplaced();
  }

  absl::Status OnScalar(size_t depth, JsonScalar scalar) override {
    if (depth == 2 && std::holds_alternative<std::string>(scalar)) {
      if (in_metadata_) {
        KeepTiedName(std::get<std::string>(scalar));
        return absl::OkStatus();
      }
      if (field_ == "dtype" && !has_type_) {
        has_type_ = true;
        current_.info.type = std::get<std::string>(std::move(scalar));
        return absl::OkStatus();
      }
    }
    if (depth == 3 && numbers_ != nullptr) {
      if (!std::holds_alternative<uint64_t>(scalar)) {
        return Bad(current_.info.name,
                   absl::StrCat(field_, " must hold whole numbers of 0 or more below 2^64"));
      }
      if (numbers_->size() >= kMaxTensorRank) {
        return Bad(current_.info.name,
                   absl::StrCat(field_, " has more than ", kMaxTensorRank, " numbers, the limit"));
      }
      numbers_->push_back(std::get<uint64_t>(scalar));
      return absl::OkStatus();
    }
    return Misplaced();
  }

  absl::Status OnEnd(size_t depth, bool) override {
    if (depth == 2) numbers_ = nullptr;
    return depth == 1 && !in_metadata_ ? FinishTensor() : absl::OkStatus();
  }

 private:
  absl::Status Misplaced() const {
    if (current_.info.name.empty()) {
      return absl::InvalidArgumentError("the header isn't an object of tensors");
    }
    return Bad(current_.info.name,
               in_metadata_ ? "it must hold texts alone"
                            : absl::StrCat("expected dtype, shape and data_offsets, once each; at ",
                                           Quoted(field_)));
  }

  // The metadata may be as long as the header allows; what is kept of it may not.
  void KeepTiedName(const std::string& kept) {
    const auto names_weights = [](const std::string& name) {
      return name.size() <= kMaxTiedNameBytes && name.ends_with(".weight");
    };
    if (left_out.size() >= kMaxTiedNames || !names_weights(field_) || !names_weights(kept)) return;
    left_out[field_] = kept;
  }

  absl::Status BeginNumbers() {
    bool& had = field_ == "shape" ? has_shape_ : has_offsets_;
    if ((field_ != "shape" && field_ != "data_offsets") || had) return Misplaced();
    had = true;
    numbers_ = field_ == "shape" ? &current_.info.shape : &offsets_;
    return absl::OkStatus();
  }

  absl::Status FinishTensor() {
    const std::string& name = current_.info.name;
    if (!has_type_ || !has_shape_ || !has_offsets_) {
      return Bad(name, absl::StrCat("it has no ", !has_type_    ? "dtype"
                                                  : !has_shape_ ? "shape"
                                                                : "data_offsets"));
    }
    if (offsets_.size() != 2) {
      return Bad(name,
                 absl::StrCat("data_offsets has ", offsets_.size(), " numbers; it must have 2"));
    }
    current_.begin = offsets_[0];
    current_.end = offsets_[1];
    VT_RETURN_IF_ERROR(CheckTensorBytes(current_));
    if (tensors.size() >= kMaxTensors) {
      return absl::InvalidArgumentError(
          absl::StrCat("the header names more than ", kMaxTensors, " tensors, the limit"));
    }
    tensors.push_back(std::move(current_));
    return absl::OkStatus();
  }

  PlacedTensor current_;
  bool in_metadata_ = false;
  std::string field_;
  std::vector<uint64_t> offsets_;
  std::vector<uint64_t>* numbers_ = nullptr;  // that the array being read goes to
  bool has_type_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
};

absl::Status CheckUniqueNames(const std::vector<PlacedTensor>& tensors) {
  absl::flat_hash_set<std::string_view> names;
  names.reserve(tensors.size());
  for (const PlacedTensor& tensor : tensors) {
    if (!names.insert(tensor.info.name).second) {
      return Bad(tensor.info.name, "the header names it twice");
    }
  }
  return absl::OkStatus();
}

// The tensors, sorted, must cover the data from its first byte to its last.
absl::Status CheckCoverage(const std::vector<PlacedTensor>& sorted, uint64_t data_bytes) {
  uint64_t covered = 0;
  for (const PlacedTensor& tensor : sorted) {
    const std::string& name = tensor.info.name;
    if (tensor.end > data_bytes) {
      return Bad(name, absl::StrCat("its bytes end at ", tensor.end, ", but the file has ",
                                    data_bytes, " bytes of data"));
    }
    if (tensor.begin < covered) {
      return Bad(name, absl::StrCat("its bytes from ", tensor.begin,
                                    " overlap another tensor's, up to ", covered));
    }
    if (tensor.begin > covered) {
      return Bad(name, absl::StrCat("its bytes begin at ", tensor.begin,
                                    "; nothing uses those from ", covered));
    }
    covered = tensor.end;
  }
  if (covered == data_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the file has ", data_bytes, " bytes of data; its tensors use ", covered));
}

// The header's length, the first 8 bytes.
absl::StatusOr<uint64_t> ReadLength(const PartialFile& file) {
  if (file.size() < 8) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file has ", file.size(), " bytes; no safetensors file is so short"));
  }
  VT_ASSIGN_OR_RETURN(const std::string bytes, file.Read(0, 8));
  uint64_t length = 0;
  for (size_t i = 8; i > 0; --i) length = length << 8 | static_cast<unsigned char>(bytes[i - 1]);
  if (length > kMaxSafetensorsHeaderBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the header's length is ", length,
                                                   " bytes; the format's limit is ",
                                                   kMaxSafetensorsHeaderBytes));
  }
  if (length > file.size() - 8) {
    return absl::InvalidArgumentError(absl::StrCat("the header's length is ", length,
                                                   " bytes, but the file has only ",
                                                   file.size() - 8, " after it"));
  }
  return length;
}

}  // namespace

uint32_t SafetensorsTypeBits(std::string_view type) {
  for (const TypeBits& known : kTypes) {
    if (known.name == type) return known.bits;
  }
  return 0;
}

absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json,
                                                         uint64_t data_bytes) {
  HeaderVisitor visitor;
  VT_RETURN_IF_ERROR(Annotate(ScanJson(json, visitor), "the header"));
  VT_RETURN_IF_ERROR(CheckUniqueNames(visitor.tensors));
  std::sort(visitor.tensors.begin(), visitor.tensors.end(),
            [](const PlacedTensor& a, const PlacedTensor& b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  VT_RETURN_IF_ERROR(CheckCoverage(visitor.tensors, data_bytes));
  SafetensorsHeader header;
  header.header_bytes = 8 + json.size();
  header.data_bytes = data_bytes;
  header.left_out = std::move(visitor.left_out);
  header.tensors.reserve(visitor.tensors.size());
  for (PlacedTensor& tensor : visitor.tensors) {
    tensor.info.offset = header.header_bytes + tensor.begin;
    header.tensors.push_back(std::move(tensor.info));
  }
  return header;
}

absl::StatusOr<SafetensorsHeader> ReadSafetensorsHeader(const std::string& path) {
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<PartialFile> file, PartialFile::Open(path));
  VT_ASSIGN_OR_RETURN(const uint64_t length, ReadLength(*file));
  VT_ASSIGN_OR_RETURN(const std::string json, file->Read(8, length));
  return ParseSafetensorsHeader(json, file->size() - 8 - length);
}

}  // namespace vectable
