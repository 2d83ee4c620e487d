#include "server/rpc_method.h"

#include "absl/strings/str_cat.h"

namespace vectable {

std::string_view RightName(Right right) {
  switch (right) {
    case Right::kReadOnly:
      return "read-only";
    case Right::kReadWrite:
      return "read-write";
    case Right::kAdmin:
      return "admin";
  }
  return "unknown";
}

std::string RpcMethod::Label() const { return absl::StrCat(service, "/", name); }

std::span<const RpcMethod* const> AllRpcMethods() {
  static constexpr const RpcMethod* kAll[] = {&rpcs::kCreateTable,
                                              &rpcs::kGetTable,
                                              &rpcs::kListTables,
                                              &rpcs::kRenameTable,
                                              &rpcs::kDropTable,
                                              &rpcs::kOptimizeTable,
                                              &rpcs::kUpsert,
                                              &rpcs::kUpsertStream,
                                              &rpcs::kGet,
                                              &rpcs::kDelete,
                                              &rpcs::kScan,
                                              &rpcs::kNearest,
                                              &rpcs::kNearestStream,
                                              &rpcs::kSimilarity,
                                              &rpcs::kReportTable,
                                              &rpcs::kMeasurePrecisions,
                                              &rpcs::kEstimateModel,
                                              &rpcs::kGetServerInfo,
                                              &rpcs::kCreateSnapshot,
                                              &rpcs::kListSnapshots,
                                              &rpcs::kDeleteSnapshot};
  return kAll;
}

}  // namespace vectable
