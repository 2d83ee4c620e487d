#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "client/cli/app.h"

int main(int argc, char** argv) {
  setenv("GRPC_VERBOSITY", "NONE", 0);  // errors reach the user through their status
  std::ios::sync_with_stdio(false);
  const char* no_color = std::getenv("NO_COLOR");
  vectable::Terminal terminal{std::cout, std::cerr};
  terminal.out_is_terminal = isatty(STDOUT_FILENO) == 1;
  terminal.err_is_terminal = isatty(STDERR_FILENO) == 1;
  terminal.no_color = no_color != nullptr && *no_color != '\0';
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return vectable::RunCli(arguments, terminal);
}
