# gputomo_embed_machines(TARGET): builds machines/*.json into TARGET as embedded_machines().
function(gputomo_embed_machines target)
  file(GLOB machines CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/machines/*.json)
  set(texts "")
  set(rows "")
  set(count 0)
  foreach(machine IN LISTS machines)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${machine})
    get_filename_component(name ${machine} NAME_WE)
    file(READ ${machine} text)
    # String literals have a length limit in some compilers: split into lines.
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
    string(APPEND texts "constexpr std::string_view kText${count} =\n    \"${text}\";\n")
    string(APPEND rows "    {\"${name}\", kText${count}},\n")
    math(EXPR count "${count} + 1")
  endforeach()
  set(source ${CMAKE_BINARY_DIR}/generated/embedded_machines.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT
"#include \"cli/embedded_machines.hpp\"

namespace gputomo::cli {
namespace {

@texts@
constexpr EmbeddedMachine kMachines[] = {
@rows@};

}  // namespace

std::span<const EmbeddedMachine> embedded_machines() { return kMachines; }

}  // namespace gputomo::cli
" @ONLY)
  target_sources(${target} PRIVATE ${source})
endfunction()
