// The script that turns each figure of a page into a zoomable plot.
#pragma once

#include <string_view>

namespace gputomo::report {

/// drawer.js, embedded by the build.
[[nodiscard]] std::string_view drawer_script();

}  // namespace gputomo::report
