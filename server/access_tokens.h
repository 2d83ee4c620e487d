#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/rpc_method.h"

namespace vectable {

inline constexpr size_t kLeastTokenBytes = 16;
inline constexpr size_t kMostTokenBytes = 512;
inline constexpr size_t kMostTokens = 1'000;

// Whether a call is let in.
struct Admission {
  std::string caller;   // whose token it shows; empty for none, and one that isn't known
  absl::Status status;  // OK, or why not
};

// Who may call what: the bearer tokens of a file (RFC 6750), one a line:
//
//   # NAME     RIGHT (read-only, read-write or admin)   TOKEN
//   dashboard  read-only                                s3nVJ8...
//
// A name is of letters, digits, '.', '_' and '-', is no secret and stands in logs; two lines may
// share one, as while a token is replaced by another. A token is of 16 to 512 visible ASCII
// characters. Only digests of tokens are kept (SHA-256), and no error or log holds a token.
// Thread-safe.
class AccessTokens {
 public:
  // Until a file is loaded everybody may call everything.
  AccessTokens() = default;

  // Takes the file's tokens in place of those before. An error (NOT_FOUND, PERMISSION_DENIED,
  // INVALID_ARGUMENT with the line) changes nothing.
  absl::Status Load(const std::string& path);

  // The number of tokens; 0: everybody may call everything.
  size_t size() const;

  // Whether the token in the value of an "authorization" header (empty: there is none) allows the
  // call; all calls are where no tokens are loaded. UNAUTHENTICATED for no token, another scheme or
  // an unknown token; PERMISSION_DENIED for a right that is too weak. Takes as long for any token.
  Admission Admit(std::string_view authorization, const RpcMethod& method) const;

 private:
  using Digest = std::array<uint8_t, 32>;
  struct Entry {
    std::string name;
    Right right = Right::kReadOnly;
    Digest digest{};
  };
  using Entries = std::vector<Entry>;

  static Digest DigestOf(absl::string_view token);
  static absl::StatusOr<Entry> ParseLine(absl::string_view line);
  static absl::StatusOr<Entries> ParseText(absl::string_view text);
  std::shared_ptr<const Entries> entries() const;

  mutable absl::Mutex mu_;
  std::shared_ptr<const Entries> entries_ ABSL_GUARDED_BY(mu_);  // null: none were loaded
};

}  // namespace vectable
