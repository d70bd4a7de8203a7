# Writes OUTPUT, the source file with the version and the commit of SOURCE_DIR. The commit is "9a7d7c912345", with
# "-dirty" where files were changed since, or "unknown" where SOURCE_DIR is no work tree of git (a folder inside another
# project's work tree is none).
include(${CMAKE_CURRENT_LIST_DIR}/Version.cmake)
gputomo_find_version(${SOURCE_DIR})
set(commit "unknown")
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} rev-parse --show-toplevel
    OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  get_filename_component(source_dir ${SOURCE_DIR} REALPATH)
  if(NOT failed AND "${top}" STREQUAL "${source_dir}")
    execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND found MATCHES "^[0-9a-f]+(-dirty)?$")
      set(commit ${found})
    endif()
  endif()
endif()
string(CONCAT code "#include \"cli/terminal/version.hpp\"\n\nnamespace gputomo::cli {\n\n"
  "std::string_view version() { return \"${GPUTOMO_VERSION}\"; }\n\n"
  "std::string_view commit() { return \"${commit}\"; }\n\n}  // namespace gputomo::cli\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT "${before}" STREQUAL "${code}")
  file(WRITE ${OUTPUT} "${code}")
endif()
