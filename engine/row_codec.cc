#include "engine/row_codec.h"

#include "absl/strings/str_cat.h"
#include "common/bytes.h"

namespace vectable {

absl::Status CheckPrecision(Precision precision) {
  if (precision == Precision::kFp32) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("precision ", std::string(PrecisionName(precision)),
                                               " is not served yet; tables are fp32"));
}

void EncodeVector(std::string& out, std::span<const float> vector) { PutFloatsLe(out, vector); }

absl::Status DecodeVector(std::string_view codes, size_t dimensions, std::vector<float>& out) {
  if (codes.size() != dimensions * sizeof(float)) {
    return absl::DataLossError(absl::StrCat("a stored vector has ", codes.size(), " bytes; ",
                                            dimensions, " fp32 values take ",
                                            dimensions * sizeof(float)));
  }
  out.resize(dimensions);
  CopyFloatsLe(codes, out);
  return absl::OkStatus();
}

}  // namespace vectable
