#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/database.h"
#include "prometheus/collectable.h"
#include "prometheus/metric_family.h"
#include "server/rpc_server.h"

namespace vectable {

// What the server holds, looked up whenever Prometheus asks: rows, segments and bytes of each table
// by the parts of the ledger (see SizingService.ReportTable), the store's bytes and what it does,
// calls that wait, and the process itself. A table's label is its name. Thread-safe.
class StateMetrics final : public prometheus::Collectable {
 public:
  // `database` outlives it; so does what `load` asks.
  StateMetrics(const Database& database, std::function<ServerLoad()> load, std::string version);

  // Without the database's parts, and with vectable_up 0, where the database can't be measured.
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const Database& database_;
  const std::function<ServerLoad()> load_;
  const std::string version_;
  const double start_seconds_;  // since 1970
};

}  // namespace vectable
