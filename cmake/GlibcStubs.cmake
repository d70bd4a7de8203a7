# Links against the functions of an older glibc than this system's: GPUTOMO_GLIBC_STUBS is the folder that
# scripts/glibc_stubs.sh made. Compiler and objects stay. cmake/older_glibc.cpp has what GCC's libraries need beyond.
set(gputomo_static_runtime)
foreach(archive IN ITEMS libstdc++.a libgcc.a libgcc_eh.a)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${archive}
    OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "GPUTOMO_GLIBC_STUBS: ${CMAKE_CXX_COMPILER} has no ${archive}; expected GCC with its archives")
  endif()
  string(APPEND gputomo_static_runtime " ${file}")
endforeach()
foreach(kind IN ITEMS EXE SHARED MODULE)
  string(APPEND CMAKE_${kind}_LINKER_FLAGS " -nodefaultlibs -L${GPUTOMO_GLIBC_STUBS}")
endforeach()
# These come last on every command line. The loader is behind libc, which has functions of the same names.
set(CMAKE_CXX_STANDARD_LIBRARIES "-Wl,--start-group${gputomo_static_runtime} -Wl,--end-group -Wl,--as-needed")
foreach(file IN ITEMS libpthread.so.0 libdl.so.2 libm.so.6 libc.so.6 libc_nonshared.a loader.so)
  if(NOT EXISTS ${GPUTOMO_GLIBC_STUBS}/${file})
    message(FATAL_ERROR "GPUTOMO_GLIBC_STUBS: ${GPUTOMO_GLIBC_STUBS} has no ${file}; run scripts/glibc_stubs.sh")
  endif()
  string(APPEND CMAKE_CXX_STANDARD_LIBRARIES " ${GPUTOMO_GLIBC_STUBS}/${file}")
endforeach()
