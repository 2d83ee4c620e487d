#include "sizing/tensor_summary.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/checked.h"
#include "sizing/packed_weights.h"
#include "sizing/tensor_role.h"

namespace vectable {
namespace {

absl::Status AddTo(uint64_t& sum, uint64_t value, const char* what) {
  VT_ASSIGN_OR_RETURN(sum, (Checked(sum) + value).Value(what));
  return absl::OkStatus();
}

absl::Status AddTensor(const TensorInfo& tensor, TensorTotals& totals) {
  ++totals.tensors;
  VT_RETURN_IF_ERROR(AddTo(totals.elements, tensor.elements, "the tensors' elements"));
  return AddTo(totals.bytes, tensor.bytes, "the tensors' bytes");
}

uint64_t& PartOf(TensorRole role, ParameterParts& parts) {
  switch (role) {
    case TensorRole::kEmbedding:
      return parts.embedding;
    case TensorRole::kPositions:
      return parts.positions;
    case TensorRole::kAttention:
      return parts.attention;
    case TensorRole::kMlp:
      return parts.mlp;
    case TensorRole::kNorm:
      return parts.norm;
    case TensorRole::kHead:
      return parts.head;
    case TensorRole::kOther:
    case TensorRole::kBuffer:
      break;
  }
  return parts.other;
}

// Finds heads that are stored although they are the embedding.
class TiedHeads {
 public:
  TiedHeads(const std::vector<TensorInfo>& tensors, std::optional<bool> tied) {
    for (const TensorInfo& tensor : tensors) {
      if (RoleOfTensor(tensor.name, tensor.shape) == TensorRole::kEmbedding) {
        embedding_ = &tensor;
        const bool implied = tensor.name.find("wte") != std::string::npos ||
                             tensor.name.find("word_embeddings") != std::string::npos;
        tied_ = tied.value_or(implied);
      }
      if (tensor.name == kBertBias) bert_bias_ = &tensor;
    }
  }

  // The tensor that `tensor` repeats, or null.
  const TensorInfo* Repeated(const TensorInfo& tensor) const {
    if (tensor.name == kBertDecoderBias && bert_bias_ != nullptr &&
        bert_bias_->shape == tensor.shape) {
      return bert_bias_;
    }
    const bool is_head = tensor.name.ends_with("lm_head.weight") ||
                         tensor.name == "cls.predictions.decoder.weight" ||
                         tensor.name == "output.weight";
    if (!tied_ || !is_head || embedding_ == nullptr) return nullptr;
    return embedding_->shape == tensor.shape ? embedding_ : nullptr;
  }

 private:
  static constexpr const char* kBertBias = "cls.predictions.bias";
  static constexpr const char* kBertDecoderBias = "cls.predictions.decoder.bias";

  bool tied_ = false;
  const TensorInfo* embedding_ = nullptr;
  const TensorInfo* bert_bias_ = nullptr;
};

absl::Status AddPacked(const TensorInfo& tensor, const PackedCount& count, TensorSummary& summary) {
  PackedTotals& packed = summary.packed;
  VT_RETURN_IF_ERROR(AddTo(packed.bytes, tensor.bytes, "the packed tensors' bytes"));
  if (count.kind == PackedCount::Kind::kAuxiliary) return absl::OkStatus();
  ++packed.tensors;
  if (std::find(packed.schemes.begin(), packed.schemes.end(), count.scheme) ==
      packed.schemes.end()) {
    packed.schemes.push_back(count.scheme);
  }
  if (!count.parameters) {
    ++packed.undecoded;
    return absl::OkStatus();
  }
  VT_RETURN_IF_ERROR(AddTo(packed.parameters, *count.parameters, "the packed parameters"));
  const TensorRole role = RoleOfTensor(tensor.name, {});
  return AddTo(PartOf(role, summary.parts), *count.parameters, "the parameters");
}

absl::Status AddOne(const TensorInfo& tensor, const TiedHeads& heads, const PackedWeights& packing,
                    TensorSummary& summary) {
  VT_RETURN_IF_ERROR(AddTensor(tensor, summary.all));
  VT_RETURN_IF_ERROR(AddTensor(tensor, summary.types[tensor.type]));
  const PackedCount count = packing.CountTensor(tensor);
  if (count.kind != PackedCount::Kind::kPlain) return AddPacked(tensor, count, summary);
  const TensorRole role = RoleOfTensor(tensor.name, tensor.shape);
  if (role == TensorRole::kBuffer) return AddTensor(tensor, summary.buffers);
  if (const TensorInfo* repeated = heads.Repeated(tensor); repeated != nullptr) {
    summary.notes.push_back(absl::StrCat(Quoted(tensor.name), " is tied to ",
                                         Quoted(repeated->name), " and is counted once"));
    return AddTensor(tensor, summary.tied);
  }
  return AddTo(PartOf(role, summary.parts), tensor.elements, "the parameters");
}

void AddSummaryNotes(TensorSummary& summary) {
  if (summary.buffers.tensors > 0) {
    summary.notes.push_back(
        absl::StrCat(summary.buffers.tensors,
                     " tensors are buffers (masks, rotary frequencies, position "
                     "ids), not parameters, and aren't counted"));
  }
  if (summary.packed.undecoded > 0) {
    summary.notes.push_back(absl::StrCat(summary.packed.undecoded,
                                         " packed tensors don't tell in the header how many "
                                         "parameters they hold; they aren't counted"));
  }
}

}  // namespace

absl::StatusOr<TensorSummary> SummarizeTensors(const std::vector<TensorInfo>& tensors,
                                               std::optional<bool> tied) {
  if (tensors.empty()) return absl::InvalidArgumentError("the header names no tensor");
  TensorSummary summary;
  const TiedHeads heads(tensors, tied);
  const PackedWeights packing(tensors);
  for (const TensorInfo& tensor : tensors) {
    VT_RETURN_IF_ERROR(AddOne(tensor, heads, packing, summary));
  }
  const ParameterParts& parts = summary.parts;
  const Checked total = Checked(parts.embedding) + parts.positions + parts.attention + parts.mlp +
                        parts.norm + parts.head + parts.other;
  VT_ASSIGN_OR_RETURN(summary.total, total.Value("the parameters"));
  AddSummaryNotes(summary);
  return summary;
}

}  // namespace vectable
