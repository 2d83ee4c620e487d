#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/formats/output_file.h"
#include "client/formats/vector_writer.h"

namespace vectable {

// The words of rows that another file holds, one per line.
class WordsFile {
 public:
  static absl::StatusOr<std::unique_ptr<WordsFile>> Create(const std::string& path);

  // INVALID_ARGUMENT for a word with a line break; it is left out.
  absl::Status Add(std::string_view word);
  absl::Status Sync() { return file_->Sync(); }
  absl::Status Finish() { return file_->Commit(); }
  const std::string& name() const { return file_->name(); }

 private:
  explicit WordsFile(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {}

  const std::unique_ptr<OutputFile> file_;
  std::string line_;
};

// OK unless the word holds one of these bytes; INVALID_ARGUMENT names it and the format.
absl::Status CheckHolds(std::string_view word, std::string_view forbidden, std::string_view format);

// Writes `counts` over the `expected` that a file begins with, if they differ; ABORTED where they
// don't fit, or the file can't be written over.
absl::Status WriteCounts(OutputFile& file, std::string_view expected, const std::string& counts);

// "X.npy.words.txt" for "X.npy", where FindWordsBeside finds it. INVALID_ARGUMENT for "-".
absl::StatusOr<std::string> PathBeside(const std::string& path, std::string_view ending);

using MakeWriter = absl::StatusOr<std::unique_ptr<VectorWriter>> (*)(const std::string& path,
                                                                     const WriteOptions& options);

// Each begins a file of one format.
absl::StatusOr<std::unique_ptr<VectorWriter>> MakeGlove(const std::string&, const WriteOptions&);
absl::StatusOr<std::unique_ptr<VectorWriter>> MakeWord2vec(const std::string&, const WriteOptions&);
absl::StatusOr<std::unique_ptr<VectorWriter>> MakeJsonLines(const std::string&,
                                                            const WriteOptions&);
// The words are in X.tsv.metadata.tsv.
absl::StatusOr<std::unique_ptr<VectorWriter>> MakeProjector(const std::string&,
                                                            const WriteOptions&);
absl::StatusOr<std::unique_ptr<VectorWriter>> MakeWord2vecBinary(const std::string&,
                                                                 const WriteOptions&);
// The words of these are in a file of the same name with .words.txt after it. An fp16 table's
// values are written as f2 and F16, a bf16 table's as f4 and BF16, all others' as fp32: no bit is
// lost.
absl::StatusOr<std::unique_ptr<VectorWriter>> MakeNpy(const std::string&, const WriteOptions&);
absl::StatusOr<std::unique_ptr<VectorWriter>> MakeSafetensors(const std::string&,
                                                              const WriteOptions&);
absl::StatusOr<std::unique_ptr<VectorWriter>> MakeFvecs(const std::string&, const WriteOptions&);
// IndexFlatL2 of a euclidean table, otherwise IndexFlatIP.
absl::StatusOr<std::unique_ptr<VectorWriter>> MakeFaissFlat(const std::string&,
                                                            const WriteOptions&);

}  // namespace vectable
