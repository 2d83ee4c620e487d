#include "index/faiss_backend.h"

#include <dlfcn.h>
#include <faiss/Index.h>
#include <faiss/impl/IDSelector.h>
#include <faiss/utils/distances.h>
#include <omp.h>

#include <exception>

#include "absl/strings/str_cat.h"

namespace vectable {
namespace {

// A request is one thread's work; threads that a BLAS starts by itself would fight with the others.
// OpenBLAS may or may not be the BLAS behind FAISS, so its setting is looked up.
void UseOneBlasThread() {
  using SetThreads = void (*)(int);
  if (auto set = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) {
    set(1);
  }
}

class FaissBackend final : public BatchBackend {
 public:
  std::string_view device() const override { return "cpu"; }

  absl::Status Propose(Metric metric, const float* queries, size_t query_count, size_t dimensions,
                       FloatRows block, std::span<const uint64_t> allowed, size_t k,
                       Proposals& out) const override {
    out.k = k;
    out.offsets.resize(query_count * k);
    out.scores.resize(query_count * k);
    out.counts.assign(query_count, 0);
    if (query_count == 0 || block.count == 0 || k == 0) return absl::OkStatus();
    omp_set_num_threads(1);  // of regions that this thread opens
    try {
      const faiss::IDSelectorBitmap bitmap((block.count + 7) / 8,
                                           reinterpret_cast<const uint8_t*>(allowed.data()));
      const faiss::IDSelector* selector = allowed.empty() ? nullptr : &bitmap;
      if (metric == Metric::kEuclidean) {
        faiss::knn_L2sqr(queries, block.rows, dimensions, query_count, block.count, k,
                         out.scores.data(), out.offsets.data(), nullptr, selector);
        for (float& score : out.scores) score = -score;
      } else {
        faiss::knn_inner_product(queries, block.rows, dimensions, query_count, block.count, k,
                                 out.scores.data(), out.offsets.data(), selector);
      }
    } catch (const std::exception& error) {
      return absl::InternalError(absl::StrCat("FAISS: ", error.what()));
    }
    CountValid(query_count, k, out);
    return absl::OkStatus();
  }

 private:
  // FAISS pads with -1 where there are fewer rows than k.
  static void CountValid(size_t query_count, size_t k, Proposals& out) {
    for (size_t q = 0; q < query_count; ++q) {
      const int64_t* offsets = out.offsets.data() + q * k;
      while (out.counts[q] < k && offsets[out.counts[q]] >= 0) ++out.counts[q];
    }
  }
};

}  // namespace

std::unique_ptr<BatchBackend> MakeFaissBackend() {
  UseOneBlasThread();
  return std::make_unique<FaissBackend>();
}

std::string FaissVersion() {
  return absl::StrCat(FAISS_VERSION_MAJOR, ".", FAISS_VERSION_MINOR, ".", FAISS_VERSION_PATCH);
}

}  // namespace vectable
