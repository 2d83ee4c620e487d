#pragma once

#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/health_check_service_interface.h"

namespace vectable {

// Carries "this table answers searches" from the database, which begins before the server, to the
// server's health service. Thread-safe.
class TableHealth {
 public:
  // The name of a table's health service.
  static std::string ServiceName(const std::string& table) { return "vectable.table." + table; }

  // Notes whether a table answers searches, and tells the health service if there is one.
  void Set(const std::string& table, bool searchable) ABSL_LOCKS_EXCLUDED(mu_);

  // Notes that a table doesn't answer searches yet, unless something was noted about it already.
  void SetLoading(const std::string& table) ABSL_LOCKS_EXCLUDED(mu_);

  // Tells `service` all that was noted, and from now on every change.
  void Attach(grpc::HealthCheckServiceInterface* service) ABSL_LOCKS_EXCLUDED(mu_);
  // Forgets the health service, which may end after this.
  void Detach() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  absl::Mutex mu_;
  std::map<std::string, bool> tables_ ABSL_GUARDED_BY(mu_);
  grpc::HealthCheckServiceInterface* service_ ABSL_GUARDED_BY(mu_) = nullptr;
};

}  // namespace vectable
