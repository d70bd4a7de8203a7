// What pages of reproduced papers have beside the style sheet of all pages.
#pragma once

#include <string_view>

namespace gputomo::reproduce {

/// papers.css, embedded by the build.
[[nodiscard]] std::string_view papers_css();

}  // namespace gputomo::reproduce
