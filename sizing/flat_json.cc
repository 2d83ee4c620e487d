#include "sizing/flat_json.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {

// Fills a FlatJson; what lies deeper than its members passes by.
class FlatJsonVisitor final : public JsonVisitor {
 public:
  explicit FlatJsonVisitor(FlatJson& json) : json_(json) {}

  absl::Status OnKey(size_t depth, std::string& key) override {
    if (depth != 1) return absl::OkStatus();
    if (++members_ > kMaxFlatJsonMembers) {
      return absl::InvalidArgumentError(absl::StrCat("the JSON object has more than ",
                                                     kMaxFlatJsonMembers, " members, the limit"));
    }
    key_ = std::move(key);
    return absl::OkStatus();
  }
  absl::Status OnScalar(size_t depth, JsonScalar scalar) override {
    if (depth == 0) return absl::InvalidArgumentError("not a JSON object");
    if (depth == 1) {
      Forget();
      json_.scalars_[key_] = std::move(scalar);
    } else if (depth == 2 && in_array_ && std::holds_alternative<std::string>(scalar)) {
      json_.first_strings_.try_emplace(key_, std::get<std::string>(std::move(scalar)));
    }
    return absl::OkStatus();
  }
  absl::Status OnBegin(size_t depth, bool object) override {
    if (depth == 0 && !object) return absl::InvalidArgumentError("not a JSON object");
    if (depth == 1) {
      Forget();
      json_.nested_[key_] = object;
      in_array_ = !object;
    }
    return absl::OkStatus();
  }
  absl::Status OnEnd(size_t, bool) override { return absl::OkStatus(); }

 private:
  // An earlier member of this name.
  void Forget() {
    json_.scalars_.erase(key_);
    json_.first_strings_.erase(key_);
    json_.nested_.erase(key_);
  }

  FlatJson& json_;
  std::string key_;
  size_t members_ = 0;
  bool in_array_ = false;
};

absl::StatusOr<FlatJson> FlatJson::Parse(std::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(text.size(), " bytes of JSON; the limit is ", max_bytes));
  }
  FlatJson json;
  FlatJsonVisitor visitor(json);
  VT_RETURN_IF_ERROR(ScanJson(text, visitor));
  return json;
}

const JsonScalar* FlatJson::Find(const std::string& name) const {
  const auto found = scalars_.find(name);
  if (found == scalars_.end() || std::holds_alternative<std::nullptr_t>(found->second)) {
    return nullptr;
  }
  return &found->second;
}

bool FlatJson::Has(const std::string& name) const {
  return Find(name) != nullptr || nested_.contains(name);
}

absl::StatusOr<std::optional<uint64_t>> FlatJson::Number(const std::string& name) const {
  const JsonScalar* scalar = Find(name);
  if (scalar != nullptr && std::holds_alternative<uint64_t>(*scalar)) {
    return std::get<uint64_t>(*scalar);
  }
  if (scalar == nullptr && !nested_.contains(name)) return std::nullopt;
  std::string found = scalar == nullptr ? "no plain value" : JsonKind(*scalar);
  if (scalar != nullptr && std::holds_alternative<int64_t>(*scalar)) {
    found = absl::StrCat(std::get<int64_t>(*scalar));
  } else if (scalar != nullptr && std::holds_alternative<double>(*scalar)) {
    found = absl::StrCat(std::get<double>(*scalar));
  } else if (scalar != nullptr && std::holds_alternative<std::string>(*scalar)) {
    found = absl::StrCat("the string ", Quoted(std::get<std::string>(*scalar)));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name, " must be a whole number of 0 or more; it is ", found));
}

absl::StatusOr<std::optional<bool>> FlatJson::Bool(const std::string& name) const {
  const JsonScalar* scalar = Find(name);
  if (scalar != nullptr && std::holds_alternative<bool>(*scalar)) return std::get<bool>(*scalar);
  if (scalar == nullptr && !nested_.contains(name)) return std::nullopt;
  return absl::InvalidArgumentError(
      absl::StrCat(name, " must be true or false; it is ",
                   scalar == nullptr ? "no plain value" : JsonKind(*scalar)));
}

absl::StatusOr<std::optional<std::string>> FlatJson::String(const std::string& name) const {
  const JsonScalar* scalar = Find(name);
  if (scalar != nullptr && std::holds_alternative<std::string>(*scalar)) {
    return std::get<std::string>(*scalar);
  }
  if (scalar == nullptr && !nested_.contains(name)) return std::nullopt;
  return absl::InvalidArgumentError(absl::StrCat(
      name, " must be a string; it is ", scalar == nullptr ? "no plain value" : JsonKind(*scalar)));
}

std::string FlatJson::FirstString(const std::string& name) const {
  const auto found = first_strings_.find(name);
  return found == first_strings_.end() ? "" : found->second;
}

}  // namespace vectable
