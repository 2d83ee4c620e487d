// The readers of vector files. A reader ends, at the end or with an error that names a place, and
// gives rows of the dimensions that it promised.
#include "client/formats/open_reader.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using vectable::Require;
  const vectable::MemoryFile file(vectable::InputOf(data, size));
  vectable::GloveOptions options;
  if (size > 0 && data[size - 1] % 4 == 0) options.likely_dimensions = 3;
  const auto reader = vectable::OpenVectorReader(file.path(), "auto", options);
  if (!reader.ok()) {
    Require(!reader.status().message().empty());
    return 0;
  }
  Require((*reader)->dimensions() > 0);
  vectable::VectorRow row;
  for (size_t errors = 0; errors < 1'000;) {
    const auto more = (*reader)->Next(row);
    if (!more.ok()) {
      Require(!more.status().message().empty());
      ++errors;
      if (!absl::IsInvalidArgument(more.status())) break;
      continue;
    }
    if (!*more) break;
    Require(row.vector.size() == (*reader)->dimensions());
  }
  return 0;
}
