#include "client/formats/unpacker.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <new>

namespace vectable {
namespace {

constexpr std::string_view kGzipMagic = "\x1F\x8B";
constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";

class GzipUnpacker final : public Unpacker {
 public:
  GzipUnpacker() {
    if (inflateInit2(&stream_, MAX_WBITS + 16) != Z_OK) throw std::bad_alloc();
  }
  ~GzipUnpacker() override { inflateEnd(&stream_); }
  GzipUnpacker(const GzipUnpacker&) = delete;
  GzipUnpacker& operator=(const GzipUnpacker&) = delete;

  absl::StatusOr<Step> Unpack(std::string_view in, std::span<char> out) override {
    if (between_members_) {
      if (in.empty()) return Step{};
      // Zeros may fill up the last block of a tape.
      const size_t zeros = std::min(in.find_first_not_of('\0'), in.size());
      if (zeros > 0) return Step{zeros, 0};
      if (in[0] != kGzipMagic[0]) {
        return absl::DataLossError("the gzip data is corrupt (other bytes follow it)");
      }
      inflateReset(&stream_);
      between_members_ = false;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int code = inflate(&stream_, Z_NO_FLUSH);
    const Step step{in.size() - stream_.avail_in, out.size() - stream_.avail_out};
    if (code == Z_STREAM_END) {
      between_members_ = true;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return absl::DataLossError(fmt::format("the gzip data is corrupt ({})",
                                             stream_.msg ? stream_.msg : "no zlib stream"));
    }
    return step;
  }

  absl::Status CheckEnd() const override {
    if (between_members_) return absl::OkStatus();
    return absl::DataLossError("the gzip data is truncated: it ends in the middle");
  }

 private:
  z_stream stream_{};
  bool between_members_ = false;
};

class ZstdUnpacker final : public Unpacker {
 public:
  ZstdUnpacker() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~ZstdUnpacker() override { ZSTD_freeDStream(stream_); }
  ZstdUnpacker(const ZstdUnpacker&) = delete;
  ZstdUnpacker& operator=(const ZstdUnpacker&) = delete;

  absl::StatusOr<Step> Unpack(std::string_view in, std::span<char> out) override {
    if (between_frames_ && in.empty()) return Step{};
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const size_t code = ZSTD_decompressStream(stream_, &output, &input);
    if (ZSTD_isError(code) != 0) {
      return absl::DataLossError(
          fmt::format("the zstd data is corrupt ({})", ZSTD_getErrorName(code)));
    }
    between_frames_ = code == 0;
    return Step{input.pos, output.pos};
  }

  absl::Status CheckEnd() const override {
    if (between_frames_) return absl::OkStatus();
    return absl::DataLossError("the zstd data is truncated: it ends in the middle");
  }

 private:
  ZSTD_DStream* const stream_;
  bool between_frames_ = false;
};

}  // namespace

std::unique_ptr<Unpacker> UnpackerFor(std::string_view beginning) {
  if (beginning.starts_with(kGzipMagic)) return std::make_unique<GzipUnpacker>();
  if (beginning.starts_with(kZstdMagic)) return std::make_unique<ZstdUnpacker>();
  return nullptr;
}

}  // namespace vectable
