#pragma once

#include <memory>

#include "index/batch_backend.h"

namespace vectable {

// Proposes on the CPU with FAISS, on the calling thread alone.
std::unique_ptr<BatchBackend> MakeFaissBackend();

}  // namespace vectable
