#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/client.h"
#include "tests/e2e/process.h"
#include "tests/support/temp_dir.h"

namespace vectable {

// A real server on a data directory of its own and a free port, which can be killed, stopped and
// started again on the same data.
class ServerProcess {
 public:
  // `data` is the data directory; empty: one of its own.
  explicit ServerProcess(std::vector<std::string> options = {}, std::string data = "");
  ~ServerProcess();

  // Starts the server and connects to it; a failure of the test when it doesn't come up.
  // `more` are options of this start alone.
  void Start(const std::vector<std::string>& more = {});
  // kill -9, without any chance to tidy up.
  void Kill();
  // SIGTERM; the exit code must be 0.
  void Stop();

  const std::string& address() const { return address_; }
  const std::string& data() const { return data_; }
  Client& client() { return *client_; }
  Process& process() { return *process_; }

  // Runs `vectable` against this server.
  Outcome Run(const std::vector<std::string>& arguments) { return RunClient(address_, arguments); }
  // The same with --json, giving the document; the exit code must be `code`.
  nlohmann::json RunJson(std::vector<std::string> arguments, int code = 0);
  // Live rows by the catalogue.
  uint64_t RowCount(const std::string& table);

 private:
  TempDir directory_;
  const std::vector<std::string> options_;
  const std::string data_;
  std::unique_ptr<Process> process_;
  std::unique_ptr<Client> client_;
  std::string address_;
};

// Adds a row to a request.
void AddRow(const std::string& word, const std::vector<float>& vector, v1::UpsertRequest& request);

}  // namespace vectable
