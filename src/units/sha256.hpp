// SHA-256 hashes, by which files and descriptions are recognised.
#pragma once

#include <string>
#include <string_view>

namespace gputomo {

/// The SHA-256 of `data` in 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view data);

}  // namespace gputomo
