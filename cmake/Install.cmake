# What `cmake --install` installs: the executable, its manual page, its shell completion, and the documents. The
# executable prints the manual page and the completion, so that they cannot go stale.
include(GNUInstallDirs)
set(GPUTOMO_MANUAL ${CMAKE_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${GPUTOMO_MANUAL})
add_custom_command(OUTPUT ${GPUTOMO_MANUAL}/gputomo.1 ${GPUTOMO_MANUAL}/gputomo.bash
  COMMAND gputomo manual man > ${GPUTOMO_MANUAL}/gputomo.1
  COMMAND gputomo manual bash > ${GPUTOMO_MANUAL}/gputomo.bash
  DEPENDS gputomo VERBATIM)
add_custom_target(gputomo_manual ALL DEPENDS ${GPUTOMO_MANUAL}/gputomo.1 ${GPUTOMO_MANUAL}/gputomo.bash)

install(TARGETS gputomo RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${GPUTOMO_MANUAL}/gputomo.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${GPUTOMO_MANUAL}/gputomo.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME gputomo)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${CMAKE_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
