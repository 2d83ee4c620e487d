#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/formats/line_source.h"
#include "client/formats/vector_reader.h"

namespace vectable {

// How to read a GloVe text.
struct GloveOptions {
  // Values per row; absent: found out from the first lines.
  std::optional<uint32_t> dimensions = {};
  // Number of dimensions to prefer where the first lines leave a choice; 0 for none.
  uint32_t likely_dimensions = 0;
};

// Reads GloVe text: one row per line, the word, then its values, separated by blanks or tabs. The
// last dimensions() fields are the values and all before them is the word, blanks included. A first
// line of two integers, rows and dimensions, as word2vec and fastText write it, is taken as a
// header, and the number of rows is then checked at the end. Lines without any field are passed
// over.
class GloveReader : public VectorReader {
 public:
  // Opens `path` (see LineSource::Open, whose errors it gives) and looks at the first lines.
  // INVALID_ARGUMENT: no row in the file, or the lines can't be rows.
  static absl::StatusOr<std::unique_ptr<GloveReader>> Open(const std::string& path,
                                                           const GloveOptions& options);

  absl::StatusOr<bool> Next(VectorRow& row) override;
  uint32_t dimensions() const override { return dimensions_; }
  std::string Position(uint64_t line) const override;
  uint64_t bytes_read() const override { return source_->bytes_read(); }
  std::optional<uint64_t> total_bytes() const override { return source_->total_bytes(); }

 private:
  // A line read ahead, or the error in its place.
  struct SampleLine {
    uint64_t number = 0;
    absl::StatusOr<std::string> text;
  };

  explicit GloveReader(std::unique_ptr<LineSource> source) : source_(std::move(source)) {}

  absl::Status ReadSample();
  absl::Status FindLayout(const GloveOptions& options);
  absl::Status TakeHeader(const GloveOptions& options, uint32_t guessed);
  absl::StatusOr<bool> NextLine(std::string_view& line, uint64_t& number);
  absl::Status ParseRow(std::string_view line, uint64_t number, VectorRow& row);
  absl::Status ParseValues(uint64_t number, VectorRow& row) const;
  absl::Status CheckCount(uint64_t number) const;
  absl::Status Error(absl::StatusCode code, uint64_t line, const std::string& reason) const;

  std::unique_ptr<LineSource> source_;
  std::deque<SampleLine> sample_;  // lines read ahead, still to be given out
  std::string line_;               // keeps the last of them alive
  std::vector<std::string_view> fields_;
  uint32_t dimensions_ = 0;
  std::optional<uint64_t> promised_rows_;
  uint64_t rows_ = 0;
};

}  // namespace vectable
