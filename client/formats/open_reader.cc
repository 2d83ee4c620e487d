#include "client/formats/open_reader.h"

#include <algorithm>
#include <utility>

#include "common/names.h"
#include "common/status_util.h"

namespace vectable {

std::vector<std::string> VectorFormats() { return {"auto", "glove"}; }

absl::StatusOr<std::unique_ptr<VectorReader>> OpenVectorReader(const std::string& path,
                                                               const std::string& format,
                                                               const GloveOptions& options) {
  const std::vector<std::string> known = VectorFormats();
  if (std::find(known.begin(), known.end(), format) == known.end()) {
    return absl::InvalidArgumentError("unknown format " + Quoted(format));
  }
  VT_ASSIGN_OR_RETURN(std::unique_ptr<GloveReader> reader, GloveReader::Open(path, options));
  return std::unique_ptr<VectorReader>(std::move(reader));
}

}  // namespace vectable
