# gputomo_find_version(SOURCE_DIR): sets in the caller GPUTOMO_VERSION, what scripts/version.sh prints ("0.2.1.dev17"),
# and GPUTOMO_RELEASE, its three numbers ("0.2.1"), which is all that CMake's own version of a project may hold.
function(gputomo_find_version source_dir)
  execute_process(COMMAND ${source_dir}/scripts/version.sh
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE error RESULT_VARIABLE failed)
  if(failed OR NOT found MATCHES "^([0-9]+\\.[0-9]+\\.[0-9]+)(\\.dev[0-9]+)?$")
    message(FATAL_ERROR "gputomo: scripts/version.sh gives no version: ${failed} ${found} ${error}")
  endif()
  set(GPUTOMO_VERSION ${found} PARENT_SCOPE)
  set(GPUTOMO_RELEASE ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()
