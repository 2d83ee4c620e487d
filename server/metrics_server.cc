#include "server/metrics_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/status_util.h"
#include "prometheus/text_serializer.h"

namespace vectable {
namespace {

constexpr size_t kThreads = 8;      // each has one connection, idle ones too
constexpr time_t kWaitSeconds = 1;  // for a request, its rest, and a client to read
constexpr size_t kMostRequestBytes = 4'096;

// Without the library's SO_REUSEPORT, with which two servers share a port silently.
void SetSocketOptions(socket_t socket) {
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
}

}  // namespace

MetricsServer::MetricsServer(ListenAddress address,
                             std::vector<std::shared_ptr<prometheus::Collectable>> collectables)
    : address_(std::move(address)),
      collectables_(std::move(collectables)),
      http_(std::make_unique<httplib::Server>()) {
  http_->new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  http_->set_socket_options(SetSocketOptions);
  http_->set_keep_alive_max_count(1);
  http_->set_keep_alive_timeout(kWaitSeconds);
  http_->set_read_timeout(kWaitSeconds);
  http_->set_write_timeout(kWaitSeconds);
  http_->set_payload_max_length(kMostRequestBytes);
  http_->Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
    response.set_content(Text(), "text/plain; version=0.0.4; charset=utf-8");
  });
}

MetricsServer::~MetricsServer() {
  http_->stop();
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(
    const ListenAddress& listen,
    std::vector<std::shared_ptr<prometheus::Collectable>> collectables) {
  std::unique_ptr<MetricsServer> server(new MetricsServer(listen, std::move(collectables)));
  VT_RETURN_IF_ERROR(server->Listen());
  return server;
}

absl::Status MetricsServer::Listen() {
  bool bound = false;
  if (address_.port == 0) {
    address_.port = http_->bind_to_any_port(address_.host);
    bound = address_.port > 0;
  } else {
    VT_RETURN_IF_ERROR(CheckCanListen(address_));
    bound = http_->bind_to_port(address_.host, address_.port);
  }
  if (!bound) return absl::UnavailableError(absl::StrCat("cannot listen on ", ToString(address_)));
  thread_ = std::thread([this] { http_->listen_after_bind(); });
  while (!http_->is_running()) absl::SleepFor(absl::Milliseconds(1));  // or it couldn't be stopped
  return absl::OkStatus();
}

std::string MetricsServer::Text() const {
  std::vector<prometheus::MetricFamily> all;
  for (const std::shared_ptr<prometheus::Collectable>& collectable : collectables_) {
    std::vector<prometheus::MetricFamily> some = collectable->Collect();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return prometheus::TextSerializer().Serialize(all);
}

}  // namespace vectable
