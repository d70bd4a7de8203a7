# Run by cpack before it packs the files: a Debian package has a changelog in Debian's form, which tells what the version
# is. What changed is in CHANGELOG.md. The texts of the GPL and the LGPL are on each Debian system.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(folder ${CPACK_TEMPORARY_DIRECTORY}/usr/share/doc/gputomo)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # that of SOURCE_DATE_EPOCH, where it is set
file(WRITE ${folder}/changelog "gputomo (${CPACK_DEBIAN_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
  "  * See CHANGELOG.md in this folder.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
execute_process(COMMAND gzip -9n ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
file(CHMOD ${folder}/changelog.gz PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
file(REMOVE ${folder}/Apache-2.0.txt ${folder}/GPL-3.txt ${folder}/LGPL-3.txt)
