#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"

namespace vectable {

// A child process whose output is captured. Killed at the end if it still runs.
class Process {
 public:
  // Starts `arguments[0]` with the rest; `environment` ("NAME=VALUE") goes before the caller's own.
  static std::unique_ptr<Process> Start(const std::vector<std::string>& arguments,
                                        const std::vector<std::string>& environment = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void Signal(int signal);
  // The exit code, or 128 + signal; nothing when it still runs after `timeout`.
  std::optional<int> Wait(absl::Duration timeout = absl::Seconds(60));
  // The first line of stdout; nothing when none comes within `timeout` or the process ends without.
  std::optional<std::string> FirstLine(absl::Duration timeout = absl::Seconds(30));

  pid_t pid() const { return pid_; }

  // What was written so far; all of it after Wait.
  std::string out() const;
  std::string err() const;

 private:
  struct Capture {
    std::string text;
    int fd = -1;
    std::thread thread;
  };

  Process() = default;
  void Read(Capture& capture);

  pid_t pid_ = -1;
  std::optional<int> exit_code_;
  mutable std::mutex mutex_;
  Capture out_;
  Capture err_;
};

// How a program ended.
struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

// Path of a built program.
std::string ProgramPath(const std::string& name);

// Runs `vectable` against the server at `address` to its end.
Outcome RunClient(const std::string& address, const std::vector<std::string>& arguments);

}  // namespace vectable
