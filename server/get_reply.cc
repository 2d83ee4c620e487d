#include "server/get_reply.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "server/messages.h"
#include "server/row_messages.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

// How many of `count` rows to read at once: about as many as a reply holds with their vectors.
// Numbers of keys that the table refuses go to it whole.
size_t RowsAtOnce(size_t count, uint32_t dimensions, const Limits& limits) {
  if (count == 0 || count > limits.max_keys) return std::max<size_t>(count, 1);
  return std::max<size_t>(limits.max_reply_bytes / (sizeof(float) * dimensions), 1);
}

// Builds the reply as long as it fits.
class GetReply {
 public:
  GetReply(size_t max_bytes, bool omit_vectors, v1::GetResponse& response)
      : max_bytes_(max_bytes), omit_vectors_(omit_vectors), response_(response) {}

  // Adds what became of `keys`; false when it doesn't fit.
  bool Add(GetOutcome outcome, const RowKeys& keys) {
    auto row = outcome.rows.begin();
    auto missing = outcome.missing.begin();
    for (size_t place = 0; place < KeyCount(keys); ++place) {
      const bool is_missing = missing != outcome.missing.end() && *missing == place;
      if (is_missing) {
        AddMissing(keys, *missing++);
      } else {
        AddRow(std::move(*row++));
      }
      if (bytes_ > max_bytes_) return false;
      ++keys_that_fit_;
    }
    return true;
  }

  size_t keys_that_fit() const { return keys_that_fit_; }

 private:
  void AddRow(RowValue value) {
    if (omit_vectors_) value.vector.clear();
    v1::Row* row = response_.add_rows();
    FillRow(std::move(value), *row);
    bytes_ += BytesInReply(*row);
  }

  void AddMissing(const RowKeys& keys, size_t place) {
    if (const auto* words = std::get_if<std::vector<std::string_view>>(&keys)) {
      response_.add_missing_words(std::string((*words)[place]));
      bytes_ += StringBytesInReply((*words)[place].size());
    } else {
      response_.add_missing_row_ids(std::get<std::vector<uint64_t>>(keys)[place]);
      bytes_ += sizeof(uint64_t) + 1;
    }
  }

  const size_t max_bytes_;
  const bool omit_vectors_;
  v1::GetResponse& response_;
  size_t bytes_ = 0;
  size_t keys_that_fit_ = 0;
};

}  // namespace

absl::Status ReadRows(const Table& table, const RowKeys& keys, bool omit_vectors,
                      const Limits& limits, v1::GetResponse& response) {
  const TableSpec spec = table.Describe().spec;
  const size_t count = KeyCount(keys);
  const size_t step = RowsAtOnce(count, spec.dimensions, limits);
  GetReply reply(limits.max_reply_bytes, omit_vectors, response);
  size_t begin = 0;
  do {
    const RowKeys part = KeyRange(keys, begin, std::min(step, count - begin));
    VT_ASSIGN_OR_RETURN(GetOutcome outcome, table.Get(part));
    if (!reply.Add(std::move(outcome), part)) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "table ", Quoted(spec.name), ": the reply would be over ",
          WithThousands(limits.max_reply_bytes), " bytes: of the ", WithThousands(count),
          " keys asked for, ", WithThousands(reply.keys_that_fit()), " fit"));
    }
    begin += step;
  } while (begin < count);
  return absl::OkStatus();
}

}  // namespace vectable
