#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "sizing/tensor_info.h"

namespace vectable {

// How a tensor counts where weights may be packed into integers.
struct PackedCount {
  enum class Kind : uint8_t {
    kPlain,     // its elements are parameters
    kPacked,    // holds several parameters in an element
    kAuxiliary  // scales, zeros and the like, that belong to a packed tensor
  };
  Kind kind = Kind::kPlain;
  std::string scheme;  // of a packed one: "GPTQ 4-bit"
  std::optional<uint64_t>
      parameters;  // that a packed one decodes to; absent: the header can't tell
};

// Tells packed weights by names and shapes. Schemes: GPTQ (qweight of in x bits / 32 rows, out
// columns, I32) and AWQ (in rows, out x bits / 32 columns), with qzeros and scales beside;
// bitsandbytes 4-bit (U8 weight with absmax and quant_map beside) and 8-bit (I8 weight with SCB);
// MXFP4 (U8 _blocks with _scales); scaled 8-bit floats; compressed-tensors' weight_packed, whose
// shape is in its data. Points into `tensors`, which must outlive it.
class PackedWeights {
 public:
  explicit PackedWeights(const std::vector<TensorInfo>& tensors);

  PackedCount CountTensor(const TensorInfo& tensor) const;

 private:
  const TensorInfo* Find(const std::string& name) const;
  PackedCount CountQweight(const TensorInfo& tensor, const std::string& base) const;
  bool IsAuxiliary(std::string_view name) const;

  absl::flat_hash_map<std::string_view, const TensorInfo*> by_name_;
};

}  // namespace vectable
