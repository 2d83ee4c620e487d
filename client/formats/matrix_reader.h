#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "client/formats/byte_source.h"
#include "client/formats/element_type.h"
#include "client/formats/vector_reader.h"
#include "client/formats/word_list.h"
#include "sizing/read_file.h"

namespace vectable {

// The rows of a matrix, in order. Not thread-safe.
class MatrixRows {
 public:
  virtual ~MatrixRows() = default;

  // Reads the next row; false at the end. INVALID_ARGUMENT: it holds a number that fp32 can't, and
  // the next call goes on. Other errors are final. The messages lack the file's name and the row.
  virtual absl::StatusOr<bool> Next(std::span<float> row) = 0;

  virtual uint64_t bytes_read() const = 0;
  virtual std::optional<uint64_t> total_bytes() const = 0;
};

// What a matrix file says of itself.
struct MatrixLayout {
  uint64_t dimensions = 0;
  std::optional<uint64_t> rows;  // nothing where only its end tells
  ElementType type;
  uint64_t offset = 0;  // of the first row in the file
};

// Rows that stand one behind the other in a stream, which has given out all before them.
std::unique_ptr<MatrixRows> StreamedRows(std::unique_ptr<ByteSource> bytes,
                                         const MatrixLayout& layout);
// The same in a file of which any part can be read.
std::unique_ptr<MatrixRows> RowsInFile(std::unique_ptr<PartialFile> file,
                                       const MatrixLayout& layout);
// A matrix that is stored column by column.
std::unique_ptr<MatrixRows> ColumnsInFile(std::unique_ptr<PartialFile> file,
                                          const MatrixLayout& layout);

// OK when dimensions() can be those of a table and the sizes fit 64 bits; INVALID_ARGUMENT, with
// the number and the limit.
absl::Status CheckLayout(const MatrixLayout& layout);

// OK when a file of `file_bytes` ends with the matrix's last row; DATA_LOSS tells it from what its
// header promises. Before anything is read, where the size is known.
absl::Status CheckFileSize(const MatrixLayout& layout, uint64_t file_bytes);

// Reads a matrix whose rows' words stand in a list.
class MatrixReader final : public VectorReader {
 public:
  // `name` is the file's, for messages; `format` says for people what it is. FAILED_PRECONDITION
  // when the list and the matrix have different numbers of rows.
  static absl::StatusOr<std::unique_ptr<VectorReader>> Create(std::string name, std::string format,
                                                              const MatrixLayout& layout,
                                                              std::unique_ptr<MatrixRows> rows,
                                                              std::unique_ptr<WordList> words);

  absl::StatusOr<bool> Next(VectorRow& row) override;
  uint32_t dimensions() const override { return dimensions_; }
  std::string Position(uint64_t place) const override;
  uint64_t bytes_read() const override { return rows_->bytes_read(); }
  std::optional<uint64_t> total_bytes() const override { return rows_->total_bytes(); }
  std::string Description() const override { return description_; }
  std::string Doubts() const override;

 private:
  MatrixReader(std::string name, std::string description, const MatrixLayout& layout,
               std::unique_ptr<MatrixRows> rows, std::unique_ptr<WordList> words)
      : name_(std::move(name)),
        description_(std::move(description)),
        dimensions_(static_cast<uint32_t>(layout.dimensions)),
        rows_(std::move(rows)),
        words_(std::move(words)) {}

  absl::Status CheckListEnds();

  const std::string name_;
  const std::string description_;
  const uint32_t dimensions_;
  const std::unique_ptr<MatrixRows> rows_;
  const std::unique_ptr<WordList> words_;
  uint64_t read_ = 0;
  uint64_t unnamed_ = 0;  // rows that the list has no word for
};

// The file at `path`, which any part can be read of. Errors are those of PartialFile, with its
// name.
absl::StatusOr<std::unique_ptr<PartialFile>> OpenPlain(const std::string& path);

// The list of words that the options ask for, or that stands beside the file, or numbers.
absl::StatusOr<std::unique_ptr<WordList>> WordsFor(const std::string& path,
                                                   const ReadOptions& options, bool model = false);

}  // namespace vectable
