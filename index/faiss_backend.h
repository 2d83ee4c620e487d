#pragma once

#include <memory>
#include <string>

#include "index/batch_backend.h"

namespace vectable {

// Proposes on the CPU with FAISS, on the calling thread alone.
std::unique_ptr<BatchBackend> MakeFaissBackend();

// As "1.7.3".
std::string FaissVersion();

}  // namespace vectable
