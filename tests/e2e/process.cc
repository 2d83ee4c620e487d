#include "tests/e2e/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "absl/time/clock.h"

extern char** environ;

namespace vectable {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  return pointers;
}

}  // namespace

std::unique_ptr<Process> Process::Start(const std::vector<std::string>& arguments,
                                        const std::vector<std::string>& environment) {
  std::array<int, 2> out{}, err{};
  if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) std::abort();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  std::vector<char*> argv = Pointers(arguments);
  argv.push_back(nullptr);
  std::vector<char*> envp = Pointers(environment);
  for (char** entry = environ; *entry != nullptr; ++entry) envp.push_back(*entry);
  envp.push_back(nullptr);

  std::unique_ptr<Process> process(new Process());
  const int failed =
      posix_spawn(&process->pid_, argv[0], &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  close(err[1]);
  if (failed != 0) {
    process->exit_code_ = 127;
    process->err_.text = "cannot start " + arguments[0];
  }
  process->out_.fd = out[0];
  process->err_.fd = err[0];
  for (Capture* capture : {&process->out_, &process->err_}) {
    capture->thread = std::thread([p = process.get(), capture] { p->Read(*capture); });
  }
  return process;
}

Process::~Process() {
  if (!exit_code_) {
    Signal(SIGKILL);
    Wait(absl::Seconds(10));
  }
  for (Capture* capture : {&out_, &err_}) {
    if (capture->thread.joinable()) capture->thread.join();
    close(capture->fd);
  }
}

void Process::Read(Capture& capture) {
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t got = read(capture.fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    const std::lock_guard lock(mutex_);
    capture.text.append(buffer.data(), static_cast<size_t>(got));
  }
}

void Process::Signal(int signal) {
  if (!exit_code_) kill(pid_, signal);
}

std::optional<int> Process::Wait(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (!exit_code_) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    } else if (absl::Now() > deadline) {
      return std::nullopt;
    } else {
      absl::SleepFor(absl::Milliseconds(2));
    }
  }
  for (Capture* capture : {&out_, &err_}) {
    if (capture->thread.joinable()) capture->thread.join();
  }
  return exit_code_;
}

std::optional<std::string> Process::FirstLine(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (absl::Now() < deadline) {
    const bool ended = Wait(absl::ZeroDuration()).has_value();
    const std::string text = out();
    if (const size_t end = text.find('\n'); end != text.npos) return text.substr(0, end);
    if (ended) return std::nullopt;
    absl::SleepFor(absl::Milliseconds(2));
  }
  return std::nullopt;
}

std::string Process::out() const {
  const std::lock_guard lock(mutex_);
  return out_.text;
}

std::string Process::err() const {
  const std::lock_guard lock(mutex_);
  return err_.text;
}

std::string ProgramPath(const std::string& name) {
  return std::string(VECTABLE_BIN_DIR) + "/" + name;
}

Outcome RunClient(const std::string& address, const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {ProgramPath("vectable"), "--server", address};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const std::unique_ptr<Process> process = Process::Start(all);
  const std::optional<int> code = process->Wait();
  return {code.value_or(-1), process->out(), process->err()};
}

}  // namespace vectable
