#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "prometheus/collectable.h"
#include "server/listen_address.h"

namespace httplib {
class Server;
}

namespace vectable {

// Serves metrics to Prometheus over HTTP, at /metrics, until it is destroyed.
class MetricsServer {
 public:
  // UNAVAILABLE when it can't listen there, as with a port in use. What is collected outlives it.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(
      const ListenAddress& listen,
      std::vector<std::shared_ptr<prometheus::Collectable>> collectables);
  ~MetricsServer();

  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // Where it listens, with the real port.
  const ListenAddress& address() const { return address_; }

 private:
  MetricsServer(ListenAddress address,
                std::vector<std::shared_ptr<prometheus::Collectable>> collectables);

  absl::Status Listen();
  std::string Text() const;

  ListenAddress address_;
  const std::vector<std::shared_ptr<prometheus::Collectable>> collectables_;
  const std::unique_ptr<httplib::Server> http_;
  std::thread thread_;
};

}  // namespace vectable
