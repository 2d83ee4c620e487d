#include <set>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/json_scan.h"
#include "sizing/read_file.h"
#include "sizing/safetensors_header.h"

namespace vectable {
namespace {

constexpr size_t kMaxIndexBytes = size_t{256} << 20;
constexpr size_t kMaxShards = 10'000;

// Where a tensor is said to be, and where it was seen.
struct ListedTensor {
  std::string shard;
  bool seen = false;
};

using WeightMap = std::unordered_map<std::string, ListedTensor>;

// Takes {"metadata": ..., "weight_map": {TENSOR: SHARD, ...}}.
class IndexVisitor final : public JsonVisitor {
 public:
  WeightMap weights;
  bool has_map = false;

  absl::Status OnKey(size_t depth, std::string& key) override {
    if (depth == 1) in_map_ = key == "weight_map";
    if (depth == 2 && in_map_) tensor_ = std::move(key);
    return absl::OkStatus();
  }
  absl::Status OnBegin(size_t depth, bool object) override {
    const bool map_begins = depth == 1 && in_map_;
    if ((depth == 0 || map_begins) && !object) return NoMap();
    if (depth > 1 && in_map_) return NoMap();
    has_map = has_map || map_begins;
    return absl::OkStatus();
  }
  absl::Status OnScalar(size_t depth, JsonScalar scalar) override {
    if (depth == 0 || (depth == 1 && in_map_)) return NoMap();
    if (!in_map_) return absl::OkStatus();
    if (!std::holds_alternative<std::string>(scalar)) return NoMap();
    std::string& shard = std::get<std::string>(scalar);
    if (weights.size() >= kMaxTensors) {
      return absl::InvalidArgumentError(
          absl::StrCat("the index lists more than ", kMaxTensors, " tensors, the limit"));
    }
    const auto [at, fresh] = weights.try_emplace(tensor_, ListedTensor{shard});
    if (!fresh && at->second.shard != shard) {
      return absl::InvalidArgumentError(absl::StrCat("tensor ", Quoted(tensor_), " is listed in ",
                                                     Quoted(at->second.shard), " and in ",
                                                     Quoted(shard)));
    }
    return absl::OkStatus();
  }
  absl::Status OnEnd(size_t, bool) override { return absl::OkStatus(); }

 private:
  static absl::Status NoMap() {
    return absl::InvalidArgumentError("the index has no weight_map of tensors to file names");
  }

  bool in_map_ = false;
  std::string tensor_;
};

absl::Status CheckShardName(const std::string& name) {
  if (!name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
      name.find('\0') == std::string::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("shard ", Quoted(name), " isn't the name of a file beside the index"));
}

// Takes a shard's tensors over into `model`, ticking them off.
absl::Status AddShard(const std::string& shard, SafetensorsHeader header, WeightMap& weights,
                      SafetensorsShards& model) {
  ++model.files;
  model.header_bytes += header.header_bytes;
  for (const auto& [name, kept] : header.left_out) {
    if (model.left_out.size() < kMaxTiedNames) model.left_out.emplace(name, kept);
  }
  for (TensorInfo& tensor : header.tensors) {
    const auto listed = weights.find(tensor.name);
    if (listed == weights.end()) {
      ++model.unlisted;
      continue;
    }
    if (listed->second.shard != shard) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor ", Quoted(tensor.name), " is in shard ", Quoted(shard),
                       ", but the index lists it in ", Quoted(listed->second.shard)));
    }
    listed->second.seen = true;
    model.tensors.push_back(std::move(tensor));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SafetensorsShards> ReadSafetensorsIndex(const std::string& path) {
  VT_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path, kMaxIndexBytes));
  IndexVisitor visitor;
  VT_RETURN_IF_ERROR(ScanJson(text, visitor));
  if (!visitor.has_map) {
    return absl::InvalidArgumentError("the index has no weight_map of tensors to file names");
  }
  std::set<std::string> shards;
  for (const auto& [name, listed] : visitor.weights) shards.insert(listed.shard);
  if (shards.size() > kMaxShards) {
    return absl::InvalidArgumentError(
        absl::StrCat("the index lists ", shards.size(), " shards; the limit is ", kMaxShards));
  }
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  SafetensorsShards model;
  for (const std::string& shard : shards) {
    VT_RETURN_IF_ERROR(CheckShardName(shard));
    absl::StatusOr<SafetensorsHeader> header = ReadSafetensorsHeader(folder + shard);
    if (!header.ok()) return Annotate(header.status(), "shard " + Quoted(shard));
    VT_RETURN_IF_ERROR(AddShard(shard, *std::move(header), visitor.weights, model));
  }
  for (const auto& [name, listed] : visitor.weights) {
    if (listed.seen) continue;
    return absl::InvalidArgumentError(absl::StrCat("tensor ", Quoted(name), " is listed in shard ",
                                                   Quoted(listed.shard),
                                                   ", which doesn't have it"));
  }
  return model;
}

}  // namespace vectable
