# The library that `gputomo capture` loads into a program (src/capture/interposer), built into the executable.
#
# It runs inside programs of others, so it depends on the C library alone, shows only the driver's names and dlsym, and
# is never compiled with sanitizers.
set(recording_library ${CMAKE_BINARY_DIR}/libgputomo_capture.so)
file(GLOB recording_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/capture/interposer/*.cpp)
add_library(gputomo_recording SHARED ${recording_sources} ${CMAKE_SOURCE_DIR}/src/capture/fatbin.cpp)
set_target_properties(gputomo_recording PROPERTIES OUTPUT_NAME gputomo_capture
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
gputomo_compile_together(gputomo_recording)
target_include_directories(gputomo_recording PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(gputomo_recording PRIVATE $<$<CONFIG:Release>:-O2> -fno-sanitize=all)
target_link_options(gputomo_recording PRIVATE -fno-sanitize=all -static-libstdc++ -static-libgcc
  -Wl,--version-script=${CMAKE_SOURCE_DIR}/src/capture/interposer/exports.map)
set_target_properties(gputomo_recording PROPERTIES
  LINK_DEPENDS ${CMAKE_SOURCE_DIR}/src/capture/interposer/exports.map)
target_link_libraries(gputomo_recording PRIVATE gputomo_options ${CMAKE_DL_LIBS} Threads::Threads)
gputomo_older_glibc(gputomo_recording)
# Its dlsym must call the C library's in tail position, which takes optimisation (see the end of the file).
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/capture/interposer/lookup.cpp PROPERTIES COMPILE_OPTIONS -O2)

set_source_files_properties(${CMAKE_SOURCE_DIR}/src/capture/library.cpp PROPERTIES
  COMPILE_DEFINITIONS GPUTOMO_RECORDING_LIBRARY="${recording_library}" OBJECT_DEPENDS ${recording_library}
  SKIP_PRECOMPILE_HEADERS ON)
add_dependencies(gputomo_capture gputomo_recording)
