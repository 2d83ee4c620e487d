#include "server/scan_token.h"

#include <utility>
#include <variant>

#include "common/bytes.h"
#include "common/status_util.h"

namespace vectable {
namespace {

// A token: version, hash of the listing (8 bytes), then the id of the last row as a varint or its
// word as a string, then a check sum over all that (4 bytes).
constexpr uint8_t kTokenVersion = 1;
constexpr size_t kCheckSumBytes = 4;

// FNV-1a.
uint64_t Hash(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

uint32_t CheckSum(std::string_view bytes) {
  const uint64_t hash = Hash(bytes);
  return static_cast<uint32_t>(hash ^ (hash >> 32));
}

uint64_t HashListing(int64_t created_unix_micros, const ScanRange& range) {
  std::string bytes;
  PutU64Le(bytes, static_cast<uint64_t>(created_unix_micros));
  PutU8(bytes, static_cast<uint8_t>(range.index()));
  if (const auto* words = std::get_if<WordPrefix>(&range)) {
    PutString(bytes, words->prefix);
  } else {
    const RowIdRange& ids = std::get<RowIdRange>(range);
    PutU64Le(bytes, ids.begin);
    PutU8(bytes, ids.end.has_value() ? 1 : 0);
    PutU64Le(bytes, ids.end.value_or(0));
  }
  return Hash(bytes);
}

absl::Status BadToken(const char* why) {
  return absl::InvalidArgumentError(std::string("resume_token ") + why);
}

// The token without its check sum, after checking it.
absl::StatusOr<std::string_view> CheckedBody(std::string_view token) {
  if (token.size() < kCheckSumBytes) return BadToken("is cut short");
  const std::string_view body = token.substr(0, token.size() - kCheckSumBytes);
  VT_ASSIGN_OR_RETURN(const uint32_t check_sum, ByteReader(token.substr(body.size())).U32Le());
  if (check_sum != CheckSum(body)) return BadToken("is damaged, or not one of this server's");
  return body;
}

}  // namespace

ScanTokens::ScanTokens(int64_t created_unix_micros, ScanRange range)
    : range_(std::move(range)), listing_(HashListing(created_unix_micros, range_)) {}

std::string ScanTokens::After(const RowValue& row) const {
  std::string token;
  PutU8(token, kTokenVersion);
  PutU64Le(token, listing_);
  if (by_word()) {
    PutString(token, row.word);
  } else {
    PutVarint(token, row.row_id);
  }
  PutU32Le(token, CheckSum(token));
  return token;
}

absl::StatusOr<ScanRange> ScanTokens::Rest(std::string_view token) const {
  VT_ASSIGN_OR_RETURN(const std::string_view body, CheckedBody(token));
  ByteReader reader(body);
  const absl::StatusOr<uint8_t> version = reader.U8();
  if (!version.ok()) return BadToken("is cut short");
  if (*version != kTokenVersion) return BadToken("was made by another version of the server");
  const absl::StatusOr<uint64_t> listing = reader.U64Le();
  if (!listing.ok()) return BadToken("is cut short");
  if (*listing != listing_) return BadToken("belongs to another table or another range");
  if (by_word()) {
    const absl::StatusOr<std::string_view> word = reader.String();
    if (!word.ok() || !reader.ExpectEnd().ok()) return BadToken("is malformed");
    return WordPrefix{.prefix = std::get<WordPrefix>(range_).prefix, .after = std::string(*word)};
  }
  const absl::StatusOr<uint64_t> row_id = reader.Varint();
  if (!row_id.ok() || !reader.ExpectEnd().ok()) return BadToken("is malformed");
  return RowIdRange{.begin = *row_id + 1, .end = std::get<RowIdRange>(range_).end};
}

}  // namespace vectable
