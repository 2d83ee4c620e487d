#pragma once

#include <string_view>

#include "common/metric.h"
#include "common/precision.h"
#include "vectable/v1/search.pb.h"
#include "vectable/v1/types.pb.h"

namespace vectable {

v1::Precision ToProto(Precision precision);
v1::Metric ToProto(Metric metric);

// Lower-case names as scripts read them: "fp32", "cosine"; "unknown" for a value from a newer
// server.
std::string_view NameOf(v1::Precision precision);
std::string_view NameOf(v1::Metric metric);
// "exact", "graph".
std::string_view NameOf(v1::SearchMethod method);
// Empty when the query has its k hits; "table_smaller", "filtered", "min_score".
std::string_view NameOf(v1::ShortReason reason);

}  // namespace vectable
