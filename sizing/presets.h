#pragma once

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sizing/transformer.h"

namespace vectable {

// A model whose shape is known.
struct ModelPreset {
  std::string_view name;    // "gpt2"
  std::string_view title;   // for people: "GPT-2 small"
  std::string_view source;  // where the shape is published
  TransformerSpec spec;
  std::string_view note = {};  // what the user should know beside it; empty: nothing
};

// All presets, in the order in which they are listed. They live as long as the program.
std::span<const ModelPreset> AllPresets();

// The preset of that name. NOT_FOUND names near spellings, or all presets.
absl::StatusOr<const ModelPreset*> FindPreset(std::string_view name);

}  // namespace vectable
