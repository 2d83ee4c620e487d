#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "client/formats/byte_source.h"
#include "client/formats/vector_reader.h"

namespace vectable {

// Each opens a file of one format, of which nothing was taken yet. Errors: INVALID_ARGUMENT or
// DATA_LOSS for a file that isn't of the format, or not whole; NOT_FOUND for a tensor that isn't
// there. Messages begin with the file's name and say what was expected and found.

// What a text's first line may be.
enum class TextHeader {
  kNone,      // a row
  kCounts,    // the numbers of rows and of values, as word2vec and fastText write them
  kFoundOut,  // either
};

absl::StatusOr<std::unique_ptr<VectorReader>> OpenGlove(std::unique_ptr<ByteSource> bytes,
                                                        const ReadOptions& options,
                                                        TextHeader header);
// Comma-separated values, with or without a line of names.
absl::StatusOr<std::unique_ptr<VectorReader>> OpenCsv(std::unique_ptr<ByteSource> bytes,
                                                      const ReadOptions& options);
absl::StatusOr<std::unique_ptr<VectorReader>> OpenJsonLines(std::unique_ptr<ByteSource> bytes,
                                                            const ReadOptions& options);
// The vectors of TensorFlow's projector; the words are in its metadata.
absl::StatusOr<std::unique_ptr<VectorReader>> OpenProjector(std::unique_ptr<ByteSource> bytes,
                                                            const ReadOptions& options);

// word2vec's binary format: "ROWS VALUES\n", then for each row the word, a blank and the values as
// little-endian fp32, and after them, from some writers, a line break.
absl::StatusOr<std::unique_ptr<VectorReader>> OpenWord2vecBinary(std::unique_ptr<ByteSource> bytes,
                                                                 const ReadOptions& options);
// A model of fastText, version 12, unquantised: the vectors of its words, as get_word_vector
// gives them, the mean of the word's own and its n-grams' (fastText, src/fasttext.cc and
// dictionary.cc). A plain file.
absl::StatusOr<std::unique_ptr<VectorReader>> OpenFasttextBinary(std::unique_ptr<ByteSource> bytes,
                                                                 const ReadOptions& options);

// NumPy's .npy, versions 1.0 to 3.0 (NEP 1): a matrix of f2, f4, f8, i1 or u1, of either byte
// order. One in Fortran's order must be a plain file.
absl::StatusOr<std::unique_ptr<VectorReader>> OpenNpy(std::unique_ptr<ByteSource> bytes,
                                                      const ReadOptions& options);
// A matrix of a .safetensors file. A plain file.
absl::StatusOr<std::unique_ptr<VectorReader>> OpenSafetensors(std::unique_ptr<ByteSource> bytes,
                                                              const ReadOptions& options);
// A matrix of a GGUF file, unquantised, with the tokens of its vocabulary. A plain file.
absl::StatusOr<std::unique_ptr<VectorReader>> OpenGguf(std::unique_ptr<ByteSource> bytes,
                                                       const ReadOptions& options);
// A matrix of an HDF5 file, "train" in those of ann-benchmarks. A plain file.
absl::StatusOr<std::unique_ptr<VectorReader>> OpenHdf5(std::unique_ptr<ByteSource> bytes,
                                                       const ReadOptions& options);

// TEXMEX's .fvecs and .bvecs: each row is its number of values (i32) and they, as f32 or u8.
absl::StatusOr<std::unique_ptr<VectorReader>> OpenFvecs(std::unique_ptr<ByteSource> bytes,
                                                        const ReadOptions& options);
absl::StatusOr<std::unique_ptr<VectorReader>> OpenBvecs(std::unique_ptr<ByteSource> bytes,
                                                        const ReadOptions& options);
// big-ann-benchmarks' .fbin: numbers of rows and of values (u32 each), then the values as f32.
absl::StatusOr<std::unique_ptr<VectorReader>> OpenFbin(std::unique_ptr<ByteSource> bytes,
                                                       const ReadOptions& options);
// A flat index of FAISS, as faiss::write_index writes it.
absl::StatusOr<std::unique_ptr<VectorReader>> OpenFaissFlat(std::unique_ptr<ByteSource> bytes,
                                                            const ReadOptions& options);

}  // namespace vectable
