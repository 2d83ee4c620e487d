#include "sizing/packed_weights.h"

#include "absl/strings/str_cat.h"
#include "sizing/checked.h"

namespace vectable {
namespace {

using Kind = PackedCount::Kind;

// `name` without `suffix`, if it ends with it.
std::optional<std::string> BaseName(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return std::nullopt;
  return std::string(name.substr(0, name.size() - suffix.size()));
}

PackedCount Packed(std::string scheme, std::optional<uint64_t> parameters) {
  return {Kind::kPacked, std::move(scheme), parameters};
}

std::optional<uint64_t> ProductIfFits(uint64_t a, uint64_t b) {
  const absl::StatusOr<uint64_t> product = (Checked(a) * b).Value("the parameters");
  return product.ok() ? std::optional<uint64_t>(*product) : std::nullopt;
}

bool IsPlausibleBits(uint64_t bits) { return bits == 2 || bits == 3 || bits == 4 || bits == 8; }

// `part` x 32 / `whole` where that is a number of bits, else 0.
uint64_t BitsOf(uint64_t part, uint64_t whole) {
  if (whole == 0 || part > UINT64_MAX / 32 || part * 32 % whole != 0) return 0;
  const uint64_t bits = part * 32 / whole;
  return IsPlausibleBits(bits) ? bits : 0;
}

}  // namespace

PackedWeights::PackedWeights(const std::vector<TensorInfo>& tensors) {
  by_name_.reserve(tensors.size());
  for (const TensorInfo& tensor : tensors) by_name_[tensor.name] = &tensor;
}

const TensorInfo* PackedWeights::Find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

PackedCount PackedWeights::CountQweight(const TensorInfo& tensor, const std::string& base) const {
  const TensorInfo* scales = Find(base + ".scales");
  const TensorInfo* zeros = Find(base + ".qzeros");
  const TensorInfo* order = Find(base + ".g_idx");
  if (tensor.shape.size() != 2 || scales == nullptr || scales->shape.size() != 2) {
    return Packed("packed integers", std::nullopt);
  }
  const uint64_t out = scales->shape[1];
  const uint64_t rows = tensor.shape[0];
  if (tensor.shape[1] != out) {
    const uint64_t bits = BitsOf(tensor.shape[1], out);
    if (bits == 0) return Packed("packed integers", std::nullopt);
    return Packed(absl::StrCat("AWQ ", bits, "-bit"), ProductIfFits(rows, out));
  }
  uint64_t bits = 0;
  if (zeros != nullptr && zeros->shape.size() == 2) bits = BitsOf(zeros->shape[1], out);
  if (bits == 0 && order != nullptr && order->shape.size() == 1) {
    bits = BitsOf(rows, order->shape[0]);
  }
  if (bits == 0 || rows > UINT64_MAX / 32 || rows * 32 % bits != 0) {
    return Packed("GPTQ", std::nullopt);
  }
  return Packed(absl::StrCat("GPTQ ", bits, "-bit"), ProductIfFits(rows * 32 / bits, out));
}

bool PackedWeights::IsAuxiliary(std::string_view name) const {
  for (const char* suffix : {".scales", ".qzeros", ".g_idx"}) {
    const std::optional<std::string> base = BaseName(name, suffix);
    if (base && Find(*base + ".qweight") != nullptr) return true;
  }
  for (const char* suffix : {".absmax", ".quant_map", ".nested_absmax", ".nested_quant_map"}) {
    const std::optional<std::string> base = BaseName(name, suffix);
    if (base && Find(*base) != nullptr) return true;
  }
  const size_t state = name.find(".quant_state.");
  if (state != std::string_view::npos && Find(std::string(name.substr(0, state))) != nullptr) {
    return true;
  }
  for (const char* suffix :
       {".SCB", ".weight_format", ".weight_scale", ".weight_scale_inv", ".weight_zero_point",
        ".weight_shape", ".weight_g_idx", ".input_scale"}) {
    const std::optional<std::string> base = BaseName(name, suffix);
    if (base && (Find(*base + ".weight") != nullptr || Find(*base + ".weight_packed") != nullptr)) {
      return true;
    }
  }
  const std::optional<std::string> blocks = BaseName(name, "_scales");
  return blocks && Find(*blocks + "_blocks") != nullptr;
}

PackedCount PackedWeights::CountTensor(const TensorInfo& tensor) const {
  if (IsAuxiliary(tensor.name)) return {Kind::kAuxiliary, "", std::nullopt};
  if (const auto base = BaseName(tensor.name, ".qweight"); base && tensor.type == "I32") {
    return CountQweight(tensor, *base);
  }
  if (tensor.type == "U8" && Find(tensor.name + ".absmax") != nullptr) {
    return Packed("bitsandbytes 4-bit", ProductIfFits(tensor.elements, 2));
  }
  if (const auto base = BaseName(tensor.name, ".weight_packed")) {
    return Packed("compressed-tensors", std::nullopt);
  }
  if (const auto base = BaseName(tensor.name, "_blocks");
      base && tensor.type == "U8" && Find(*base + "_scales") != nullptr) {
    return Packed("MXFP4", ProductIfFits(tensor.elements, 2));
  }
  return {};
}

}  // namespace vectable
