#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

namespace vectable {

// A file in the test's own place for temporary files, removed at the end.
class TempFile {
 public:
  explicit TempFile(std::string_view content) {
    static int count = 0;
    path_ = ::testing::TempDir() + "vectable_client_" + std::to_string(getpid()) + "_" +
            std::to_string(count++);
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TempFile() { std::remove(path_.c_str()); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// `content` as a gzip file has it.
inline std::string Gzip(std::string_view content) {
  const TempFile file("");
  gzFile out = gzopen(file.path().c_str(), "wb");
  gzwrite(out, content.data(), static_cast<unsigned>(content.size()));
  gzclose(out);
  std::ifstream in(file.path(), std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// The path of a file under tests/data.
inline std::string DataPath(const std::string& name) {
  return std::string(VECTABLE_SOURCE_DIR) + "/tests/data/" + name;
}

}  // namespace vectable
