# What `cmake --install` installs: the executable, its manual page, its shell completion, and the documents. The
# executable prints the manual page and the completion, so that they cannot go stale.
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
add_custom_target(gputomo_manual ALL DEPENDS ${GPUTOMO_MANUAL_FILES})

install(TARGETS gputomo RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${GPUTOMO_MANUAL}/gputomo.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${GPUTOMO_MANUAL}/gputomo.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME gputomo)
install(FILES ${GPUTOMO_MANUAL}/gputomo.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _gputomo)
install(FILES ${GPUTOMO_MANUAL}/gputomo.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${CMAKE_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
