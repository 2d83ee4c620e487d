#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vectable {

// Unpacks bytes that come in pieces. Not thread-safe.
class Unpacker {
 public:
  virtual ~Unpacker() = default;

  // What came of one step.
  struct Step {
    size_t taken = 0;  // bytes of the input
    size_t made = 0;   // bytes of the output
  };
  // Unpacks from `in` into `out`, which isn't empty; without input it gives what had no room in an
  // earlier `out`. DATA_LOSS when the data are corrupt.
  virtual absl::StatusOr<Step> Unpack(std::string_view in, std::span<char> out) = 0;

  // OK where the packed data may end here, otherwise DATA_LOSS.
  virtual absl::Status CheckEnd() const = 0;
};

// The one for a file that begins so, or null when it isn't packed in a way that is read here: gzip
// (RFC 1952, of any number of members) and zstd (RFC 8878, of any number of frames).
std::unique_ptr<Unpacker> UnpackerFor(std::string_view beginning);

}  // namespace vectable
