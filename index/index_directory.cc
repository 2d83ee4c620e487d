#include "index/index_directory.h"

#include <fcntl.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/bytes.h"
#include "common/status_util.h"
#include "index/segment_file.h"

namespace vectable {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kManifestMagic = "VTINDEX\n";
constexpr uint32_t kManifestVersion = 1;
constexpr char kManifestName[] = "MANIFEST";
constexpr std::string_view kSuffix = ".segment";

std::optional<uint64_t> NumberOf(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.ends_with(kSuffix)) return std::nullopt;
  uint64_t number = 0;
  const char* const end = name.data() + name.size() - kSuffix.size();
  const auto [stop, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::string Encode(const IndexManifest& manifest) {
  std::string out(kManifestMagic);
  PutU32Le(out, kManifestVersion);
  PutU64Le(out, static_cast<uint64_t>(manifest.table_created));
  PutVarint(out, manifest.covered);
  PutVarint(out, manifest.written);
  PutVarint(out, manifest.segments.size());
  for (const IndexManifest::Segment& segment : manifest.segments) {
    PutVarint(out, segment.file);
    PutVarint(out, segment.dead.size());
    uint32_t before = 0;
    for (const uint32_t slot : segment.dead) {
      PutVarint(out, slot - before);
      before = slot;
    }
  }
  PutU64Le(out, XXH3_64bits(out.data(), out.size()));
  return out;
}

absl::StatusOr<IndexManifest> Decode(std::string_view bytes) {
  if (bytes.size() < kManifestMagic.size() + sizeof(uint64_t) ||
      !bytes.starts_with(kManifestMagic)) {
    return absl::DataLossError("not an index manifest");
  }
  const std::string_view body = bytes.substr(0, bytes.size() - sizeof(uint64_t));
  uint64_t hash;
  std::memcpy(&hash, bytes.data() + body.size(), sizeof(hash));
  ByteReader in(body.substr(kManifestMagic.size()));
  VT_ASSIGN_OR_RETURN(const uint32_t version, in.U32Le());
  if (version > kManifestVersion) {
    return absl::FailedPreconditionError(absl::StrCat("the index manifest has format version ",
                                                      version, "; this program knows ",
                                                      kManifestVersion));
  }
  if (hash != XXH3_64bits(body.data(), body.size())) {
    return absl::DataLossError("the index manifest is damaged");
  }
  IndexManifest manifest;
  VT_ASSIGN_OR_RETURN(const uint64_t created, in.U64Le());
  manifest.table_created = static_cast<int64_t>(created);
  VT_ASSIGN_OR_RETURN(manifest.covered, in.Varint());
  VT_ASSIGN_OR_RETURN(manifest.written, in.Varint());
  VT_ASSIGN_OR_RETURN(const uint64_t segments, in.VarintUpTo(body.size()));
  for (uint64_t i = 0; i < segments; ++i) {
    IndexManifest::Segment& segment = manifest.segments.emplace_back();
    VT_ASSIGN_OR_RETURN(segment.file, in.Varint());
    VT_ASSIGN_OR_RETURN(const uint64_t dead, in.VarintUpTo(body.size()));
    uint64_t slot = 0;
    for (uint64_t d = 0; d < dead; ++d) {
      VT_ASSIGN_OR_RETURN(const uint64_t more, in.VarintUpTo(UINT32_MAX));
      slot += more;
      if (slot > UINT32_MAX) return absl::DataLossError("the index manifest names no slot");
      segment.dead.push_back(static_cast<uint32_t>(slot));
    }
  }
  VT_RETURN_IF_ERROR(in.ExpectEnd());
  return manifest;
}

absl::Status FileError(const std::string& what, const std::string& path) {
  const std::string text = absl::StrCat(what, " ", path, ": ", std::strerror(errno));
  return errno == ENOSPC ? absl::ResourceExhaustedError(text) : absl::InternalError(text);
}

absl::Status WriteWhole(const std::string& path, const std::string& bytes) {
  const std::string temporary = path + ".new";
  const OwnedFile file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.fd() < 0) return FileError("making", temporary);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t wrote = write(file.fd(), bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return FileError("writing", temporary);
    done += static_cast<size_t>(wrote);
  }
  if (fsync(file.fd()) != 0) return FileError("syncing", temporary);
  if (rename(temporary.c_str(), path.c_str()) != 0) return FileError("renaming", temporary);
  return SyncFolderOf(path);
}

}  // namespace

