#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/formats/writers.h"
#include "common/bytes.h"
#include "common/status_util.h"
#include "common/vector_codec.h"

namespace vectable {
namespace {

class Word2vecBinaryWriter final : public VectorWriter {
 public:
  Word2vecBinaryWriter(std::unique_ptr<OutputFile> file, const WriteOptions& options)
      : file_(std::move(file)), options_(options) {}

  absl::Status Begin() {
    header_ = Counts(options_.rows);
    return file_->Write(header_);
  }

  absl::Status Add(std::string_view word, std::span<const float> vector) override {
    VT_RETURN_IF_ERROR(CheckHolds(word, " \r\n", "word2vec's binary format"));
    row_.assign(word);
    row_ += ' ';
    PutFloatsLe(row_, vector);
    ++rows_;
    return file_->Write(row_);
  }

  absl::Status Finish() override {
    VT_RETURN_IF_ERROR(WriteCounts(*file_, header_, Counts(rows_)));
    return file_->Commit();
  }
  std::vector<std::string> files() const override { return {file_->name()}; }

 private:
  std::string Counts(uint64_t rows) const {
    return fmt::format("{} {}\n", rows, options_.dimensions);
  }

  const std::unique_ptr<OutputFile> file_;
  const WriteOptions options_;
  std::string header_;
  std::string row_;
  uint64_t rows_ = 0;
};

// What differs between the formats of a matrix with its words beside: all rows have the same bytes.
struct MatrixForm {
  Precision precision = Precision::kFp32;  // of the values in the file
  // The bytes before the rows, for a number of them; always as many.
  std::string (*header)(uint64_t rows, uint32_t dimensions, Precision precision) = nullptr;
  std::string before_row = {};
};

class MatrixWriter final : public VectorWriter {
 public:
  MatrixWriter(std::unique_ptr<OutputFile> file, std::unique_ptr<WordsFile> words,
               const WriteOptions& options, MatrixForm form)
      : file_(std::move(file)),
        words_(std::move(words)),
        options_(options),
        form_(std::move(form)),
        codec_(form_.precision, options.dimensions) {}

  absl::Status Begin() { return file_->Write(Header(options_.rows)); }

  absl::Status Add(std::string_view word, std::span<const float> vector) override {
    row_ = form_.before_row;
    VT_RETURN_IF_ERROR(codec_.Encode(vector, row_));
    VT_RETURN_IF_ERROR(words_->Add(word));
    ++rows_;
    return file_->Write(row_);
  }

  absl::Status Finish() override {
    if (rows_ != options_.rows) VT_RETURN_IF_ERROR(file_->WriteAt(0, Header(rows_)));
    VT_RETURN_IF_ERROR(words_->Sync());
    VT_RETURN_IF_ERROR(file_->Sync());
    VT_RETURN_IF_ERROR(words_->Finish());
    return file_->Commit();
  }
  std::vector<std::string> files() const override { return {file_->name(), words_->name()}; }

 private:
  std::string Header(uint64_t rows) const {
    return form_.header ? form_.header(rows, options_.dimensions, form_.precision) : "";
  }

