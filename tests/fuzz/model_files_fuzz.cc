// The readers of model files: a report whose parts add up, or an error.
#include "sizing/model_config.h"
#include "sizing/model_file.h"
#include "sizing/safetensors_header.h"
#include "tests/fuzz/memory_file.h"

namespace vectable {
namespace {

void CheckReport(const absl::StatusOr<ModelReport>& report) {
  Require(report.ok() || !report.status().message().empty());
}

}  // namespace
}  // namespace vectable

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vectable;
  if (size == 0) return 0;
  const std::string_view input = InputOf(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0: {
      const auto config = ParseModelConfig(input);
      if (config.ok()) CheckReport(ReportConfig(*config, {}));
      break;
    }
    case 1:
      (void)ParseSafetensorsHeader(input, 1'000).ok();
      break;
    case 2: {
      // Behind the length that a file begins with.
      std::string bytes;
      for (int i = 0; i < 8; ++i)
        bytes.push_back(static_cast<char>((input.size() >> (8 * i)) & 255));
      bytes += input;
      bytes.append(1'000, '\0');
      const MemoryFile file(bytes);
      (void)ReadSafetensorsHeader(file.path()).ok();
      break;
    }
    default: {
      const MemoryFile file(input);
      CheckReport(ReportModelFile(file.path(), {}));
      CheckReport(ReportConfigFile(file.path(), {}));
    }
  }
  return 0;
}
