#include "index/segment_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/bytes.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

static_assert(std::endian::native == std::endian::little, "columns are little-endian");

constexpr std::string_view kMagic = "VTSEGMNT";
constexpr size_t kPageBytes = 4096;  // of the header; sections begin at multiples of it
constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr uint32_t kMostSections = 64;

absl::Status SystemError(const std::string& what, const std::string& name) {
  const std::string message = absl::StrCat(what, " ", name, ": ", std::strerror(errno));
  return errno == ENOSPC ? absl::ResourceExhaustedError(message) : absl::InternalError(message);
}

uint64_t NextPage(uint64_t offset) { return (offset + kPageBytes - 1) / kPageBytes * kPageBytes; }

}  // namespace

absl::Status SyncFolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  const OwnedFile file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.fd() < 0 || fsync(file.fd()) != 0) return SystemError("syncing", folder);
  return absl::OkStatus();
}

uint64_t HashOfWord(std::string_view word) { return XXH3_64bits(word.data(), word.size()); }

uint32_t HashOfRow(const char* codes, size_t bytes) {
  return static_cast<uint32_t>(XXH3_64bits(codes, bytes));
}

OwnedFile::~OwnedFile() {
  if (fd_ >= 0) close(fd_);
}

FileMapping::~FileMapping() {
  if (start_ != nullptr) munmap(start_, bytes_);
}

void FileMapping::LetGo() const {
  if (start_ != nullptr) madvise(start_, bytes_, MADV_DONTNEED);
}

absl::StatusOr<FileMapping> FileMapping::Make(const OwnedFile& file, uint64_t offset,
                                              size_t bytes) {
  FileMapping mapping;
  if (bytes == 0) return mapping;
  void* const start =
      mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.fd(), static_cast<off_t>(offset));
  if (start == MAP_FAILED) return SystemError("mapping", "a segment file");
  mapping.start_ = start;
  mapping.bytes_ = bytes;
  return mapping;
}

struct SegmentWriter::Section {
  SegmentSection kind;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t hash = 0;
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state{XXH3_createState(),
                                                                 &XXH3_freeState};
};

SegmentWriter::SegmentWriter(OwnedFile file, std::string path, std::string temporary)
    : file_(std::move(file)), path_(std::move(path)), temporary_(std::move(temporary)) {}

SegmentWriter::~SegmentWriter() {
  if (!finished_ && !temporary_.empty()) unlink(temporary_.c_str());
}

absl::StatusOr<std::unique_ptr<SegmentWriter>> SegmentWriter::Create(const std::string& path) {
  const std::string temporary = path.empty() ? "" : path + ".new";
  OwnedFile file(path.empty()
                     ? memfd_create("vectable-segment", MFD_CLOEXEC)
                     : open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.fd() < 0) return SystemError("making", path.empty() ? "a file in memory" : temporary);
  std::unique_ptr<SegmentWriter> writer(new SegmentWriter(std::move(file), path, temporary));
  writer->written_ = kPageBytes;  // the header comes last
  return writer;
}

