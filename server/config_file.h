#pragma once

#include <istream>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"

namespace vectable {

// Reads a file of options: "name = value" lines, '#' before a comment at the beginning of a line. A
// value with blanks, quotes or '#' stands in quotes, single or double, which it doesn't hold
// itself. What CLI11's own reader takes is wider, and cuts such values silently.
class ConfigFile final : public CLI::ConfigBase {
 public:
  // `app` has the options that may be named, and outlives it.
  explicit ConfigFile(const CLI::App& app) : app_(app) {}

  // Throws CLI::ConfigError, with the line, for one that isn't as above, names no option, or one
  // that was named before.
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

 private:
  const CLI::App& app_;
};

}  // namespace vectable
