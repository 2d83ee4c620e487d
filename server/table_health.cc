#include "server/table_health.h"

namespace vectable {

void TableHealth::Set(const std::string& table, bool searchable) {
  absl::MutexLock lock(&mu_);
  tables_[table] = searchable;
  if (service_ != nullptr) service_->SetServingStatus(ServiceName(table), searchable);
}

void TableHealth::SetLoading(const std::string& table) {
  absl::MutexLock lock(&mu_);
  const bool is_new = tables_.try_emplace(table, false).second;
  if (is_new && service_ != nullptr) service_->SetServingStatus(ServiceName(table), false);
}

void TableHealth::Attach(grpc::HealthCheckServiceInterface* service) {
  absl::MutexLock lock(&mu_);
  service_ = service;
  for (const auto& [table, searchable] : tables_) {
    service_->SetServingStatus(ServiceName(table), searchable);
  }
}

void TableHealth::Detach() {
  absl::MutexLock lock(&mu_);
  service_ = nullptr;
}

}  // namespace vectable
