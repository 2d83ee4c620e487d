# Every library that Vectable uses, found in the distribution's packages (Debian 12 and newer). No other
# file calls find_package; scripts/install_deps.sh installs the packages.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# absl::status, absl::statusor, absl::synchronization, absl::strings, absl::flat_hash_map, ...
find_package(absl CONFIG REQUIRED)
# RocksDB::rocksdb-shared
find_package(RocksDB CONFIG REQUIRED)
# OpenMP::OpenMP_CXX; the package of faiss names this target, so OpenMP comes first.
find_package(OpenMP REQUIRED COMPONENTS CXX)
# faiss
find_package(faiss CONFIG REQUIRED)
# hwy::hwy
find_package(HWY CONFIG REQUIRED)
# xxHash::xxhash; the package has no CMake config that names a target.
find_path(VECTABLE_XXHASH_INCLUDE xxhash.h REQUIRED)
mark_as_advanced(VECTABLE_XXHASH_INCLUDE)
add_library(xxHash::xxhash INTERFACE IMPORTED)  # used as headers alone
target_include_directories(xxHash::xxhash INTERFACE ${VECTABLE_XXHASH_INCLUDE})
# nlohmann_json::nlohmann_json
find_package(nlohmann_json CONFIG REQUIRED)

if(NOT VECTABLE_CORE_ONLY)
  # protobuf::libprotobuf, protobuf::protoc; the package has no CMake config, so module mode.
  find_package(Protobuf MODULE REQUIRED)
  # gRPC::grpc++, gRPC::grpc++_reflection, gRPC::grpc_cpp_plugin
  find_package(gRPC CONFIG REQUIRED)
  # OpenSSL::Crypto; gRPC's own dependency
  find_package(OpenSSL REQUIRED)
  # fmt::fmt
  find_package(fmt CONFIG REQUIRED)
  # spdlog::spdlog
  find_package(spdlog CONFIG REQUIRED)
  # prometheus-cpp::core
  find_package(prometheus-cpp CONFIG REQUIRED)
  # httplib::httplib; the package has no CMake config.
  find_library(VECTABLE_HTTPLIB cpp-httplib REQUIRED)
  mark_as_advanced(VECTABLE_HTTPLIB)
  add_library(httplib::httplib INTERFACE IMPORTED)
  target_link_libraries(httplib::httplib INTERFACE ${VECTABLE_HTTPLIB})
  # CLI11::CLI11
  find_package(CLI11 CONFIG REQUIRED)
  # FastFloat::fast_float
  find_package(FastFloat CONFIG REQUIRED)
  # ZLIB::ZLIB
  find_package(ZLIB REQUIRED)
  # zstd::zstd comes with RocksDB's config.
  # utf8proc::utf8proc; the package has no CMake config.
  find_library(VECTABLE_UTF8PROC utf8proc REQUIRED)
  mark_as_advanced(VECTABLE_UTF8PROC)
  add_library(utf8proc::utf8proc INTERFACE IMPORTED)
  target_link_libraries(utf8proc::utf8proc INTERFACE ${VECTABLE_UTF8PROC})
  # hdf5::hdf5, of the serial build; CMake's own module would ask its compiler wrapper and link all that a
  # static build needs.
  find_library(VECTABLE_HDF5 hdf5_serial REQUIRED)
  find_path(VECTABLE_HDF5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/serial REQUIRED)
  mark_as_advanced(VECTABLE_HDF5 VECTABLE_HDF5_INCLUDE)
  add_library(hdf5::hdf5 INTERFACE IMPORTED)
  target_include_directories(hdf5::hdf5 SYSTEM INTERFACE ${VECTABLE_HDF5_INCLUDE})
  target_link_libraries(hdf5::hdf5 INTERFACE ${VECTABLE_HDF5})
  # systemd::systemd; the package has no CMake config.
  find_library(VECTABLE_SYSTEMD systemd REQUIRED)
  mark_as_advanced(VECTABLE_SYSTEMD)
  add_library(systemd::systemd INTERFACE IMPORTED)
  target_link_libraries(systemd::systemd INTERFACE ${VECTABLE_SYSTEMD})
  # jemalloc::jemalloc; the package has no CMake config. It must stay linked though no symbol of it is named.
  find_library(VECTABLE_JEMALLOC jemalloc REQUIRED)
  mark_as_advanced(VECTABLE_JEMALLOC)
  add_library(jemalloc::jemalloc INTERFACE IMPORTED)
  target_link_libraries(jemalloc::jemalloc INTERFACE -Wl,--push-state,--no-as-needed ${VECTABLE_JEMALLOC} -Wl,--pop-state)
endif()

if(VECTABLE_TESTS)
  # GTest::gtest, GTest::gtest_main, GTest::gmock
  find_package(GTest CONFIG REQUIRED)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

if(VECTABLE_BENCH)
  # hnswlib::hnswlib, to compare with; headers alone, and not ours to warn about.
  find_path(VECTABLE_HNSWLIB_INCLUDE hnswlib/hnswlib.h REQUIRED)
  mark_as_advanced(VECTABLE_HNSWLIB_INCLUDE)
  add_library(hnswlib::hnswlib INTERFACE IMPORTED)
  target_include_directories(hnswlib::hnswlib SYSTEM INTERFACE ${VECTABLE_HNSWLIB_INCLUDE})
endif()
