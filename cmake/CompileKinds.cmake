# gputomo_compile_as(TARGET KIND), gputomo_compile_together(TARGET): how a target is compiled, so that a fresh build is
# short.
#
# A kind is an optimisation level for release builds and a list of library headers that are compiled once (precompiled)
# for all targets of that kind. The headers are those of libraries alone: no source may rely on them being there, which
# builds with -DGPUTOMO_PRECOMPILE=OFF check.
#
# All kinds but tests are compiled so that they can become part of the Python package's shared library. Their symbols are
# hidden, which makes calls within that library as cheap as within the executable.
#
#   simulation  what runs for minutes: simulated GPUs and deduction; all optimisations
#   glue        everything else: -Og compiles in half of the time and is as fast where nothing runs for long
#   json        glue that reads or writes JSON
#   tests       GoogleTest on top of json; -Og compiles as fast as no optimisation, and tests of deduction run in 2/3 of
#               the time
option(GPUTOMO_PRECOMPILE "Precompile the headers of libraries" ON)
# Up to `gputomo_files_at_once` neighbouring files of a room are compiled as one, so that the templates of libraries are
# instantiated once for them. With more files, a change of one of them takes longer to compile. Local names of such
# files must differ, and builds without GPUTOMO_UNITY check that each file includes what it needs.
option(GPUTOMO_UNITY "Compile several files of a room at once: short for fresh builds" OFF)
set(gputomo_files_at_once 16)

function(gputomo_compile_together target)
  if(GPUTOMO_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${gputomo_files_at_once})
  endif()
endfunction()

set(gputomo_headers_simulation <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <numeric> <optional>
    <random> <set> <span> <string> <string_view> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)
set(gputomo_headers_glue ${gputomo_headers_simulation})
set(gputomo_headers_json ${gputomo_headers_glue} <nlohmann/json.hpp>)
set(gputomo_headers_tests ${gputomo_headers_json} <gmock/gmock.h> <gtest/gtest.h>)

# What the precompiled headers of a kind need.
set(gputomo_libraries_simulation gputomo_fmt)
set(gputomo_libraries_glue gputomo_fmt)
set(gputomo_libraries_json gputomo_fmt nlohmann_json::nlohmann_json)
set(gputomo_libraries_tests gputomo_fmt nlohmann_json::nlohmann_json GTest::gtest GTest::gmock)

function(gputomo_compile_options target kind)
  if(kind STREQUAL "tests")
    # With sanitizers, tests take half the time to compile without optimisation.
    target_compile_options(${target} PRIVATE $<IF:$<BOOL:${GPUTOMO_SANITIZE}>,-O0,$<$<CONFIG:Release>:-Og>>)
  else()
    # Options and not properties: CMake would compile executables with -fPIE, and their precompiled headers with -fPIC.
    target_compile_options(${target} PRIVATE -fPIC -fvisibility=hidden -fvisibility-inlines-hidden)
    if(NOT kind STREQUAL "simulation")
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
    endif()
  endif()
endfunction()

function(gputomo_compile_as target kind)
  gputomo_compile_options(${target} ${kind})
  if(NOT GPUTOMO_PRECOMPILE)
    return()
  endif()
  set(owner gputomo_headers_of_${kind})
  if(NOT TARGET ${owner})
    set(source ${CMAKE_BINARY_DIR}/generated/${owner}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "// Nothing: its target holds precompiled headers.\n")
    add_library(${owner} OBJECT ${source})
    target_link_libraries(${owner} PRIVATE ${gputomo_libraries_${kind}} gputomo_options)
    gputomo_compile_options(${owner} ${kind})
    target_precompile_headers(${owner} PRIVATE ${gputomo_headers_${kind}})
  endif()
  # Libraries define macros that the precompiled headers were compiled with.
  target_link_libraries(${target} PRIVATE ${gputomo_libraries_${kind}})
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()
