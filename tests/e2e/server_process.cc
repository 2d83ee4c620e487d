#include "tests/e2e/server_process.h"

#include <signal.h>

#include <utility>

namespace vectable {

ServerProcess::ServerProcess(std::vector<std::string> options, std::string data)
    : options_(std::move(options)),
      data_(data.empty() ? directory_.path() + "/data" : std::move(data)) {
  Start();
}

ServerProcess::~ServerProcess() {
  if (::testing::Test::HasFailure() && process_ != nullptr) {
    std::fprintf(stderr, "--- the server's log:\n%s", process_->err().c_str());
  }
}

void ServerProcess::Start(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {ProgramPath("vectable-server"), "--data", data(),
                                        "--listen", "127.0.0.1:0"};
  arguments.insert(arguments.end(), options_.begin(), options_.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  process_ = Process::Start(arguments);
  const std::string prefix = "listening on ";
  const std::string line = process_->FirstLine().value_or("");
  ASSERT_TRUE(line.starts_with(prefix)) << line << process_->err();
  address_ = line.substr(prefix.size());
  auto client = Client::Connect({.server = address_, .connect_timeout = absl::Seconds(30)});
  ASSERT_TRUE(client.ok()) << client.status();
  client_ = *std::move(client);
}

void ServerProcess::Kill() {
  process_->Signal(SIGKILL);
  EXPECT_EQ(process_->Wait(), 128 + SIGKILL);
}

void ServerProcess::Stop() {
  client_.reset();
  process_->Signal(SIGTERM);
  EXPECT_EQ(process_->Wait(), 0) << process_->err();
  EXPECT_EQ(process_->out(), "listening on " + address_ + "\n");
}

nlohmann::json ServerProcess::RunJson(std::vector<std::string> arguments, int code) {
  arguments.insert(arguments.begin(), "--json");
  const Outcome outcome = Run(arguments);
  EXPECT_EQ(outcome.code, code) << ::testing::PrintToString(arguments) << outcome.err;
  return nlohmann::json::parse(outcome.out, nullptr, false);
}

uint64_t ServerProcess::RowCount(const std::string& table) {
  const absl::StatusOr<v1::Table> found = client_->GetTable(table);
  EXPECT_TRUE(found.ok()) << found.status();
  return found.ok() ? found->rows() : 0;
}

void AddRow(const std::string& word, const std::vector<float>& vector, v1::UpsertRequest& request) {
  v1::UpsertRow& row = *request.add_rows();
  row.set_word(word);
  row.mutable_vector()->mutable_values()->Add(vector.begin(), vector.end());
}

}  // namespace vectable
