# gputomo_literal_of(VARIABLE TEXT): sets VARIABLE to string literals, one for each line, that together are TEXT. Some
# compilers limit the length of one literal.
function(gputomo_literal_of variable text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "?" "\\?" text "${text}")  # no trigraphs
  string(REPLACE "\r" "\\r" text "${text}")
  string(REPLACE "\t" "\\t" text "${text}")
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  set(${variable} "\"${text}\"" PARENT_SCOPE)
endfunction()

# gputomo_embed_string(TARGET TEXT HEADER FUNCTION): builds TEXT into TARGET as FUNCTION(), which HEADER declares in the
# namespace of the room that HEADER lies in. Its length comes from sizeof, because counting the characters of a long text
# exceeds what compilers evaluate at compile time.
function(gputomo_embed_string target text header function)
  string(REGEX REPLACE "/.*" "" room ${header})
  gputomo_literal_of(literal "${text}")
  string(CONCAT code "#include \"${header}\"\n\nnamespace gputomo::${room} {\nnamespace {\n"
    "constexpr char kText[] =\n    ${literal};\n}  // namespace\n\n"
    "std::string_view ${function}() { return {kText, sizeof kText - 1}; }\n\n}  // namespace gputomo::${room}\n")
  set(source ${CMAKE_BINARY_DIR}/generated/${function}.cpp)
  set(before "")
  if(EXISTS ${source})
    file(READ ${source} before)
  endif()
  if(NOT "${before}" STREQUAL "${code}")
    file(WRITE ${source} "${code}")
  endif()
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# gputomo_embed_text(TARGET FILE HEADER FUNCTION): the same for the text of src/FILE. Style sheets and scripts are edited
# as files of their own.
function(gputomo_embed_text target file header function)
  set(path ${CMAKE_SOURCE_DIR}/src/${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} text)
  gputomo_embed_string(${target} "${text}" ${header} ${function})
endfunction()

# gputomo_embed_files(TARGET PLACE FOLDER EXTENSION): builds FOLDER/*.EXTENSION into TARGET as embedded_FOLDER() of
# PLACE/embedded_files.hpp, in the namespace of the room that PLACE lies in.
function(gputomo_embed_files target place folder extension)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.${extension})
  string(REGEX REPLACE "/.*" "" room ${place})
  set(texts "")
  set(rows "")
  set(count 0)
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    gputomo_literal_of(literal "${text}")
    string(APPEND texts "constexpr char kText${count}[] =\n    ${literal};\n")
    string(APPEND rows "    {\"${name}\", {kText${count}, sizeof kText${count} - 1}},\n")
    math(EXPR count "${count} + 1")
  endforeach()
  set(source ${CMAKE_BINARY_DIR}/generated/embedded_${folder}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT
"#include \"@place@/embedded_files.hpp\"

namespace gputomo::@room@ {
namespace {

@texts@
constexpr EmbeddedFile kFiles[] = {
@rows@};

}  // namespace

std::span<const EmbeddedFile> embedded_@folder@() { return kFiles; }

}  // namespace gputomo::@room@
" @ONLY)
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# gputomo_embed_binary(TARGET FILE HEADER FUNCTION): builds src/FILE into TARGET as hexadecimal digits, 96 on a line.
# FUNCTION() returns them, which HEADER declares in the namespace of the room that HEADER lies in.
function(gputomo_embed_binary target file header function)
  set(path ${CMAKE_SOURCE_DIR}/src/${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} digits HEX)
  string(REPEAT "." 96 line)
  string(REGEX REPLACE "(${line})" "\\1\n" digits "${digits}")
  gputomo_embed_string(${target} "${digits}" ${header} ${function})
endfunction()
