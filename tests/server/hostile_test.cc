// Connections that send garbage, halves of calls, or nothing: the server goes on, and the table has
// all of a batch or nothing of it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/common/test_seed.h"
#include "tests/server/rpc_fixture.h"

namespace vectable {
namespace {

constexpr int kBatchRows = 20;
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// A TCP connection to a port of this machine.
class Connection {
 public:
  explicit Connection(int port)
      : Connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port) {}
  ~Connection() { close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return fd_; }
  // As much as the other side takes.
  void Send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  // Reads for a while, and drops it.
  void Drain(int milliseconds) const {
    char buffer[4096];
    pollfd waiting{fd_, POLLIN, 0};
    while (poll(&waiting, 1, milliseconds) > 0 && recv(fd_, buffer, sizeof(buffer), 0) > 0) {
    }
  }

 private:
  Connection(int fd, int port) : fd_(fd) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }

  const int fd_;
};

// Stands between one client and the server, and keeps what the client sent.
class Recorder {
 public:
  explicit Recorder(int server_port) : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, server_port] { Relay(server_port); });
  }
  ~Recorder() {
    if (thread_.joinable()) thread_.join();
    close(listener_);
  }

  int port() const { return port_; }
  // When the client is gone.
  std::string Sent() {
    thread_.join();
    return sent_;
  }

 private:
  void Relay(int server_port) {
    const int client = accept(listener_, nullptr, nullptr);
    const Connection server(server_port);
    char buffer[65'536];
    while (true) {
      pollfd sides[] = {{client, POLLIN, 0}, {server.fd(), POLLIN, 0}};
      if (poll(sides, 2, -1) < 0) break;
      if (sides[0].revents != 0) {
        const ssize_t got = recv(client, buffer, sizeof(buffer), 0);
        if (got <= 0) break;
        sent_.append(buffer, static_cast<size_t>(got));
        server.Send({buffer, static_cast<size_t>(got)});
      }
      if (sides[1].revents != 0) {
        const ssize_t got = recv(server.fd(), buffer, sizeof(buffer), 0);
        if (got <= 0) break;
        EXPECT_EQ(send(client, buffer, static_cast<size_t>(got), MSG_NOSIGNAL), got);
      }
    }
    close(client);
  }

  const int listener_;
  int port_ = 0;
  std::string sent_;
  std::thread thread_;
};

class HostileTest : public RpcFixture {
 protected:
  HostileTest() : random_(TestSeed()) {
    Start();
    MakeTable("t", 4);
    Put("t", "cat", {1, 0, 0, 0});
    Put("t", "dog", {1, 1, 0, 0});
  }

  size_t Below(size_t limit) { return random_() % limit; }
  std::string Garbage(size_t bytes) {
    std::string garbage(bytes, '\0');
    for (char& byte : garbage) byte = static_cast<char>(random_());
    return garbage;
  }
  std::string AnyFrame() {
    const std::string payload = Garbage(Below(200));
    std::string frame;
    frame.push_back('\0');
    frame.push_back('\0');
    frame.push_back(static_cast<char>(payload.size()));
    frame.push_back(static_cast<char>(Below(12)));                          // its type
    frame.push_back(static_cast<char>(random_()));                          // flags
    frame.append({'\0', '\0', '\0', static_cast<char>(2 * Below(4) + 1)});  // its stream
    return frame + payload;
  }

  // The server answers, and has these rows alone.
  void ExpectWell(uint64_t rows) {
    v1::NearestRequest request;
    request.set_table("t");
    request.set_k(1);
    request.add_queries()->set_word("cat");
    const auto answer = Call(search, &v1::SearchService::Stub::Nearest, request);
    ASSERT_EQ(answer.results_size(), 1);
    EXPECT_EQ(answer.results(0).hits_size(), 1);
    EXPECT_EQ((*database().FindTable("t"))->Describe().rows, rows);
  }

  // The bytes that a client sends for `batches` batches of new rows over one stream.
  std::string RecordUpload(int batches) {
    Recorder recorder(server().port());
    {
      const auto channel = grpc::CreateChannel(absl::StrCat("127.0.0.1:", recorder.port()),
                                               grpc::InsecureChannelCredentials());
      const auto stub = v1::RowService::NewStub(channel);
      grpc::ClientContext context;
      const auto stream = stub->UpsertStream(&context);
      for (int b = 0; b < batches; ++b) {
        v1::UpsertStreamRequest batch;
        batch.set_table("t");
        for (int i = 0; i < kBatchRows; ++i) {
          AddRow(batch, absl::StrCat("batch", b, "-", i), {1, 2, 3, static_cast<float>(i)});
        }
        EXPECT_TRUE(stream->Write(batch));
        v1::UpsertStreamResponse ack;
        EXPECT_TRUE(stream->Read(&ack));
      }
      stream->WritesDone();
      EXPECT_TRUE(stream->Finish().ok());
    }
    return recorder.Sent();
  }

