# gputomo_embed_commit(TARGET): builds the version and the commit of the sources into TARGET as version() and commit()
# of cli/terminal/version.hpp. Both are looked up in every build, but their source file changes only with them, so that
# nothing else is built again.
function(gputomo_embed_commit target)
  set(source ${CMAKE_BINARY_DIR}/generated/commit.cpp)
  add_custom_target(gputomo_commit
    COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${CMAKE_SOURCE_DIR} -DOUTPUT=${source} -P ${CMAKE_SOURCE_DIR}/cmake/WriteCommit.cmake
    BYPRODUCTS ${source}
    COMMENT "Looking up the version and the commit of the sources"
    VERBATIM)
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  add_dependencies(${target} gputomo_commit)
endfunction()
