# find_package(Vectable CONFIG) gives Vectable::client, the C++ client; #include "client/client.h".
include(CMakeFindDependencyMacro)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)
find_dependency(absl CONFIG)
find_dependency(HWY CONFIG)
find_dependency(nlohmann_json CONFIG)
find_dependency(Protobuf MODULE)
find_dependency(gRPC CONFIG)
find_dependency(fmt CONFIG)

include(${CMAKE_CURRENT_LIST_DIR}/Vectable.cmake)