  const std::unique_ptr<OutputFile> file_;
  const std::unique_ptr<WordsFile> words_;
  const WriteOptions options_;
  const MatrixForm form_;
  const VectorCodec codec_;
  std::string row_;
  uint64_t rows_ = 0;
};

// NEP 1, version 1.0; 128 bytes for any number of rows.
std::string NpyStart(uint64_t rows, uint32_t dimensions, Precision precision) {
  constexpr size_t kHeaderBytes = 128;
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(kHeaderBytes - 10);
  header += '\0';
  header += fmt::format("{{'descr': '<{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                        precision == Precision::kFp16 ? "f2" : "f4", rows, dimensions);
  header.resize(kHeaderBytes - 1, ' ');
  header += '\n';
  return header;
}

std::string SafetensorsStart(uint64_t rows, uint32_t dimensions, Precision precision) {
  constexpr size_t kJsonBytes = 248;  // blanks fill it up, as the format allows
  const VectorCodec codec(precision, dimensions);
  const char* const type = precision == Precision::kFp16   ? "F16"
                           : precision == Precision::kBf16 ? "BF16"
                                                           : "F32";
  std::string json = fmt::format(
      R"({{"__metadata__":{{"format":"pt"}},"embeddings":{{"dtype":"{}","shape":[{},{}],)"
      R"("data_offsets":[0,{}]}}}})",
      type, rows, dimensions, rows * codec.row_bytes());
  json.resize(kJsonBytes, ' ');
  std::string header;
  PutU64Le(header, kJsonBytes);
  return header + json;
}

// faiss/impl/index_write.cpp; see ReadFaissHeader.
std::string FaissStart(uint64_t rows, uint32_t dimensions, bool inner_product) {
  std::string header = inner_product ? "IxFI" : "IxF2";
  PutU32Le(header, dimensions);
  PutU64Le(header, rows);
  PutU64Le(header, uint64_t{1} << 20);
  PutU64Le(header, uint64_t{1} << 20);
  PutU8(header, 1);                           // is_trained
  PutU32Le(header, inner_product ? 0U : 1U);  // METRIC_INNER_PRODUCT, METRIC_L2
  PutU64Le(header, rows * dimensions);
  return header;
}

absl::StatusOr<std::unique_ptr<VectorWriter>> MakeMatrix(const std::string& path,
                                                         const WriteOptions& options,
                                                         MatrixForm form) {
  VT_ASSIGN_OR_RETURN(const std::string beside, PathBeside(path, ".words.txt"));
  VT_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::Create(path));
  VT_ASSIGN_OR_RETURN(std::unique_ptr<WordsFile> words, WordsFile::Create(beside));
  auto writer =
      std::make_unique<MatrixWriter>(std::move(file), std::move(words), options, std::move(form));
  VT_RETURN_IF_ERROR(writer->Begin());
  return writer;
}

// The precision that holds all of a table's values, of those that a format has.
Precision Holding(Precision table, bool has_bf16) {
  if (table == Precision::kFp16) return table;
  return table == Precision::kBf16 && has_bf16 ? table : Precision::kFp32;
}

}  // namespace

absl::StatusOr<std::unique_ptr<VectorWriter>> MakeWord2vecBinary(const std::string& path,
                                                                 const WriteOptions& options) {
  VT_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::Create(path));
  auto writer = std::make_unique<Word2vecBinaryWriter>(std::move(file), options);
  VT_RETURN_IF_ERROR(writer->Begin());
  return writer;
}

absl::StatusOr<std::unique_ptr<VectorWriter>> MakeNpy(const std::string& path,
                                                      const WriteOptions& options) {
  return MakeMatrix(path, options, {Holding(options.precision, false), NpyStart});
}

absl::StatusOr<std::unique_ptr<VectorWriter>> MakeSafetensors(const std::string& path,
                                                              const WriteOptions& options) {
  return MakeMatrix(path, options, {Holding(options.precision, true), SafetensorsStart});
}

absl::StatusOr<std::unique_ptr<VectorWriter>> MakeFvecs(const std::string& path,
                                                        const WriteOptions& options) {
  MatrixForm form;
  PutU32Le(form.before_row, options.dimensions);
  return MakeMatrix(path, options, std::move(form));
}

absl::StatusOr<std::unique_ptr<VectorWriter>> MakeFaissFlat(const std::string& path,
                                                            const WriteOptions& options) {
  MatrixForm form;
  form.header = options.metric == Metric::kEuclidean
                    ? [](uint64_t rows, uint32_t dimensions,
                         Precision) { return FaissStart(rows, dimensions, false); }
                    : [](uint64_t rows, uint32_t dimensions, Precision) {
                        return FaissStart(rows, dimensions, true);
                      };
  return MakeMatrix(path, options, std::move(form));
}

}  // namespace vectable
