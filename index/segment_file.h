#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/metric.h"
#include "common/precision.h"

// The only place that knows the bytes of a segment file; docs/segment_format.md tells them in
// prose.
namespace vectable {

inline constexpr uint32_t kSegmentFormatVersion = 2;

// The parts of a segment file. Numbers are on disk: they never change their meaning.
enum class SegmentSection : uint32_t {
  kCodes = 1,          // slots x row bytes, at the table's precision
  kNorms = 5,          // float per slot; not under cosine
  kSquaredNorms = 6,   // double per slot
  kRowIds = 7,         // u64 per slot
  kWordEnds = 8,       // u64 per slot: where its word ends in kWords
  kWords = 9,          // all words, back to back
  kWordMap = 10,       // u32 per entry: slot + 1, by the hash of the word; 0 is empty
  kRowIdMap = 11,      // u32 per entry: slot + 1, by the hash of the row id
  kLinks = 12,         // u32, slots x degree: the graph's level 0
  kUpperSlots = 13,    // u32 per node
  kUpperOffsets = 14,  // u32 per node, and one more
  kUpperLinks = 15,    // u32
  kRecallCurve = 16,   // width u32, recall@10 float, recall@100 float per point
  kCoarseCodes = 17,   // slots x stride: upper halves of the search codes
  kFineCodes = 18,     // slots x stride: lower halves
  kRowHashes = 19,     // u32 per slot: HashOfRow of its part of kCodes; older files have none
};

// What a segment file says of itself.
struct SegmentFacts {
  Metric metric = Metric::kCosine;
  Precision precision = Precision::kFp32;
  uint32_t dimensions = 0;
  uint64_t slots = 0;
  uint64_t sorted_slots = 0;  // the first ones, in the order of their row ids
  uint32_t degree = 0;        // of the graph; 0: there is none
  uint32_t upper_degree = 0;
  uint32_t top_level = 0;
  uint32_t entry_node = 0;
  uint32_t entry_slot = 0;
};

// An open file descriptor.
class OwnedFile {
 public:
  explicit OwnedFile(int fd = -1) : fd_(fd) {}
  OwnedFile(OwnedFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFile& operator=(OwnedFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OwnedFile();

  int fd() const { return fd_; }

 private:
  int fd_;
};

// A part of a file in memory, read-only.
class FileMapping {
 public:
  FileMapping() = default;
  FileMapping(FileMapping&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), bytes_(other.bytes_) {}
  FileMapping& operator=(FileMapping&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~FileMapping();

  // From `offset`, a multiple of 4,096, on.
  static absl::StatusOr<FileMapping> Make(const OwnedFile& file, uint64_t offset, size_t bytes);
  const char* data() const { return static_cast<const char*>(start_); }
  // Takes its pages out of the process's memory; who reads them again gets them from the file.
  void LetGo() const;

 private:
  void* start_ = nullptr;
  size_t bytes_ = 0;
};

// Writes a segment file: sections one after another, then Finish. The file appears under its name,
// whole and synced, at the end or not at all.
class SegmentWriter {
 public:
  // An empty path makes a file in memory, without a name.
  static absl::StatusOr<std::unique_ptr<SegmentWriter>> Create(const std::string& path);
  ~SegmentWriter();

  // Begins a section; Append adds to it.
  absl::Status Begin(SegmentSection section);
  absl::Status Append(const void* data, size_t bytes);
  absl::Status Add(SegmentSection section, const void* data, size_t bytes) {
    if (absl::Status status = Begin(section); !status.ok()) return status;
    return Append(data, bytes);
  }
  // What was appended to a section, in memory; before Finish.
  absl::StatusOr<FileMapping> Map(SegmentSection section);

  // Gives the file, open for reading.
  absl::StatusOr<OwnedFile> Finish(const SegmentFacts& facts);

 private:
  struct Section;

  SegmentWriter(OwnedFile file, std::string path, std::string temporary);
  absl::Status Flush();
  absl::Status EndSection();
  absl::Status Write(const char* data, size_t bytes, uint64_t offset);

  OwnedFile file_;
  const std::string path_;
  const std::string temporary_;
  std::vector<Section> sections_;
  std::string buffer_;
  uint64_t written_ = 0;  // bytes of the file
  bool finished_ = false;
};

// A segment file open for reading. Thread-safe.
class SegmentReader {
 public:
  // DATA_LOSS where the header isn't whole, FAILED_PRECONDITION for a newer format.
  static absl::StatusOr<SegmentReader> Open(OwnedFile file, std::string name);
  static absl::StatusOr<SegmentReader> Open(const std::string& path);

  const SegmentFacts& facts() const { return facts_; }
  uint64_t file_bytes() const { return file_bytes_; }
  bool on_disk() const { return !name_.empty(); }
  bool Has(SegmentSection section) const { return Find(section) != nullptr; }
  uint64_t Bytes(SegmentSection section) const;

  // Reads a section of `bytes` bytes into memory and checks it: DATA_LOSS when it isn't what was
  // written or has another size.
  absl::Status Read(SegmentSection section, void* out, size_t bytes) const;
  // Maps a section, unchecked but for its size.
  absl::StatusOr<FileMapping> Map(SegmentSection section, size_t bytes) const;
  // Checks a mapped section.
  absl::Status Check(SegmentSection section, const FileMapping& mapping) const;

 private:
  struct Section {
    SegmentSection kind;
    uint64_t offset;
    uint64_t bytes;
    uint64_t hash;
  };

  SegmentReader(OwnedFile file, std::string name)
      : file_(std::move(file)), name_(std::move(name)) {}
  absl::Status ReadHeader();
  const Section* Find(SegmentSection section) const;
  absl::StatusOr<const Section*> FindOfSize(SegmentSection section, size_t bytes) const;
  absl::Status Damaged(SegmentSection section, std::string_view what) const;

  OwnedFile file_;
  std::string name_;
  SegmentFacts facts_;
  uint64_t file_bytes_ = 0;
  std::vector<Section> sections_;
};

// Makes a new name in the file's folder durable.
absl::Status SyncFolderOf(const std::string& path);

// The hash that places a word in kWordMap.
uint64_t HashOfWord(std::string_view word);

// The hash that a row of kCodes is checked by before it is used.
uint32_t HashOfRow(const char* codes, size_t bytes);

}  // namespace vectable
