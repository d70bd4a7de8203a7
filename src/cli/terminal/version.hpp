// Which gputomo this is.
#pragma once

#include <string_view>

namespace gputomo::cli {

/// What scripts/version.sh printed when the executable was built: "0.2.0" for a release, "0.2.1.dev17" after one.
[[nodiscard]] std::string_view version();

/// The commit of the sources, followed by "-dirty" where files were changed since; "unknown" outside git.
[[nodiscard]] std::string_view commit();

}  // namespace gputomo::cli