std::string IndexFolderOf(const std::string& folder, uint32_t table_id) {
  return absl::StrCat(folder, "/t", table_id);
}

void RemoveOtherIndexes(const std::string& folder, const std::vector<uint32_t>& table_ids) {
  std::error_code error;
  std::vector<fs::path> others;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const bool known = std::any_of(table_ids.begin(), table_ids.end(), [&](uint32_t id) {
      return entry.path() == fs::path(IndexFolderOf(folder, id));
    });
    if (!known && entry.path().filename().string().starts_with("t")) others.push_back(entry.path());
  }
  for (const fs::path& other : others) fs::remove_all(other, error);
}

std::string IndexDirectory::PathOf(uint64_t file) const {
  return absl::StrCat(path_, "/", file, std::string(kSuffix));
}

absl::StatusOr<std::optional<IndexManifest>> IndexDirectory::ReadManifest() const {
  absl::MutexLock lock(&mu_);
  return ReadManifestLocked();
}

absl::StatusOr<std::optional<IndexManifest>> IndexDirectory::ReadManifestLocked() const {
  const std::string path = absl::StrCat(path_, "/", kManifestName);
  std::error_code error;
  if (!fs::exists(path, error)) return std::optional<IndexManifest>();
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) return absl::DataLossError(absl::StrCat("can't read ", path));
  absl::StatusOr<IndexManifest> manifest = Decode(bytes);
  if (!manifest.ok()) return Annotate(manifest.status(), path);
  return std::optional<IndexManifest>(*std::move(manifest));
}

absl::Status IndexDirectory::WriteManifest(const IndexManifest& manifest) {
  absl::MutexLock lock(&mu_);
  std::error_code error;
  fs::create_directories(path_, error);
  VT_RETURN_IF_ERROR(WriteWhole(absl::StrCat(path_, "/", kManifestName), Encode(manifest)));
  RemoveUnnamed(manifest);
  return absl::OkStatus();
}

void IndexDirectory::RemoveUnnamed(const IndexManifest& manifest) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
    if (entry.path().filename() == kManifestName) continue;
    const std::optional<uint64_t> number = NumberOf(entry.path());
    const bool named =
        number && std::any_of(manifest.segments.begin(), manifest.segments.end(),
                              [&](const auto& segment) { return segment.file == *number; });
    if (!named) fs::remove(entry.path(), error);
  }
}

absl::StatusOr<uint64_t> IndexDirectory::NewFile() {
  absl::MutexLock lock(&mu_);
  std::error_code error;
  if (next_file_ == 0) {
    fs::create_directories(path_, error);
    if (error) {
      return absl::InternalError(absl::StrCat("making ", path_, ": ", error.message()));
    }
    next_file_ = 1;
    for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
      if (const std::optional<uint64_t> number = NumberOf(entry.path())) {
        next_file_ = std::max(next_file_, *number + 1);
      }
    }
  }
  return next_file_++;
}

absl::Status IndexDirectory::LinkInto(const std::string& path) const {
  absl::MutexLock lock(&mu_);
  VT_ASSIGN_OR_RETURN(const std::optional<IndexManifest> manifest, ReadManifestLocked());
  if (!manifest) return absl::OkStatus();
  std::error_code error;
  fs::create_directories(path, error);
  for (const IndexManifest::Segment& segment : manifest->segments) {
    if (error) break;
    const std::string name = absl::StrCat(segment.file, std::string(kSuffix));
    fs::create_hard_link(PathOf(segment.file), absl::StrCat(path, "/", name), error);
  }
  if (error) {
    const std::string text = absl::StrCat("linking ", path_, " to ", path, ": ", error.message());
    return error == std::errc::no_space_on_device ? absl::ResourceExhaustedError(text)
                                                  : absl::InternalError(text);
  }
  return WriteWhole(absl::StrCat(path, "/", kManifestName), Encode(*manifest));
}

absl::Status IndexDirectory::Remove() {
  absl::MutexLock lock(&mu_);
  std::error_code error;
  fs::remove_all(path_, error);
  next_file_ = 0;
  if (error) return absl::InternalError(absl::StrCat("removing ", path_, ": ", error.message()));
  return absl::OkStatus();
}

}  // namespace vectable
