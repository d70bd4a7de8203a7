# Writes OUTPUT, the notice that a package carries: gputomo's licence, and that of everything that is part of its files.
#
#   cmake -DOUTPUT=FILE -DBINARY_DIR=BUILD [-DNANOBIND=FOLDER] -P cmake/Licences.cmake
#
# The texts come from where the build took the libraries: Debian's copyright files, and the packages of npm. Where one
# is missing (another distribution), the notice says so and names the place of the text. NANOBIND, its Python package,
# adds what the extension module holds beside that.
set(libraries
  "libstdc++, libgcc|GPL-3 with the GCC Runtime Library Exception|https://gcc.gnu.org|libstdc++-*-dev|linked statically"
  "{fmt}|MIT|https://github.com/fmtlib/fmt|libfmt-dev|linked statically"
  "JSON for Modern C++|MIT|https://github.com/nlohmann/json|nlohmann-json3-dev|headers"
  "CLI11|BSD 3-clause|https://github.com/CLIUtils/CLI11|libcli11-dev|headers"
  "SQLite|public domain|https://sqlite.org|libsqlite3-dev|linked statically"
  "zlib|Zlib|https://zlib.net|zlib1g-dev|linked statically"
  "GNU Nettle|LGPL-3 or later, or GPL-2 or later|https://www.lysator.liu.se/~nisse/nettle|nettle-dev|linked statically"
  "Zstandard|BSD 3-clause, or GPL-2|https://github.com/facebook/zstd|libzstd-dev|linked statically"
  "LZ4|BSD 2-clause|https://github.com/lz4/lz4|liblz4-dev|linked statically"
  "xxHash|BSD 2-clause|https://github.com/Cyan4973/xxHash|libxxhash-dev|headers"
)

string(REPEAT "=" 78 rule)
string(CONCAT text
  "gputomo is under the Apache License, Version 2.0. Its text is at https://www.apache.org/licenses/LICENSE-2.0,\n"
  "and on Debian systems in /usr/share/common-licenses/Apache-2.0.\n\n"
  "The files of this package hold the works below, too. Whoever wants another version of GNU Nettle in them builds\n"
  "gputomo from its source, whose build links the Nettle that is installed. On Debian systems the GPL and the\n"
  "LGPL are in /usr/share/common-licenses.\n\n")
set(bodies "")
set(missing "")

# add(NAME LICENCE URL USE FILE): a line of the list and, where FILE exists, its text.
function(add name licence url use file)
  string(APPEND text "- ${name} (${use}): ${licence}; ${url}\n")
  if(file AND EXISTS "${file}")
    file(READ "${file}" body)
    string(APPEND bodies "\n${rule}\n${name}\n${rule}\n\n${body}")
  else()
    string(APPEND bodies "\n${rule}\n${name}\n${rule}\n\nThe text was not found where this was built. See ${url}\n")
    list(APPEND missing ${name})
  endif()
  set(text "${text}" PARENT_SCOPE)
  set(bodies "${bodies}" PARENT_SCOPE)
  set(missing "${missing}" PARENT_SCOPE)
endfunction()

foreach(library IN LISTS libraries)
  string(REPLACE "|" ";" parts "${library}")
  list(GET parts 0 name)
  list(GET parts 1 licence)
  list(GET parts 2 url)
  list(GET parts 3 package)
  list(GET parts 4 use)
  file(GLOB file /usr/share/doc/${package}/copyright)
  if(file)
    list(GET file -1 file)
  endif()
  add("${name}" "${licence}" "${url}" "${use}" "${file}")
endforeach()
# Vega's scripts are part of every report, where the build could fetch them.
file(GLOB scripts ${BINARY_DIR}/npm/*-[0-9]*)
foreach(folder IN LISTS scripts)
  get_filename_component(name ${folder} NAME)
  add("${name}" "BSD 3-clause" "https://vega.github.io" "script in reports" "${folder}/package/LICENSE")
endforeach()
if(NANOBIND)
  file(GLOB file ${NANOBIND}/../nanobind-*.dist-info/licenses/LICENSE)
  add("nanobind" "BSD 3-clause" "https://github.com/wjakob/nanobind" "linked statically" "${file}")
  set(header ${NANOBIND}/ext/robin_map/include/tsl/robin_map.h)
  if(EXISTS ${header})  # the licence is the comment that its headers begin with
    file(READ ${header} text_of_header)
    string(FIND "${text_of_header}" "*/" end)
    string(SUBSTRING "${text_of_header}" 0 ${end} comment)
    file(WRITE ${BINARY_DIR}/notice/robin-map "${comment}\n")
  endif()
  add("robin-map" "MIT" "https://github.com/Tessil/robin-map" "headers" "${BINARY_DIR}/notice/robin-map")
  foreach(name IN ITEMS LGPL-3 GPL-3)  # systems of other kinds have no folder of common licences
    add("${name}" "for GNU Nettle and GCC" "https://www.gnu.org/licenses" "text" "/usr/share/common-licenses/${name}")
  endforeach()
endif()
if(missing)
  list(JOIN missing ", " names)
  message(WARNING
    "gputomo: the text of the licence was not found: ${names}; the package names the licence and where it is")
endif()
file(WRITE ${OUTPUT} "${text}${bodies}")
