#pragma once

#include <span>
#include <string>
#include <string_view>

namespace vectable {

// What a caller may do; each includes those before it.
enum class Right { kReadOnly, kReadWrite, kAdmin };

// "read-only", "read-write" or "admin".
std::string_view RightName(Right right);

// An rpc of our services.
struct RpcMethod {
  const char* service;  // "TableService"
  const char* name;     // "CreateTable"
  Right needs;
  bool audited = false;  // changes tables or snapshots
  bool streams = false;  // lasts as long as its client likes

  std::string Label() const;  // "TableService/CreateTable"
};

namespace rpcs {

inline constexpr RpcMethod kCreateTable{"TableService", "CreateTable", Right::kReadWrite, true};
inline constexpr RpcMethod kGetTable{"TableService", "GetTable", Right::kReadOnly};
inline constexpr RpcMethod kListTables{"TableService", "ListTables", Right::kReadOnly};
inline constexpr RpcMethod kRenameTable{"TableService", "RenameTable", Right::kAdmin, true};
inline constexpr RpcMethod kDropTable{"TableService", "DropTable", Right::kAdmin, true};
inline constexpr RpcMethod kOptimizeTable{"TableService", "OptimizeTable", Right::kReadWrite, true};
inline constexpr RpcMethod kUpsert{"RowService", "Upsert", Right::kReadWrite};
inline constexpr RpcMethod kUpsertStream{"RowService", "UpsertStream", Right::kReadWrite, false,
                                         true};
inline constexpr RpcMethod kGet{"RowService", "Get", Right::kReadOnly};
inline constexpr RpcMethod kDelete{"RowService", "Delete", Right::kReadWrite};
inline constexpr RpcMethod kScan{"RowService", "Scan", Right::kReadOnly, false, true};
inline constexpr RpcMethod kNearest{"SearchService", "Nearest", Right::kReadOnly};
inline constexpr RpcMethod kNearestStream{"SearchService", "NearestStream", Right::kReadOnly, false,
                                          true};
inline constexpr RpcMethod kSimilarity{"SearchService", "Similarity", Right::kReadOnly};
inline constexpr RpcMethod kReportTable{"SizingService", "ReportTable", Right::kReadOnly};
inline constexpr RpcMethod kMeasurePrecisions{"SizingService", "MeasurePrecisions",
                                              Right::kReadOnly, false, true};
inline constexpr RpcMethod kEstimateModel{"SizingService", "EstimateModel", Right::kReadOnly};
inline constexpr RpcMethod kGetServerInfo{"AdminService", "GetServerInfo", Right::kReadOnly};
inline constexpr RpcMethod kCreateSnapshot{"AdminService", "CreateSnapshot", Right::kAdmin, true};
inline constexpr RpcMethod kListSnapshots{"AdminService", "ListSnapshots", Right::kReadOnly};
inline constexpr RpcMethod kDeleteSnapshot{"AdminService", "DeleteSnapshot", Right::kAdmin, true};

}  // namespace rpcs

// All of the above.
std::span<const RpcMethod* const> AllRpcMethods();

}  // namespace vectable
