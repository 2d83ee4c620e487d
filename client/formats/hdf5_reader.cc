#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <utility>

#include "client/formats/formats.h"
#include "client/formats/matrix_reader.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

constexpr uint64_t kHdfBlockBytes = uint64_t{4} << 20;
constexpr size_t kMostNames = 20;  // in an error

// One of HDF5's ids, with the function that gives it back.
class HdfId {
 public:
  HdfId(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~HdfId() {
    if (id_ >= 0) close_(id_);
  }
  HdfId(HdfId&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  HdfId(const HdfId&) = delete;
  HdfId& operator=(const HdfId&) = delete;
  HdfId& operator=(HdfId&&) = delete;

  bool ok() const { return id_ >= 0; }
  hid_t get() const { return id_; }

 private:
  hid_t id_;
  herr_t (*const close_)(hid_t);
};

// The innermost reason of the library's last failure.
std::string LastHdfError() {
  std::string reason = "unknown reason";
  const auto keep = [](unsigned /*n*/, const H5E_error2_t* error, void* out) -> herr_t {
    if (error->desc != nullptr && error->desc[0] != '\0') {
      *static_cast<std::string*>(out) = error->desc;
    }
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep, &reason);
  return reason;
}

// A dataset of a file, open.
struct HdfMatrix {
  HdfId file;
  HdfId dataset;
  uint64_t rows = 0;
  uint64_t dimensions = 0;
};

class HdfRows final : public MatrixRows {
 public:
  explicit HdfRows(HdfMatrix matrix)
      : matrix_(std::move(matrix)),
        block_rows_(std::max<uint64_t>(
            1, std::min(matrix_.rows, kHdfBlockBytes / (matrix_.dimensions * sizeof(double))))) {}

  absl::StatusOr<bool> Next(std::span<float> row) override {
    if (next_ == matrix_.rows) return false;
    if (next_ == end_) VT_RETURN_IF_ERROR(ReadBlock());
    const double* const values = block_.data() + (next_ - begin_) * matrix_.dimensions;
    ++next_;
    VT_RETURN_IF_ERROR(RoundValues({values, row.size()}, row));
    return true;
  }

  uint64_t bytes_read() const override { return next_ * matrix_.dimensions * sizeof(float); }
  std::optional<uint64_t> total_bytes() const override {
    return matrix_.rows * matrix_.dimensions * sizeof(float);
  }

 private:
  absl::Status ReadBlock() {
    begin_ = end_;
    const std::array<hsize_t, 2> start = {begin_, 0};
    const std::array<hsize_t, 2> count = {std::min(block_rows_, matrix_.rows - begin_),
                                          matrix_.dimensions};
    block_.resize(count[0] * count[1]);
    const HdfId part(H5Dget_space(matrix_.dataset.get()), H5Sclose);
    const HdfId memory(H5Screate_simple(2, count.data(), nullptr), H5Sclose);
    if (!part.ok() || !memory.ok() ||
        H5Sselect_hyperslab(part.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                            nullptr) < 0 ||
        H5Dread(matrix_.dataset.get(), H5T_NATIVE_DOUBLE, memory.get(), part.get(), H5P_DEFAULT,
                block_.data()) < 0) {
      return absl::DataLossError(fmt::format("rows {} to {}: the HDF5 data can't be read ({})",
                                             begin_ + 1, begin_ + count[0], LastHdfError()));
    }
    end_ = begin_ + count[0];
    return absl::OkStatus();
  }

  const HdfMatrix matrix_;
  const uint64_t block_rows_;
  std::vector<double> block_;  // rows [begin_, end_)
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  uint64_t next_ = 0;
};

// The datasets at the top of a file.
std::vector<std::string> Datasets(hid_t file) {
  std::vector<std::string> names;
  const auto keep = [](hid_t group, const char* name, const H5L_info_t* /*info*/,
                       void* out) -> herr_t {
    const HdfId dataset(H5Dopen2(group, name, H5P_DEFAULT), H5Dclose);
    if (dataset.ok()) {
      static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    }
    return static_cast<std::vector<std::string>*>(out)->size() < kMostNames ? 0 : 1;
  };
  H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, nullptr, keep, &names);
  return names;
}

absl::StatusOr<HdfMatrix> OpenMatrix(const std::string& path, const std::string& asked) {
  HdfId file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.ok()) {
    return absl::DataLossError(fmt::format("the HDF5 file can't be opened ({})", LastHdfError()));
  }
  const std::vector<std::string> names = Datasets(file.get());
  std::string name = asked;
  if (name.empty() && names.size() == 1) name = names[0];
  if (name.empty()) name = "train";
  HdfId dataset(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.ok()) {
    return absl::NotFoundError(
        fmt::format("no dataset {}; the file has {} (name one with --tensor)", Quoted(name),
                    names.empty() ? "none at its top" : fmt::format("{}", fmt::join(names, ", "))));
  }
  const HdfId type(H5Dget_type(dataset.get()), H5Tclose);
  const H5T_class_t kind = H5Tget_class(type.get());
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) {
    return absl::InvalidArgumentError(
        fmt::format("dataset {} holds no numbers (expected floats or integers)", Quoted(name)));
  }
  const HdfId space(H5Dget_space(dataset.get()), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  std::array<hsize_t, 2> shape = {0, 0};
  if (rank != 2 || H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr) != 2) {
    return absl::InvalidArgumentError(fmt::format(
        "dataset {} is no matrix (expected 2 dimensions, found {})", Quoted(name), rank));
  }
  return HdfMatrix{std::move(file), std::move(dataset), shape[0], shape[1]};
}

}  // namespace

absl::StatusOr<std::unique_ptr<VectorReader>> OpenHdf5(std::unique_ptr<ByteSource> bytes,
                                                       const ReadOptions& options) {
  const std::string path = bytes->path();
  if (!bytes->plain()) {
    return absl::InvalidArgumentError(
        bytes->name() + ": HDF5 is read from a plain file alone, neither packed nor from a pipe");
  }
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // the library writes its errors to stderr otherwise
  absl::StatusOr<HdfMatrix> matrix = OpenMatrix(path, options.tensor);
  if (!matrix.ok()) return Annotate(matrix.status(), path);
  MatrixLayout layout;
  layout.dimensions = matrix->dimensions;
  layout.rows = matrix->rows;
  VT_RETURN_IF_ERROR(Annotate(CheckLayout(layout), path));
  VT_ASSIGN_OR_RETURN(std::unique_ptr<WordList> words, WordsFor(path, options));
  return MatrixReader::Create(path, "HDF5", layout, std::make_unique<HdfRows>(*std::move(matrix)),
                              std::move(words));
}

}  // namespace vectable
