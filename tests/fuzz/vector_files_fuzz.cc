// The readers of vector files, by content and in every format that a byte of the input asks for. A
// reader ends, at the end or with an error that names a place, and gives rows of the dimensions
// that it promised. HDF5 is read by a library of its own, which is not ours to fuzz.
#include "client/formats/open_reader.h"
#include "client/formats/word_list.h"
#include "tests/fuzz/memory_file.h"

namespace vectable {
namespace {

constexpr std::string_view kHdf5 = "\x89HDF";

void ReadRows(VectorReader& reader) {
  Require(reader.dimensions() > 0);
  Require(!reader.Description().empty());
  VectorRow row;
  uint64_t place = 0;
  for (size_t errors = 0; errors < 1'000;) {
    const auto more = reader.Next(row);
    if (!more.ok()) {
      Require(!more.status().message().empty());
      ++errors;
      if (!absl::IsInvalidArgument(more.status())) break;
    } else if (!*more) {
      break;
    } else {
      Require(row.vector.size() == reader.dimensions());
      Require(!row.word.empty());
    }
    Require(row.place > place);
    place = row.place;
  }
}

void ReadWords(const std::string& path) {
  const auto list = WordList::Open(path, WordRules());
  if (!list.ok()) return;
  std::string word;
  for (size_t i = 0; i < 10'000; ++i) {
    const auto found = (*list)->Next(word);
    if (found.ok() && *found == WordList::Found::kEnd) return;
    if (!found.ok() && !absl::IsInvalidArgument(found.status())) return;
  }
}

}  // namespace
}  // namespace vectable

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vectable;
  if (size == 0) return 0;
  const std::string_view input = InputOf(data, size - 1);
  const uint8_t choice = data[size - 1];
  if (input.starts_with(kHdf5)) return 0;
  const MemoryFile file(input);
  ReadOptions options;
  options.threads = 1;
  if (choice % 4 == 0) options.likely_dimensions = 3;
  if (choice % 8 >= 6) options.words.on_bad_utf8 = OnBadUtf8::kReplace;
  // Half of the choices by the content.
  static const std::vector<std::string> formats = VectorFormats();
  if (choice >= 128) options.format = formats[choice % formats.size()];
  if (options.format == "hdf5") {
    ReadWords(file.path());
    return 0;
  }
  const auto reader = OpenVectorReader(file.path(), options);
  if (!reader.ok()) {
    Require(!reader.status().message().empty());
    return 0;
  }
  ReadRows(**reader);
  return 0;
}
