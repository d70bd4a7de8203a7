// Reads a whole text file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace gputomo {

/// More than any description, scan or kernel has; what is endless (/dev/zero) is refused before it takes all memory.
inline constexpr std::size_t kLargestFile = std::size_t{256} << 20;

/// Throws InputError naming the file and what was expected of it.
[[nodiscard]] std::string read_file(const std::filesystem::path& file, std::string_view expected,
                                    std::size_t largest = kLargestFile);

}  // namespace gputomo
