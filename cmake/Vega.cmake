# gputomo_embed_vega(TARGET): builds Vega, Vega-Lite and Vega-Embed (BSD 3-clause) into TARGET as
# report::vega_scripts(). They come from npm, pinned by version and SHA-256, and are kept in the build folder. Without a
# network the text is empty and reports have static plots.
set(GPUTOMO_VEGA_PACKAGES
  "vega 6.4.0 3521fb6ff68a94a40323954f0ba4484ba4014b157bfd37f89a3b063082320c42"
  "vega-lite 6.5.0 811230a6bfd2cdbfc359d0c38f624a90df86657b7f251b67be88bcc4eee32b7f"
  "vega-embed 7.3.0 d9a958ced3240f0418df7d5e12e97dba6e63cecda15b8403e47a0db7eb6ea859")
option(GPUTOMO_VEGA "Build Vega-Lite into reports, so that plots zoom (fetched from registry.npmjs.org)" ON)

# Sets `script` in the caller to the file with the package's minified script, or to nothing if it cannot be fetched.
function(gputomo_fetch_npm name version hash script)
  set(folder ${CMAKE_BINARY_DIR}/npm/${name}-${version})
  set(file ${folder}/package/build/${name}.min.js)
  set(${script} "" PARENT_SCOPE)
  if(NOT EXISTS ${file})
    set(tarball ${folder}/${name}-${version}.tgz)
    file(DOWNLOAD https://registry.npmjs.org/${name}/-/${name}-${version}.tgz ${tarball}
      TIMEOUT 60 INACTIVITY_TIMEOUT 15 STATUS status)
    list(GET status 0 failed)
    if(failed)
      file(REMOVE ${tarball})
      return()
    endif()
    file(SHA256 ${tarball} found)
    if(NOT found STREQUAL hash)
      file(REMOVE ${tarball})
      message(WARNING
        "${name} ${version} from registry.npmjs.org has SHA-256 ${found}; expected ${hash}; it is not used")
      return()
    endif()
    file(ARCHIVE_EXTRACT INPUT ${tarball} DESTINATION ${folder} PATTERNS package/build/${name}.min.js package/LICENSE)
    file(REMOVE ${tarball})
  endif()
  set(${script} ${file} PARENT_SCOPE)
endfunction()

function(gputomo_embed_vega target)
  set(text "")
  if(GPUTOMO_VEGA)
    foreach(package IN LISTS GPUTOMO_VEGA_PACKAGES)
      separate_arguments(package)
      list(GET package 0 name)
      list(GET package 1 version)
      list(GET package 2 hash)
      gputomo_fetch_npm(${name} ${version} ${hash} script)
      if(NOT script)
        message(STATUS
          "gputomo: ${name} ${version} cannot be fetched from registry.npmjs.org: reports will have static plots")
        set(text "")
        break()
      endif()
      file(READ ${script} content)
      string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" content "${content}")
      string(APPEND text
        "/* ${name} ${version}, BSD 3-clause, (c) University of Washington Interactive Data Lab */\n${content}\n;")
    endforeach()
  endif()
  gputomo_embed_string(${target} "${text}" report/plot/vega.hpp vega_scripts)
endfunction()
