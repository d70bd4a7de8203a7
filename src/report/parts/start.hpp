// The start of every HTML page that gputomo writes: head, style sheet and heading.
#pragma once

#include <string>
#include <string_view>

namespace gputomo::report {

/// An HTML page up to and including its h1 heading. `title` is plain text.
[[nodiscard]] std::string page_start(std::string_view title);

/// An HTML page up to its heading, for pages that write their own.
[[nodiscard]] std::string page_head(std::string_view title);

/// The style sheet of every page: page.css, embedded by the build.
[[nodiscard]] std::string_view page_css();

/// The script of a GPU's report: page.js, embedded by the build.
[[nodiscard]] std::string_view page_script();

}  // namespace gputomo::report
