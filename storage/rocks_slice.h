#pragma once

#include <string_view>

#include "rocksdb/slice.h"

namespace vectable {

// The same bytes, not copied.
inline rocksdb::Slice ToSlice(std::string_view view) {
  return rocksdb::Slice(view.data(), view.size());
}

}  // namespace vectable
