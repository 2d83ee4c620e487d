#pragma once

#include <cstddef>
#include <cstdint>

namespace vectable {

// Bounds that no configuration moves: the storage format and the row ids rest on them.
inline constexpr uint32_t kMaxDimensions = 65536;
inline constexpr size_t kMaxTableNameBytes = 128;
inline constexpr uint64_t kMaxRowId = (uint64_t{1} << 63) - 1;

// What a request, a table or a database may hold. Every limit is named in the error that it causes.
struct Limits {
  uint32_t max_k = 10'000;                      // hits per query
  size_t max_queries = 1'000;                   // queries in a Nearest request
  uint32_t max_measure_queries = 10'000;        // rows that MeasurePrecisions uses as queries
  size_t max_keys = 10'000;                     // words or row ids in a Get or Delete
  size_t max_message_bytes = size_t{64} << 20;  // one request, serialized
  size_t max_reply_bytes = size_t{4} << 20;     // one unary reply: a foreign client's default
  size_t max_tables = 100;                      // tables in a database
  size_t max_word_bytes = 4'096;                // one word
  uint64_t max_rows = (uint64_t{1} << 32) - 1;  // live rows in a table
  // The vectors of a table's live rows, as they are stored: rows times bytes of a row.
  uint64_t max_table_bytes = (uint64_t{1} << 63) - 1;
  uint32_t max_dimensions = kMaxDimensions;  // components per vector
  size_t max_streams = 1'000;                // streamed calls under way
  uint64_t max_memory_bytes = 0;  // anonymous memory above which no rows are taken; 0: no bound
};

// What gRPC itself takes in. Above Limits::max_message_bytes, so that a request a little too large
// meets our own error, which names the batch that fits, and not the transport's fixed text.
inline constexpr size_t kTransportMessageBytes = size_t{80} << 20;

}  // namespace vectable
