# gputomo_room(NAME [FILE_BY_FILE] [COMPILE_AS kind] [DEPENDS room...] [EXCLUDE subfolder...] [LIBRARIES target...])
#
# Declares the library of src/NAME (its own .cpp files and those of its subfolders, without EXCLUDE). Other rooms see its
# headers as "NAME/header.hpp" through a folder of links that holds this room only. A room can therefore include nothing
# but itself and the rooms that it depends on.
#
# FILE_BY_FILE: every file is compiled alone even with GPUTOMO_UNITY, for rooms whose files use the same local names.
# A catalogue.cpp is always compiled alone, so that a test can link one with a row more in its place (tests/recipes).
function(gputomo_room name)
  cmake_parse_arguments(ROOM "FILE_BY_FILE" "COMPILE_AS" "DEPENDS;EXCLUDE;LIBRARIES" ${ARGN})
  string(REPLACE "/" "_" id ${name})
  set(source_dir ${CMAKE_SOURCE_DIR}/src/${name})
  set(include_dir ${CMAKE_BINARY_DIR}/include/${id})

  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${source_dir}/*.cpp ${source_dir}/*.hpp)
  foreach(excluded IN LISTS ROOM_EXCLUDE)
    list(FILTER files EXCLUDE REGEX "^${source_dir}/${excluded}/")
  endforeach()

  file(REMOVE_RECURSE ${include_dir})
  set(sources)
  foreach(file IN LISTS files)
    if(file MATCHES "\\.cpp$")
      list(APPEND sources ${file})
      if(file MATCHES "/catalogue\\.cpp$")
        set_source_files_properties(${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    else()
      file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR}/src ${file})
      get_filename_component(folder ${include_dir}/${relative} DIRECTORY)
      file(MAKE_DIRECTORY ${folder})
      file(CREATE_LINK ${file} ${include_dir}/${relative} SYMBOLIC)
    endif()
  endforeach()

  set(depends)
  foreach(room IN LISTS ROOM_DEPENDS)
    string(REPLACE "/" "_" room_id ${room})
    list(APPEND depends gputomo_${room_id})
  endforeach()

  if(sources)
    add_library(gputomo_${id} STATIC ${sources})
    target_include_directories(gputomo_${id} PUBLIC ${include_dir})
    target_link_libraries(gputomo_${id} PUBLIC ${depends} ${ROOM_LIBRARIES} PRIVATE gputomo_options)
    if(NOT ROOM_COMPILE_AS)
      set(ROOM_COMPILE_AS glue)
    endif()
    gputomo_compile_as(gputomo_${id} ${ROOM_COMPILE_AS})
    if(NOT ROOM_FILE_BY_FILE)
      gputomo_compile_together(gputomo_${id})
    endif()
  else()
    add_library(gputomo_${id} INTERFACE)
    target_include_directories(gputomo_${id} INTERFACE ${include_dir})
    target_link_libraries(gputomo_${id} INTERFACE ${depends} ${ROOM_LIBRARIES})
  endif()
endfunction()
