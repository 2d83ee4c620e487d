# Helpers for the CMakeLists.txt of each folder. Paths are relative to the calling folder; sources are
# listed by name.
#
#   vectable_library(vectable_storage
#     SOURCES key_format.cc key_format.h rocks_store.cc ...
#     DEPS vectable_common absl::status RocksDB::rocksdb-shared
#     [GRPC])
#
#   vectable_executable(vectable-server
#     SOURCES main.cc
#     DEPS vectable_server
#     [GRPC])
#
#   vectable_test(key_format_test
#     SOURCES key_format_test.cc
#     DEPS vectable_storage
#     [TIMEOUT 60] [GRPC] [NO_MAIN])
#
#   vectable_proto_library(vectable_proto
#     ROOT ${CMAKE_CURRENT_SOURCE_DIR}
#     PROTOS vectable/v1/row.proto vectable/v1/table.proto ...)
#
# DEPS are public link dependencies, ours or those named in Dependencies.cmake. A library whose SOURCES are
# all headers is made an INTERFACE library. A library of test support is a vectable_library with
# GTest::gtest among its DEPS.
# GRPC: the target uses the generated code: links vectable_proto and compiles with the shared precompiled
# header of gRPC and of the generated headers (sources include what they use all the same).
# vectable_test makes one executable, linked with GoogleTest, GoogleMock and their main (unless NO_MAIN),
# and one ctest test of the same name, labelled with the folder's name. In a test, the macro
# VECTABLE_SOURCE_DIR is the path of the project, and VECTABLE_BIN_DIR that of the built programs.
# Includes start at the project's root ("storage/key_format.h") or, for generated code, at
# "vectable/v1/row.grpc.pb.h".

include_guard(GLOBAL)

function(_vectable_target_setup name use_grpc)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:vectable_warnings>)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                            $<INSTALL_INTERFACE:include/vectable>)
  if(use_grpc)
    if(VECTABLE_CORE_ONLY)
      message(FATAL_ERROR "${name} needs gRPC, which a build with VECTABLE_CORE_ONLY leaves out")
    endif()
    target_link_libraries(${name} PUBLIC vectable_proto)
    target_precompile_headers(${name} REUSE_FROM vectable_grpc_pch)
  endif()
endfunction()

# Under the thread sanitizer each program brings locks that the sanitizer understands.
if(VECTABLE_SANITIZE STREQUAL "thread")
  add_library(vectable_tsan_mutex OBJECT ${PROJECT_SOURCE_DIR}/cmake/tsan_mutex.cc)
  target_link_libraries(vectable_tsan_mutex PRIVATE vectable_warnings absl::synchronization)
endif()

function(_vectable_program_setup name)
  if(TARGET vectable_tsan_mutex)
    target_link_libraries(${name} PRIVATE vectable_tsan_mutex absl::synchronization)
  endif()
endfunction()

function(vectable_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GRPC" "" "SOURCES;DEPS")
  _vectable_check_arguments(${name})
  set(compiled ${arg_SOURCES})
  list(FILTER compiled INCLUDE REGEX "\\.cc$")
  if(NOT compiled)
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE ${arg_DEPS})
    return()
  endif()
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ${arg_DEPS})
  _vectable_target_setup(${name} "${arg_GRPC}")
endfunction()

function(vectable_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GRPC" "" "SOURCES;DEPS")
  _vectable_check_arguments(${name})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  _vectable_target_setup(${name} "${arg_GRPC}")
  _vectable_program_setup(${name})
endfunction()

function(vectable_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GRPC;NO_MAIN" "TIMEOUT" "SOURCES;DEPS")
  _vectable_check_arguments(${name})
  if(NOT VECTABLE_TESTS)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gmock GTest::gtest)
  if(NOT arg_NO_MAIN)
    target_link_libraries(${name} PRIVATE GTest::gmock_main)
  endif()
  target_compile_definitions(${name} PRIVATE "VECTABLE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\""
                                             "VECTABLE_BIN_DIR=\"${PROJECT_BINARY_DIR}/bin\"")
  _vectable_target_setup(${name} "${arg_GRPC}")
  _vectable_program_setup(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/tests)
  add_test(NAME ${name} COMMAND ${name})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  # What programs keep for their user goes where a build's things are.
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS ${folder}
                                          ENVIRONMENT "XDG_STATE_HOME=${PROJECT_BINARY_DIR}/state")
endfunction()

function(vectable_proto_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ROOT" "PROTOS")
  set(out ${PROJECT_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${out})
  set(sources "")
  set(headers "")
  list(TRANSFORM arg_PROTOS PREPEND ${arg_ROOT}/ OUTPUT_VARIABLE inputs)
  foreach(proto IN LISTS arg_PROTOS)
    string(REGEX REPLACE "\\.proto$" "" stem ${proto})
    set(made ${out}/${stem}.pb.cc ${out}/${stem}.grpc.pb.cc ${out}/${stem}.pb.h
             ${out}/${stem}.grpc.pb.h)
    add_custom_command(
      OUTPUT ${made}
      COMMAND protobuf::protoc --proto_path=${arg_ROOT} --cpp_out=${out} --grpc_out=${out}
              --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin> ${arg_ROOT}/${proto}
      DEPENDS ${inputs}
      COMMENT "Generating ${proto}"
      VERBATIM)
    list(APPEND sources ${made})
    list(APPEND headers ${out}/${stem}.grpc.pb.h)
  endforeach()
  add_library(${name} STATIC ${sources})
  # Generated files define the same names.
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  target_compile_options(${name} PRIVATE -w)
  target_include_directories(${name} SYSTEM PUBLIC $<BUILD_INTERFACE:${out}> $<INSTALL_INTERFACE:include/vectable>)
  target_link_libraries(${name} PUBLIC gRPC::grpc++ protobuf::libprotobuf)

  # One precompiled header, which every target made with GRPC reuses.
  file(WRITE ${PROJECT_BINARY_DIR}/vectable_grpc_pch.cc "// Carries the precompiled header.\n")
  add_library(vectable_grpc_pch OBJECT ${PROJECT_BINARY_DIR}/vectable_grpc_pch.cc)
  target_link_libraries(vectable_grpc_pch PRIVATE vectable_warnings ${name})
  target_precompile_headers(vectable_grpc_pch PRIVATE <grpcpp/grpcpp.h> ${headers})
endfunction()

macro(_vectable_check_arguments name)
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${name}: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "${name}: SOURCES is missing")
  endif()
endmacro()
