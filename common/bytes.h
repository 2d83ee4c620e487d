#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vectable {

// Writers of integers and strings with a fixed byte order, for every stored or sent format.
void PutU8(std::string& out, uint8_t value);
void PutU32Le(std::string& out, uint32_t value);
void PutU64Le(std::string& out, uint64_t value);
void PutU32Be(std::string& out, uint32_t value);  // sorts as the number does
void PutU64Be(std::string& out, uint64_t value);  // sorts as the number does
// Base-128, low groups first, 1 to 10 bytes (the varint of Protocol Buffers).
void PutVarint(std::string& out, uint64_t value);
// Varint length, then the bytes.
void PutString(std::string& out, std::string_view value);
// IEEE 754 binary32, little-endian, without a length.
void PutFloatsLe(std::string& out, std::span<const float> values);

// Reads what the writers wrote, checking lengths; never reads past the end. Errors are DATA_LOSS
// and name the offset. The bytes must outlive the reader.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<uint8_t> U8();
  absl::StatusOr<uint32_t> U32Le();
  absl::StatusOr<uint64_t> U64Le();
  absl::StatusOr<uint32_t> U32Be();
  absl::StatusOr<uint64_t> U64Be();
  absl::StatusOr<uint64_t> Varint();
  // A varint that must not exceed `max`.
  absl::StatusOr<uint64_t> VarintUpTo(uint64_t max);
  // The next `count` bytes.
  absl::StatusOr<std::string_view> Bytes(size_t count);
  // What PutString wrote.
  absl::StatusOr<std::string_view> String();

  size_t remaining() const { return bytes_.size() - offset_; }
  // OK when everything was read.
  absl::Status ExpectEnd() const;

 private:
  absl::Status Short(const std::string& expected) const;

  std::string_view bytes_;
  size_t offset_ = 0;
};

// Copies little-endian floats to `out`; `bytes` is exactly four times as long.
void CopyFloatsLe(std::string_view bytes, std::span<float> out);

}  // namespace vectable
