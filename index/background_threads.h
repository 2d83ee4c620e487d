#pragma once

#include <cstddef>
#include <functional>

namespace vectable {

// Runs `work` on so many threads of low priority, so that searches come first, and waits for them;
// for one, on the caller's. An exception (std::bad_alloc) that ends one is thrown when all have
// ended.
void RunInBackground(size_t threads, const std::function<void()>& work);

}  // namespace vectable
