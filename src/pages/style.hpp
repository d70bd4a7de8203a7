// The style sheet of an answer's page.
#pragma once

#include <string_view>

namespace gputomo::pages {

/// The style sheet of a page and of its compact part: answer.css, embedded by the build.
[[nodiscard]] std::string_view answer_css();

}  // namespace gputomo::pages