absl::Status SegmentWriter::Write(const char* data, size_t bytes, uint64_t offset) {
  while (bytes > 0) {
    const ssize_t done = pwrite(file_.fd(), data, bytes, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return SystemError("writing", temporary_);
    data += done;
    bytes -= static_cast<size_t>(done);
    offset += static_cast<uint64_t>(done);
  }
  return absl::OkStatus();
}

absl::Status SegmentWriter::Flush() {
  VT_RETURN_IF_ERROR(Write(buffer_.data(), buffer_.size(), written_));
  written_ += buffer_.size();
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status SegmentWriter::EndSection() {
  if (sections_.empty()) return absl::OkStatus();
  VT_RETURN_IF_ERROR(Flush());
  Section& last = sections_.back();
  if (last.state != nullptr) last.hash = XXH3_64bits_digest(last.state.get());
  last.state.reset();
  written_ = NextPage(written_);
  return absl::OkStatus();
}

absl::Status SegmentWriter::Begin(SegmentSection section) {
  VT_RETURN_IF_ERROR(EndSection());
  Section& begun = sections_.emplace_back();
  begun.kind = section;
  begun.offset = written_;
  XXH3_64bits_reset(begun.state.get());
  return absl::OkStatus();
}

absl::Status SegmentWriter::Append(const void* data, size_t bytes) {
  Section& section = sections_.back();
  XXH3_64bits_update(section.state.get(), data, bytes);
  section.bytes += bytes;
  buffer_.append(static_cast<const char*>(data), bytes);
  return buffer_.size() < kBufferBytes ? absl::OkStatus() : Flush();
}

absl::StatusOr<FileMapping> SegmentWriter::Map(SegmentSection section) {
  VT_RETURN_IF_ERROR(Flush());
  for (const Section& one : sections_) {
    if (one.kind == section) return FileMapping::Make(file_, one.offset, one.bytes);
  }
  return absl::InternalError("the section wasn't written");
}

absl::StatusOr<OwnedFile> SegmentWriter::Finish(const SegmentFacts& facts) {
  VT_RETURN_IF_ERROR(EndSection());
  std::string header(kMagic);
  PutU32Le(header, kSegmentFormatVersion);
  PutU64Le(header, written_);
  PutU8(header, static_cast<uint8_t>(facts.metric));
  PutU8(header, static_cast<uint8_t>(facts.precision));
  PutU32Le(header, facts.dimensions);
  PutU64Le(header, facts.slots);
  PutU64Le(header, facts.sorted_slots);
  PutU32Le(header, facts.degree);
  PutU32Le(header, facts.upper_degree);
  PutU32Le(header, facts.top_level);
  PutU32Le(header, facts.entry_node);
  PutU32Le(header, facts.entry_slot);
  PutU32Le(header, static_cast<uint32_t>(sections_.size()));
  for (const Section& section : sections_) {
    PutU32Le(header, static_cast<uint32_t>(section.kind));
    PutU64Le(header, section.offset);
    PutU64Le(header, section.bytes);
    PutU64Le(header, section.hash);
  }
  header.resize(kPageBytes - sizeof(uint64_t));
  PutU64Le(header, XXH3_64bits(header.data(), header.size()));
  VT_RETURN_IF_ERROR(Write(header.data(), header.size(), 0));
  if (ftruncate(file_.fd(), static_cast<off_t>(written_)) != 0) {
    return SystemError("writing", temporary_);
  }
  if (!path_.empty()) {
    if (fsync(file_.fd()) != 0) return SystemError("syncing", temporary_);
    if (rename(temporary_.c_str(), path_.c_str()) != 0) return SystemError("renaming", temporary_);
    finished_ = true;
    VT_RETURN_IF_ERROR(SyncFolderOf(path_));
  }
  finished_ = true;
  return std::move(file_);
}

absl::StatusOr<SegmentReader> SegmentReader::Open(const std::string& path) {
  OwnedFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd() < 0) return SystemError("opening", path);
  return Open(std::move(file), path);
}

absl::StatusOr<SegmentReader> SegmentReader::Open(OwnedFile file, std::string name) {
  SegmentReader reader(std::move(file), std::move(name));
  VT_RETURN_IF_ERROR(Annotate(reader.ReadHeader(), reader.name_));
  return reader;
}

absl::Status SegmentReader::ReadHeader() {
  std::string page(kPageBytes, '\0');
  if (pread(file_.fd(), page.data(), page.size(), 0) != static_cast<ssize_t>(page.size())) {
    return absl::DataLossError("the segment file is shorter than its header");
  }
  const std::string_view head(page.data(), kPageBytes - sizeof(uint64_t));
  if (!head.starts_with(kMagic)) return absl::DataLossError("not a segment file");
  ByteReader in(head.substr(kMagic.size()));
  VT_ASSIGN_OR_RETURN(const uint32_t version, in.U32Le());
  if (version != kSegmentFormatVersion) {
    return absl::FailedPreconditionError(absl::StrCat("the segment file has format version ",
                                                      version, "; this program knows ",
                                                      kSegmentFormatVersion));
  }
  uint64_t hash;
  std::memcpy(&hash, page.data() + head.size(), sizeof(hash));
  if (hash != XXH3_64bits(head.data(), head.size())) {
    return absl::DataLossError("the header of the segment file is damaged");
  }
  VT_ASSIGN_OR_RETURN(file_bytes_, in.U64Le());
  VT_ASSIGN_OR_RETURN(const uint8_t metric, in.U8());
  VT_ASSIGN_OR_RETURN(const uint8_t precision, in.U8());
  facts_.metric = static_cast<Metric>(metric);
  facts_.precision = static_cast<Precision>(precision);
  VT_ASSIGN_OR_RETURN(facts_.dimensions, in.U32Le());
  VT_ASSIGN_OR_RETURN(facts_.slots, in.U64Le());
  VT_ASSIGN_OR_RETURN(facts_.sorted_slots, in.U64Le());
  for (uint32_t* fact : {&facts_.degree, &facts_.upper_degree, &facts_.top_level,
                         &facts_.entry_node, &facts_.entry_slot}) {
    VT_ASSIGN_OR_RETURN(*fact, in.U32Le());
  }
  VT_ASSIGN_OR_RETURN(const uint32_t sections, in.U32Le());
  if (sections > kMostSections)
    return absl::DataLossError("the segment file has too many sections");
  for (uint32_t i = 0; i < sections; ++i) {
    Section section;
    VT_ASSIGN_OR_RETURN(const uint32_t kind, in.U32Le());
    section.kind = static_cast<SegmentSection>(kind);
    VT_ASSIGN_OR_RETURN(section.offset, in.U64Le());
    VT_ASSIGN_OR_RETURN(section.bytes, in.U64Le());
    VT_ASSIGN_OR_RETURN(section.hash, in.U64Le());
    if (section.offset % kPageBytes != 0 || section.offset > file_bytes_ ||
        section.bytes > file_bytes_ - section.offset) {
      return absl::DataLossError("a section lies outside the segment file");
    }
    sections_.push_back(section);
  }
  struct stat status;
  if (fstat(file_.fd(), &status) != 0) return SystemError("reading", "the segment file");
  if (static_cast<uint64_t>(status.st_size) != file_bytes_) {
    return absl::DataLossError(absl::StrCat("the segment file has ", status.st_size,
                                            " bytes; its header says ", file_bytes_));
  }
  return absl::OkStatus();
}

const SegmentReader::Section* SegmentReader::Find(SegmentSection section) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [section](const Section& one) { return one.kind == section; });
  return found == sections_.end() ? nullptr : &*found;
}

