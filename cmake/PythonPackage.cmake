# The Python package: the extension module gputomo._core, and the folder from which the package runs without being
# installed, BUILD/python. `pip install .` builds the same target (pyproject.toml) and installs the component `python`.
set(GPUTOMO_PYTHON AUTO CACHE STRING
  "Build the Python package: ON, OFF, or AUTO where scripts/setup.sh made an environment for it (BUILD/venv)")
set(gputomo_venv ${CMAKE_BINARY_DIR}/venv/bin/python)
set(gputomo_has_python ${GPUTOMO_PYTHON})
if(GPUTOMO_PYTHON STREQUAL "AUTO")
  set(gputomo_has_python OFF)
  if(EXISTS ${gputomo_venv})
    set(gputomo_has_python ON)
  endif()
endif()
if(NOT gputomo_has_python)
  return()
endif()

if(NOT Python_EXECUTABLE AND EXISTS ${gputomo_venv})
  set(Python_EXECUTABLE ${gputomo_venv})
endif()
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.26)
  # One extension for all versions of Python from 3.12 on, where this one has the stable interface.
  set(gputomo_python_optional OPTIONAL_COMPONENTS Development.SABIModule)
endif()
find_package(Python 3.10 COMPONENTS Interpreter Development.Module ${gputomo_python_optional})
if(Python_FOUND)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_package(nanobind CONFIG)
endif()
if(NOT Python_FOUND OR NOT nanobind_FOUND)
  set(gputomo_lacks "The Python package is not built: it needs the headers of Python 3.10 or newer, and nanobind")
  if(GPUTOMO_PYTHON STREQUAL "AUTO")
    message(STATUS ${gputomo_lacks})
  else()
    message(FATAL_ERROR ${gputomo_lacks})
  endif()
  return()
endif()

file(GLOB gputomo_python_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/extension/*.cpp)
nanobind_add_module(gputomo_python STABLE_ABI NB_STATIC ${gputomo_python_sources})
target_link_libraries(gputomo_python PRIVATE gputomo_answer gputomo_pages gputomo_launch gputomo_machine gputomo_scan gputomo_options)
gputomo_older_glibc(gputomo_python)
# Symbols of the static libraries stay within the extension: other extensions have their own of the same names.
target_link_options(gputomo_python PRIVATE -Wl,--exclude-libs,ALL)
set(GPUTOMO_PYTHON_FOLDER ${CMAKE_BINARY_DIR}/python)
set_target_properties(gputomo_python PROPERTIES
  OUTPUT_NAME _core
  LIBRARY_OUTPUT_DIRECTORY ${GPUTOMO_PYTHON_FOLDER}/gputomo)

# BUILD/python/gputomo: links to the package's files, the descriptions and the executable, beside the extension.
file(GLOB gputomo_python_modules CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/gputomo/*)
list(FILTER gputomo_python_modules EXCLUDE REGEX "__pycache__")
file(MAKE_DIRECTORY ${GPUTOMO_PYTHON_FOLDER}/gputomo/bin)
foreach(file IN LISTS gputomo_python_modules)
  get_filename_component(name ${file} NAME)
  file(CREATE_LINK ${file} ${GPUTOMO_PYTHON_FOLDER}/gputomo/${name} SYMBOLIC)
endforeach()
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/machines ${GPUTOMO_PYTHON_FOLDER}/gputomo/machines SYMBOLIC)
file(CREATE_LINK ${CMAKE_BINARY_DIR}/gputomo ${GPUTOMO_PYTHON_FOLDER}/gputomo/bin/gputomo SYMBOLIC)

install(TARGETS gputomo_python LIBRARY DESTINATION gputomo COMPONENT python EXCLUDE_FROM_ALL)
install(PROGRAMS $<TARGET_FILE:gputomo> DESTINATION gputomo/bin COMPONENT python EXCLUDE_FROM_ALL)
file(GLOB gputomo_described CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/machines/*.json)
install(FILES ${gputomo_described} DESTINATION gputomo/machines COMPONENT python EXCLUDE_FROM_ALL)
get_filename_component(gputomo_nanobind ${nanobind_ROOT} DIRECTORY)
gputomo_install_notice(gputomo LICENSES.txt WITH -DNANOBIND=${gputomo_nanobind}
  INSTALL COMPONENT python EXCLUDE_FROM_ALL)
