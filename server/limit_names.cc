#include "server/limit_names.h"

namespace vectable {

std::vector<NamedLimit> NamedLimits(const Limits& limits) {
  return {{"max_k", limits.max_k},
          {"max_queries", limits.max_queries},
          {"max_measure_queries", limits.max_measure_queries},
          {"max_keys", limits.max_keys},
          {"max_message_bytes", limits.max_message_bytes},
          {"max_reply_bytes", limits.max_reply_bytes},
          {"max_tables", limits.max_tables},
          {"max_word_bytes", limits.max_word_bytes},
          {"max_rows", limits.max_rows},
          {"max_table_bytes", limits.max_table_bytes},
          {"max_dimensions", limits.max_dimensions},
          {"max_streams", limits.max_streams},
          {"max_memory_bytes", limits.max_memory_bytes}};
}

}  // namespace vectable