  void DeleteBatches(int batches) {
    v1::DeleteRequest request;
    request.set_table("t");
    for (int b = 0; b < batches; ++b) {
      for (int i = 0; i < kBatchRows; ++i) {
        request.mutable_words()->add_words(absl::StrCat("batch", b, "-", i));
      }
    }
    Call(rows, &v1::RowService::Stub::Delete, request);
  }

  void AwaitNoCalls() {
    while (server().load().calls_under_way > 0) absl::SleepFor(absl::Milliseconds(1));
  }

  std::mt19937_64 random_;
};

TEST_F(HostileTest, GarbageOfEveryKindHarmsNothing) {
  for (int i = 0; i < 200; ++i) {
    const Connection connection(server().port());
    switch (Below(5)) {
      case 0:
        connection.Send(Garbage(1 + Below(5'000)));
        break;
      case 1:
        connection.Send(absl::StrCat("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
        break;
      case 2:
        connection.Send(absl::StrCat(std::string(kPreface), Garbage(Below(5'000))));
        break;
      case 3:
        connection.Send(kPreface.substr(0, Below(kPreface.size())));
        break;
      default: {
        std::string bytes(kPreface);
        bytes.append({'\0', '\0', '\0', '\4', '\0', '\0', '\0', '\0', '\0'});  // settings
        for (size_t frames = 1 + Below(20); frames > 0; --frames) bytes += AnyFrame();
        connection.Send(bytes);
      }
    }
    if (Below(2) == 0) connection.Drain(1);
  }
  ExpectWell(2);
}

TEST_F(HostileTest, AnUploadCutAnywhereLeavesWholeBatches) {
  constexpr int kBatches = 3;
  const std::string sent = RecordUpload(kBatches);
  ExpectWell(2 + kBatches * kBatchRows);
  DeleteBatches(kBatches);
  std::set<uint64_t> seen;
  for (int i = 0; i < 150; ++i) {
    {
      const Connection connection(server().port());
      connection.Send(sent.substr(0, Below(sent.size())));
      connection.Drain(Below(4) == 0 ? 0 : 5);
    }
    AwaitNoCalls();
    const uint64_t rows = (*database().FindTable("t"))->Describe().rows - 2;
    ASSERT_EQ(rows % kBatchRows, 0U);
    seen.insert(rows);
    if (rows > 0) DeleteBatches(kBatches);
  }
  EXPECT_GT(seen.size(), 1U);
  ExpectWell(2);
}

TEST_F(HostileTest, AnUploadWithABitFlippedLeavesGoodRows) {
  constexpr int kBatches = 2;
  const std::string sent = RecordUpload(kBatches);
  DeleteBatches(kBatches);
  for (int i = 0; i < 150; ++i) {
    std::string flipped = sent;
    for (size_t flips = 1 + Below(3); flips > 0; --flips) {
      flipped[Below(flipped.size())] ^= static_cast<char>(1 << Below(8));
    }
    const Connection connection(server().port());
    connection.Send(flipped);
    connection.Drain(2);
  }
  AwaitNoCalls();
  // Whatever was a good batch all the same is stored whole: each row can be read.
  uint64_t read = 0;
  grpc::ClientContext context;
  v1::ScanRequest request;
  request.set_table("t");
  request.set_include_vectors(true);
  const auto reader = rows->Scan(&context, request);
  v1::ScanResponse response;
  while (reader->Read(&response)) {
    for (const v1::Row& row : response.rows()) {
      EXPECT_EQ(row.vector().values_size(), 4);
      ++read;
    }
  }
  EXPECT_TRUE(reader->Finish().ok());
  ExpectWell(read);
}

TEST_F(HostileTest, AThousandIdleConnectionsAreFine) {
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  if (files.rlim_cur < 2'200) {
    GTEST_SKIP() << "the system lets a process have " << files.rlim_cur << " files";
  }
  std::vector<std::unique_ptr<Connection>> idle;
  for (int i = 0; i < 1'000; ++i) {
    idle.push_back(std::make_unique<Connection>(server().port()));
    if (i % 2 == 0) {
      idle.back()->Send(absl::StrCat(std::string(kPreface), std::string("\0\0\0\4\0\0\0\0\0", 9)));
    }
  }
  for (int i = 0; i < 50; ++i) Put("t", absl::StrCat("w", i), {1, 2, 3, 4});
  ExpectWell(52);
  Stop();  // isn't held up by them
}

}  // namespace
}  // namespace vectable
