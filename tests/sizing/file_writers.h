#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace vectable {

// A fresh directory for a test's files, removed at the end.
class FileFolder {
 public:
  FileFolder() {
    static int count = 0;
    path_ = ::testing::TempDir() + "vectable_sizing_" + std::to_string(getpid()) + "_" +
            std::to_string(count++) + "/";
    std::filesystem::create_directories(path_);
  }
  ~FileFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FileFolder(const FileFolder&) = delete;
  FileFolder& operator=(const FileFolder&) = delete;

  // Writes a file and gives its path. Beyond `content` the file is empty up to `size` bytes: the
  // disk isn't written.
  std::string Write(const std::string& name, std::string_view content, uint64_t size = 0) const {
    const std::string path = path_ + name;
    std::ofstream(path, std::ios::binary) << content;
    if (size > content.size()) std::filesystem::resize_file(path, size);
    return path;
  }

 private:
  std::string path_;
};

inline std::string LittleEndian(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

// Makes the header of a .safetensors file, tensor after tensor.
class SafetensorsWriter {
 public:
  SafetensorsWriter& Add(const std::string& name, const std::string& type,
                         const std::vector<uint64_t>& shape, uint64_t bits) {
    uint64_t elements = 1;
    std::string sizes;
    for (const uint64_t size : shape) {
      elements *= size;
      sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
    }
    const uint64_t begin = data_bytes_;
    data_bytes_ += elements * bits / 8;
    json_ += (json_.size() > 1 ? ",\"" : "\"") + name + "\":{\"dtype\":\"" + type +
             "\",\"shape\":[" + sizes + "],\"data_offsets\":[" + std::to_string(begin) + "," +
             std::to_string(data_bytes_) + "]}";
    return *this;
  }
  SafetensorsWriter& Metadata(const std::string& object) {
    json_ += (json_.size() > 1 ? ",\"__metadata__\":" : "\"__metadata__\":") + object;
    return *this;
  }

  std::string json() const { return json_ + "}"; }
  uint64_t data_bytes() const { return data_bytes_; }

  // Writes the file; its weights are a hole.
  std::string WriteTo(const FileFolder& folder, const std::string& name) const {
    const std::string header = LittleEndian(json().size(), 8) + json();
    return folder.Write(name, header, header.size() + data_bytes_);
  }

 private:
  std::string json_ = "{";
  uint64_t data_bytes_ = 0;
};

// Makes a GGUF file, version 3.
class GgufWriter {
 public:
  static std::string String(std::string_view text) {
    return LittleEndian(text.size(), 8) + std::string(text);
  }

  // A key with the bytes of its value.
  GgufWriter& Pair(const std::string& key, uint32_t type, const std::string& value) {
    pairs_ += String(key) + LittleEndian(type, 4) + value;
    ++pair_count_;
    return *this;
  }
  // `bytes` are those that the tensor takes.
  GgufWriter& Add(const std::string& name, uint32_t type, const std::vector<uint64_t>& shape,
                  uint64_t bytes) {
    tensors_ += String(name) + LittleEndian(shape.size(), 4);
    for (const uint64_t size : shape) tensors_ += LittleEndian(size, 8);
    tensors_ += LittleEndian(type, 4) + LittleEndian(data_bytes_, 8);
    data_bytes_ = (data_bytes_ + bytes + 31) / 32 * 32;
    ++tensor_count_;
    return *this;
  }

  std::string header(uint32_t version = 3) const {
    return "GGUF" + LittleEndian(version, 4) + LittleEndian(tensor_count_, 8) +
           LittleEndian(pair_count_, 8) + pairs_ + tensors_;
  }
  std::string WriteTo(const FileFolder& folder, const std::string& name) const {
    const std::string text = header();
    return folder.Write(name, text, (text.size() + 31) / 32 * 32 + data_bytes_);
  }

 private:
  std::string pairs_;
  std::string tensors_;
  uint64_t pair_count_ = 0;
  uint64_t tensor_count_ = 0;
  uint64_t data_bytes_ = 0;
};

// The most memory that the process has had so far, in KiB.
inline long PeakKibibytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace vectable
