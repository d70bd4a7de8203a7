// Which gputomo this is.
#pragma once

#include <string_view>

namespace gputomo::cli {

/// "0.1.0"
inline constexpr std::string_view kVersion = GPUTOMO_VERSION;

/// The commit of the sources, followed by "-dirty" where files were changed since; "unknown" outside git.
[[nodiscard]] std::string_view commit();

}  // namespace gputomo::cli