uint64_t SegmentReader::Bytes(SegmentSection section) const {
  const Section* const found = Find(section);
  return found == nullptr ? 0 : found->bytes;
}

absl::Status SegmentReader::Damaged(SegmentSection section, std::string_view what) const {
  return absl::DataLossError(
      absl::StrCat(name_, ": section ", static_cast<uint32_t>(section), " ", std::string(what)));
}

absl::StatusOr<const SegmentReader::Section*> SegmentReader::FindOfSize(SegmentSection section,
                                                                        size_t bytes) const {
  const Section* const found = Find(section);
  if (found == nullptr) return Damaged(section, "is missing");
  if (found->bytes != bytes) {
    return Damaged(section, absl::StrCat("has ", found->bytes, " bytes; it must have ", bytes));
  }
  return found;
}

absl::Status SegmentReader::Read(SegmentSection section, void* out, size_t bytes) const {
  VT_ASSIGN_OR_RETURN(const Section* const found, FindOfSize(section, bytes));
  char* to = static_cast<char*>(out);
  for (size_t done = 0; done < bytes;) {
    const ssize_t got =
        pread(file_.fd(), to + done, bytes - done, static_cast<off_t>(found->offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("reading", name_);
    if (got == 0) return Damaged(section, "ends early");
    done += static_cast<size_t>(got);
  }
  if (XXH3_64bits(out, bytes) != found->hash) return Damaged(section, "is damaged");
  return absl::OkStatus();
}

absl::StatusOr<FileMapping> SegmentReader::Map(SegmentSection section, size_t bytes) const {
  VT_ASSIGN_OR_RETURN(const Section* const found, FindOfSize(section, bytes));
  return FileMapping::Make(file_, found->offset, found->bytes);
}

absl::Status SegmentReader::Check(SegmentSection section, const FileMapping& mapping) const {
  const Section* const found = Find(section);
  if (found == nullptr) return Damaged(section, "is missing");
  const bool whole = XXH3_64bits(mapping.data(), found->bytes) == found->hash;
  mapping.LetGo();  // what searches want of it they read again
  return whole ? absl::OkStatus() : Damaged(section, "is damaged");
}

}  // namespace vectable
