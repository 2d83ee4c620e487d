#pragma once

#include <span>
#include <string>

#include "client/cli/context.h"

namespace vectable {

// Runs the program `vectable` with its arguments (without the program's name) and gives its exit
// code: 0, 1 for an error, 2 for wrong usage, 130 when interrupted. Never throws.
int RunCli(std::span<const std::string> arguments, Terminal& terminal);

}  // namespace vectable
