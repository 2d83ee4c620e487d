#include "storage/rocks_logger.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"

namespace vectable {
namespace {

constexpr size_t kMostBytes = 1'000;  // of a line; the rest is cut

}  // namespace

void RocksLogger::Logv(const char* format, va_list arguments) {
  Logv(rocksdb::InfoLogLevel::WARN_LEVEL, format, arguments);
}

void RocksLogger::Logv(rocksdb::InfoLogLevel level, const char* format, va_list arguments) {
  if (level < rocksdb::InfoLogLevel::ERROR_LEVEL || level >= rocksdb::InfoLogLevel::HEADER_LEVEL) {
    return;
  }
  std::array<char, kMostBytes> line;
  const int length = std::vsnprintf(line.data(), line.size(), format, arguments);
  if (length <= 0) return;
  std::string text(line.data(), std::min(static_cast<size_t>(length), line.size() - 1));
  std::replace(text.begin(), text.end(), '\n', ' ');
  // What matters to the data comes as a status, too, and is reported by who gets it.
  events_.Report(EventSink::Level::kWarning, absl::StrCat("RocksDB: ", text));
}

}  // namespace vectable
