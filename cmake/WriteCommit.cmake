# Writes OUTPUT, the source file with the commit of SOURCE_DIR: "9a7d7c912345", with "-dirty" where files were changed
# since, or "unknown" where SOURCE_DIR is no work tree of git (a folder inside another project's work tree is none).
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
set(code "#include \"cli/terminal/version.hpp\"\n\nnamespace gputomo::cli {\n\nstd::string_view commit() { return \"${commit}\"; }\n\n}  // namespace gputomo::cli\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT "${before}" STREQUAL "${code}")
  file(WRITE ${OUTPUT} "${code}")
endif()
