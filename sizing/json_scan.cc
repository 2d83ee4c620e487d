#include "sizing/json_scan.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"

namespace vectable {
namespace {

// nlohmann's events, of which the parser makes no tree and doesn't recurse.
class ScanHandler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit ScanHandler(JsonVisitor& visitor) : visitor_(visitor) {}

  const absl::Status& status() const { return status_; }

  bool null() override { return Scalar(nullptr); }
  bool boolean(bool value) override { return Scalar(value); }
  bool number_integer(number_integer_t value) override { return Scalar(value); }
  bool number_unsigned(number_unsigned_t value) override { return Scalar(value); }
  bool number_float(number_float_t value, const string_t&) override { return Scalar(value); }
  bool string(string_t& value) override { return Scalar(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON has none
  bool key(string_t& value) override { return Keep(visitor_.OnKey(depth_, value)); }
  bool start_object(size_t) override { return Begin(true); }
  bool end_object() override { return End(true); }
  bool start_array(size_t) override { return Begin(false); }
  bool end_array() override { return End(false); }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return Keep(absl::InvalidArgumentError(absl::StrCat("not valid JSON at byte ", position)));
  }

 private:
  bool Keep(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
    return status_.ok();
  }
  bool Scalar(JsonScalar scalar) { return Keep(visitor_.OnScalar(depth_, std::move(scalar))); }
  bool Begin(bool object) {
    if (depth_ >= kMaxJsonDepth) {
      return Keep(absl::InvalidArgumentError(
          absl::StrCat("JSON nested deeper than ", kMaxJsonDepth, " levels")));
    }
    if (!Keep(visitor_.OnBegin(depth_, object))) return false;
    ++depth_;
    return true;
  }
  bool End(bool object) {
    --depth_;
    return Keep(visitor_.OnEnd(depth_, object));
  }

  JsonVisitor& visitor_;
  absl::Status status_;
  size_t depth_ = 0;
};

}  // namespace

const char* JsonKind(const JsonScalar& scalar) {
  constexpr std::array<const char*, 6> kKinds = {"null",     "true or false", "a number",
                                                 "a number", "a number",      "a string"};
  return kKinds[scalar.index()];
}

absl::Status ScanJson(std::string_view text, JsonVisitor& visitor) {
  ScanHandler handler(visitor);
  const bool read = nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  if (!handler.status().ok()) return handler.status();
  return read ? absl::OkStatus() : absl::InvalidArgumentError("not valid JSON");
}

}  // namespace vectable
