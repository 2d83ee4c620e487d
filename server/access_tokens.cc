#include "server/access_tokens.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/file_or_pipe.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

constexpr size_t kMostNameBytes = 64;
constexpr size_t kMostFileBytes = size_t{8} << 20;

std::optional<Right> RightFromName(absl::string_view name) {
  for (const Right right : {Right::kReadOnly, Right::kReadWrite, Right::kAdmin}) {
    if (std::string_view(name.data(), name.size()) == RightName(right)) return right;
  }
  return std::nullopt;
}

bool IsTokenName(absl::string_view name) {
  return name.size() <= kMostNameBytes &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
         });
}

bool IsToken(absl::string_view token) {
  return token.size() >= kLeastTokenBytes && token.size() <= kMostTokenBytes &&
         std::all_of(token.begin(), token.end(),
                     [](unsigned char c) { return absl::ascii_isgraph(c); });
}

std::string RightText(Right right) { return std::string(RightName(right)); }

// What follows "Bearer " in a header's value, whatever its case; empty for another scheme.
absl::string_view TokenIn(absl::string_view authorization) {
  constexpr absl::string_view kScheme = "bearer ";
  if (!absl::StartsWithIgnoreCase(authorization, kScheme)) return {};
  return absl::StripAsciiWhitespace(authorization.substr(kScheme.size()));
}

}  // namespace

AccessTokens::Digest AccessTokens::DigestOf(absl::string_view token) {
  Digest digest;
  EVP_Digest(token.data(), token.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

absl::StatusOr<AccessTokens::Entry> AccessTokens::ParseLine(absl::string_view line) {
  const std::vector<absl::string_view> fields =
      absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (fields.size() != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", fields.size(), " fields; a line is NAME RIGHT TOKEN"));
  }
  if (!IsTokenName(fields[0])) {
    return absl::InvalidArgumentError(
        absl::StrCat("its name isn't 1 to ", kMostNameBytes, " letters, digits, '.', '_' or '-'"));
  }
  const std::optional<Right> right = RightFromName(fields[1]);
  // The field isn't shown: it may be a token at the wrong place.
  if (!right) {
    return absl::InvalidArgumentError(
        "its second field is none of read-only, read-write and admin");
  }
  if (!IsToken(fields[2])) {
    return absl::InvalidArgumentError(
        absl::StrCat("its token isn't ", kLeastTokenBytes, " to ", kMostTokenBytes,
                     " visible ASCII characters (it has ", fields[2].size(), " bytes)"));
  }
  return Entry{std::string(fields[0]), *right, DigestOf(fields[2])};
}

absl::StatusOr<AccessTokens::Entries> AccessTokens::ParseText(absl::string_view text) {
  Entries entries;
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    absl::StatusOr<Entry> entry = ParseLine(line);
    if (!entry.ok()) return Annotate(entry.status(), absl::StrCat("line ", number));
    for (const Entry& other : entries) {
      if (other.digest == entry->digest) {
        return absl::InvalidArgumentError(
            absl::StrCat("line ", number, ": its token is that of ", other.name, " too"));
      }
    }
    entries.push_back(*std::move(entry));
    if (entries.size() > kMostTokens) {
      return absl::InvalidArgumentError(
          absl::StrCat("more than ", WithThousands(kMostTokens), " tokens"));
    }
  }
  if (entries.empty()) return absl::InvalidArgumentError("it has no tokens");
  return entries;
}

absl::Status AccessTokens::Load(const std::string& path) {
  const std::string label = absl::StrCat("token file ", Quoted(path));
  absl::StatusOr<std::string> text = ReadFileOrPipe(path, kMostFileBytes);
  if (!text.ok()) return Annotate(text.status(), label);
  absl::StatusOr<Entries> entries = ParseText(*text);
  OPENSSL_cleanse(text->data(), text->size());
  if (!entries.ok()) return Annotate(entries.status(), label);
  absl::MutexLock lock(&mu_);
  entries_ = std::make_shared<const Entries>(*std::move(entries));
  return absl::OkStatus();
}

std::shared_ptr<const AccessTokens::Entries> AccessTokens::entries() const {
  absl::MutexLock lock(&mu_);
  return entries_;
}

size_t AccessTokens::size() const {
  const std::shared_ptr<const Entries> known = entries();
  return known == nullptr ? 0 : known->size();
}

Admission AccessTokens::Admit(std::string_view authorization, const RpcMethod& method) const {
  const std::shared_ptr<const Entries> known = entries();
  if (known == nullptr) return {};
  const absl::string_view token =
      TokenIn(absl::string_view(authorization.data(), authorization.size()));
  if (token.empty()) {
    return {"", absl::UnauthenticatedError(absl::StrCat(
                    method.Label(),
                    ": this server wants a token, in the header 'authorization: Bearer TOKEN' "
                    "(vectable takes it from --token-file or VECTABLE_TOKEN)"))};
  }
  // All are compared, whichever fits.
  const Digest digest = DigestOf(token);
  const Entry* found = nullptr;
  for (const Entry& entry : *known) {
    if (CRYPTO_memcmp(entry.digest.data(), digest.data(), digest.size()) == 0) found = &entry;
  }
  if (found == nullptr) {
    return {"", absl::UnauthenticatedError(absl::StrCat(
                    method.Label(), ": this server doesn't know the token (or no longer)"))};
  }
  if (found->right < method.needs) {
    return {found->name, absl::PermissionDeniedError(absl::StrCat(
                             method.Label(), " needs a token that is ", RightText(method.needs),
                             "; that of ", found->name, " is ", RightText(found->right)))};
  }
  return {found->name, absl::OkStatus()};
}

}  // namespace vectable
