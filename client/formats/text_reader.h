#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/formats/formats.h"
#include "client/formats/line_format.h"
#include "client/formats/line_source.h"
#include "client/formats/row_pipeline.h"
#include "client/formats/vector_reader.h"
#include "client/formats/word_list.h"

namespace vectable {

// Reads a text whose rows are lines, on several threads. The number of values is found out from the
// first lines; a header of counts is compared with what comes. Lines without anything but blanks
// are passed over.
class TextReader final : public VectorReader {
 public:
  // `format_name` is for people.
  static absl::StatusOr<std::unique_ptr<VectorReader>> Open(std::unique_ptr<ByteSource> bytes,
                                                            std::unique_ptr<LineFormat> format,
                                                            TextHeader header,
                                                            const std::string& format_name,
                                                            const ReadOptions& options);

  absl::StatusOr<bool> Next(VectorRow& row) override;
  uint32_t dimensions() const override { return dimensions_; }
  std::string Position(uint64_t line) const override;
  const char* place_name() const override { return "line"; }
  uint64_t bytes_read() const override { return lines_->bytes().bytes_read(); }
  std::optional<uint64_t> total_bytes() const override { return lines_->bytes().total_bytes(); }
  std::string Description() const override { return description_; }
  std::vector<std::string> dimension_names() const override { return names_; }
  std::string Doubts() const override;

 private:
  TextReader(std::unique_ptr<LineSource> lines, std::unique_ptr<LineFormat> format)
      : lines_(std::move(lines)), format_(std::move(format)) {}

  absl::Status ReadSample();
  absl::Status FindLayout(TextHeader header, const ReadOptions& options);
  absl::Status FindDimensions(size_t first_row, size_t likely, const ReadOptions& options);
  absl::Status TakeCounts(TextHeader header, const ReadOptions& options);
  absl::Status OpenWords(const ReadOptions& options);
  void Describe(const std::string& format_name);
  absl::StatusOr<bool> ReadBlock(LineBlock& block);
  void ParseBlock(const LineBlock& block, RowBlock& rows) const;
  absl::StatusOr<bool> TakeWord(VectorRow& row);
  absl::Status CheckEnd();
  absl::Status Error(absl::StatusCode code, uint64_t line, std::string_view reason) const;

  const std::unique_ptr<LineSource> lines_;
  const std::unique_ptr<LineFormat> format_;
  uint32_t dimensions_ = 0;
  std::optional<uint64_t> promised_rows_;
  std::vector<std::string> names_;
  bool has_names_ = false;  // the first line was a header of names
  std::string description_;
  std::unique_ptr<WordList> words_;  // where lines have none

  LineBlock sample_;           // the first lines, until they are read as rows
  absl::Status sample_ended_;  // what ended the file within them
  size_t sample_next_ = 0;     // line of it

  RowBlock block_;
  size_t next_ = 0;  // in block_
  uint64_t rows_ = 0;
  uint64_t last_line_ = 0;
  uint64_t numbers_ = 0;  // rows whose word is one
  std::string first_word_;
  uint64_t doubtful_ = 0;
  uint64_t first_doubtful_ = 0;  // its line
  std::string doubtful_word_;

  std::unique_ptr<RowPipeline> pipeline_;  // last: it uses the rest
};

}  // namespace vectable
