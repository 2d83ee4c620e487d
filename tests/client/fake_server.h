#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vectable/v1/table.pb.h"

namespace grpc {
class Server;
}

namespace vectable {

// What the fake server holds; tests may look at it and set faults.
struct FakeState {
  struct Row {
    uint64_t row_id = 0;
    std::vector<float> vector;
  };
  struct Table {
    v1::Table info;
    std::map<std::string, Row> rows;
  };

  std::mutex mutex;
  std::map<std::string, Table> tables;
  std::vector<int> batch_rows;    // rows of each batch that a stream brought
  std::vector<int> get_keys;      // keys of each Get
  std::vector<int> query_counts;  // queries of each Nearest
  int fail_batch = -1;            // the batch of a stream that fails
  int silent_after = -1;          // the batch after which a stream isn't answered any more
  size_t max_get_keys = 10'000;   // more are refused as too large a reply
  uint32_t walk_width = 0;        // above 0: answers not asked exactly miss the nearest row
  uint64_t sequence = 0;          // that searches say they saw
};

// A small server that keeps rows in maps and answers by plain scans, on a free port of the loopback
// address.
class FakeServer {
 public:
  FakeServer();
  ~FakeServer();

  const std::string& address() const { return address_; }
  FakeState& state() { return state_; }
  // Rows of a table; 0 for none.
  size_t RowCount(const std::string& table);
  // Stops answering.
  void Stop();

 private:
  struct Services;
  FakeState state_;
  std::unique_ptr<Services> services_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace vectable
