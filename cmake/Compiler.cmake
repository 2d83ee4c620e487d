# Language level, warnings, sanitizers and the compiler cache, for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# Results must be the same on every machine: no fused multiply-add unless a kernel asks for it by name.
add_compile_options(-ffp-contract=off)

if(VECTABLE_SANITIZE)
  add_compile_options(-fsanitize=${VECTABLE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${VECTABLE_SANITIZE})
endif()

if(VECTABLE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Warnings are for our code only: the generated code doesn't link this target.
add_library(vectable_warnings INTERFACE)
target_compile_options(vectable_warnings INTERFACE -Wall -Wextra -Werror=unused-result
                                                   $<$<BOOL:${VECTABLE_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # What GCC guesses from optimised code: -Wrestrict is wrong about std::string in version 12, the others
  # now and then; they warn, but never fail a build. -Wsubobject-linkage takes a source file that a unity build
  # includes for a header.
  target_compile_options(
    vectable_warnings INTERFACE -Wno-restrict -Wno-subobject-linkage -Wno-error=maybe-uninitialized -Wno-error=array-bounds
                                -Wno-error=stringop-overflow -Wno-error=stringop-overread)
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(vectable_warnings INTERFACE -Wthread-safety -Werror=thread-safety)
endif()

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(VECTABLE_CCACHE ccache)
  mark_as_advanced(VECTABLE_CCACHE)
  if(VECTABLE_CCACHE)
    # A precompiled header can be cached only with these two relaxations and, under GCC, -fpch-preprocess.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                    ${VECTABLE_CCACHE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      add_compile_options(-fpch-preprocess)
    endif()
  endif()
endif()
