# What `cmake --install` and the packages hold: the executable, its manual page, its shell completion, the described
# GPUs, the documents and the licences. The executable prints the manual page and the completion, so that they cannot go
# stale. It holds the library that `capture` loads into programs, and the descriptions: it runs from any folder.
include(GNUInstallDirs)
set(GPUTOMO_MANUAL ${CMAKE_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${GPUTOMO_MANUAL})
set(GPUTOMO_MANUAL_FILES)
foreach(page IN ITEMS man bash zsh fish)
  set(file ${GPUTOMO_MANUAL}/gputomo.${page})
  if(page STREQUAL man)
    set(file ${GPUTOMO_MANUAL}/gputomo.1)
  endif()
  add_custom_command(OUTPUT ${file} COMMAND gputomo manual ${page} > ${file} DEPENDS gputomo VERBATIM)
  list(APPEND GPUTOMO_MANUAL_FILES ${file})
endforeach()
# Debian's policy asks for compressed manual pages, without the date of compression.
find_program(GPUTOMO_GZIP gzip REQUIRED)
add_custom_command(OUTPUT ${GPUTOMO_MANUAL}/gputomo.1.gz
  COMMAND ${GPUTOMO_GZIP} -9nc ${GPUTOMO_MANUAL}/gputomo.1 > ${GPUTOMO_MANUAL}/gputomo.1.gz
  DEPENDS ${GPUTOMO_MANUAL}/gputomo.1 VERBATIM)
add_custom_target(gputomo_manual ALL DEPENDS ${GPUTOMO_MANUAL_FILES} ${GPUTOMO_MANUAL}/gputomo.1.gz)

install(TARGETS gputomo RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${GPUTOMO_MANUAL}/gputomo.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${GPUTOMO_MANUAL}/gputomo.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME gputomo)
install(FILES ${GPUTOMO_MANUAL}/gputomo.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _gputomo)
install(FILES ${GPUTOMO_MANUAL}/gputomo.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/machines DESTINATION ${CMAKE_INSTALL_DATADIR}/gputomo)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# gputomo_install_notice(FOLDER NAME [ARGUMENT...]): the licences of gputomo and of what it holds, written when it is
# installed. `install(... COMPONENT C)` options follow after INSTALL.
function(gputomo_install_notice folder name)
  cmake_parse_arguments(NOTICE "" "" "WITH;INSTALL" ${ARGN})
  set(notice ${CMAKE_BINARY_DIR}/notice/${name})
  install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" -DOUTPUT=${notice} -DBINARY_DIR=${CMAKE_BINARY_DIR}
    ${NOTICE_WITH} -P ${CMAKE_SOURCE_DIR}/cmake/Licences.cmake COMMAND_ERROR_IS_FATAL ANY)" ${NOTICE_INSTALL})
  install(FILES ${notice} DESTINATION ${folder} ${NOTICE_INSTALL})
endfunction()
gputomo_install_notice(${CMAKE_INSTALL_DOCDIR} copyright)
# The texts that the notice names, for systems without a folder of common licences.
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME Apache-2.0.txt)
foreach(name IN ITEMS GPL-3 LGPL-3)
  if(EXISTS /usr/share/common-licenses/${name})
    install(FILES /usr/share/common-licenses/${name} DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME ${name}.txt)
  endif()
endforeach()

# `cpack` in the build folder makes gputomo-VERSION-linux-ARCHITECTURE.tar.gz and gputomo_VERSION_ARCHITECTURE.deb;
# `make package` makes the Python wheel beside them. cmake/PackageVersion.cmake sets the version when cpack runs.
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME gputomo)
set(CPACK_PACKAGE_VENDOR gputomo)
set(CPACK_PACKAGE_CONTACT "The gputomo maintainers <maintainers@gputomo.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "measures GPUs by timing, and predicts and simulates kernels")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/PackageVersion.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/DebianFiles.cmake)
set(CPACK_GPUTOMO_SOURCE_DIR ${CMAKE_SOURCE_DIR})
set(CPACK_GPUTOMO_PROCESSOR ${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
if(CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)  # and not this system's
endif()
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # asks for the glibc whose symbols the executable names, and for nothing else
if(GPUTOMO_GLIBC_STUBS)
  # dpkg knows of each function since when this system's library has it, which is later where it has moved.
  file(STRINGS ${GPUTOMO_GLIBC_STUBS}/version gputomo_glibc)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${gputomo_glibc})")
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libcuda1, man-db, bash-completion")
string(CONCAT CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "gputomo runs microbenchmarks through the CUDA driver and deduces from their\n"
  "timings what GPUs do not document: caches, TLBs, pipelines, schedulers and\n"
  "memory. From the description of a GPU it predicts and simulates kernels, also\n"
  "those captured from programs. Without a GPU, simulated ones run the same\n"
  "kernels. The driver (libcuda.so.1) is opened at run time and not needed then.")
include(CPack)
