#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "sizing/model_report.h"

namespace vectable {

// The report of a Hugging Face config.json; errors name the file.
absl::StatusOr<ModelReport> ReportConfigFile(const std::string& path, const MemoryOptions& options);

// The report of a .safetensors file, of a model of several through its .index.json, or of a .gguf
// file: headers alone are read. A config.json beside safetensors, where it is one that
// ParseModelConfig understands, tells whether the head is tied and the shape that the key-value
// cache, activations and ZeRO-3 need; without it `options` may ask only for training. One that
// isn't understood is an error then, else a note; both say why. Errors name the file;
// INVALID_ARGUMENT for a file of another kind, and for one part of a model in several: a shard of
// safetensors (model-00001-of-00002.safetensors), a GGUF file that says so in split.count.
absl::StatusOr<ModelReport> ReportModelFile(const std::string& path, const MemoryOptions& options);

}  // namespace vectable
