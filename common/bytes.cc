#include "common/bytes.h"

#include <bit>
#include <concepts>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace vectable {
namespace {

template <std::unsigned_integral T>
void PutLittle(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

template <std::unsigned_integral T>
void PutBig(std::string& out, T value) {
  for (size_t i = sizeof(T); i-- > 0;) out.push_back(static_cast<char>(value >> (8 * i)));
}

template <std::unsigned_integral T>
T GetLittle(std::string_view bytes) {
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;) {
    value = static_cast<T>(value << 8 | static_cast<unsigned char>(bytes[i]));
  }
  return value;
}

template <std::unsigned_integral T>
T GetBig(std::string_view bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value << 8 | static_cast<unsigned char>(bytes[i]));
  }
  return value;
}

}  // namespace

void PutU8(std::string& out, uint8_t value) { out.push_back(static_cast<char>(value)); }
void PutU32Le(std::string& out, uint32_t value) { PutLittle(out, value); }
void PutU64Le(std::string& out, uint64_t value) { PutLittle(out, value); }
void PutU32Be(std::string& out, uint32_t value) { PutBig(out, value); }
void PutU64Be(std::string& out, uint64_t value) { PutBig(out, value); }

void PutVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void PutString(std::string& out, std::string_view value) {
  PutVarint(out, value.size());
  out.append(value);
}

void PutFloatsLe(std::string& out, std::span<const float> values) {
  if constexpr (std::endian::native == std::endian::little) {
    if (values.empty()) return;
    out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  } else {
    for (const float value : values) PutU32Le(out, std::bit_cast<uint32_t>(value));
  }
}

void CopyFloatsLe(std::string_view bytes, std::span<float> out) {
  if constexpr (std::endian::native == std::endian::little) {
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size_bytes());
  } else {
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = std::bit_cast<float>(GetLittle<uint32_t>(bytes.substr(4 * i, 4)));
    }
  }
}

absl::Status ByteReader::Short(const std::string& expected) const {
  return absl::DataLossError(absl::StrCat("truncated at byte ", offset_, " of ", bytes_.size(),
                                          ": ", expected, " expected"));
}

absl::StatusOr<std::string_view> ByteReader::Bytes(size_t count) {
  if (count > remaining()) return Short(absl::StrCat(count, " bytes"));
  const std::string_view taken = bytes_.substr(offset_, count);
  offset_ += count;
  return taken;
}

absl::StatusOr<uint8_t> ByteReader::U8() {
  VT_ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(1));
  return static_cast<uint8_t>(bytes[0]);
}

absl::StatusOr<uint32_t> ByteReader::U32Le() {
  VT_ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(4));
  return GetLittle<uint32_t>(bytes);
}

absl::StatusOr<uint64_t> ByteReader::U64Le() {
  VT_ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(8));
  return GetLittle<uint64_t>(bytes);
}

absl::StatusOr<uint32_t> ByteReader::U32Be() {
  VT_ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(4));
  return GetBig<uint32_t>(bytes);
}

absl::StatusOr<uint64_t> ByteReader::U64Be() {
  VT_ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(8));
  return GetBig<uint64_t>(bytes);
}

absl::StatusOr<uint64_t> ByteReader::Varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    VT_ASSIGN_OR_RETURN(const uint8_t byte, U8());
    if (shift == 63 && byte > 1) break;
    value |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
  return absl::DataLossError(absl::StrCat("bad varint before byte ", offset_));
}

absl::StatusOr<uint64_t> ByteReader::VarintUpTo(uint64_t max) {
  VT_ASSIGN_OR_RETURN(const uint64_t value, Varint());
  if (value > max) {
    return absl::DataLossError(
        absl::StrCat("number ", value, " before byte ", offset_, " exceeds ", max));
  }
  return value;
}

absl::StatusOr<std::string_view> ByteReader::String() {
  VT_ASSIGN_OR_RETURN(const uint64_t length, VarintUpTo(remaining()));
  return Bytes(length);
}

absl::Status ByteReader::ExpectEnd() const {
  if (remaining() == 0) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(remaining(), " bytes too many after byte ", offset_));
}

}  // namespace vectable
