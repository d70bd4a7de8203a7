// Vega, Vega-Lite and Vega-Embed as text (cmake/Vega.cmake makes the source; BSD 3-clause, University of Washington
// Interactive Data Lab).
#pragma once

#include <string_view>

namespace gputomo::report {

/// The three minified scripts, one after the other; empty where the build could not fetch them.
[[nodiscard]] std::string_view vega_scripts();

}  // namespace gputomo::report
