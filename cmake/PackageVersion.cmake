# Read by cpack for each package: its version and name, from the sources as they are now.
include(${CPACK_GPUTOMO_SOURCE_DIR}/cmake/Version.cmake)
gputomo_find_version(${CPACK_GPUTOMO_SOURCE_DIR})
set(CPACK_PACKAGE_VERSION ${GPUTOMO_VERSION})
set(CPACK_PACKAGE_FILE_NAME gputomo-${GPUTOMO_VERSION}-linux-${CPACK_GPUTOMO_PROCESSOR})
if(CPACK_GENERATOR STREQUAL "DEB")
  # Debian orders 0.2.1~dev17 before 0.2.1, as Python orders 0.2.1.dev17.
  string(REPLACE ".dev" "~dev" CPACK_DEBIAN_PACKAGE_VERSION ${GPUTOMO_VERSION})
endif()
