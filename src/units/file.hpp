// Reads a whole file into a string.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace gputomo {

/// The largest file that is read, in bytes: more than any description, scan or kernel has. The limit refuses endless
/// files such as /dev/zero before they fill the memory.
inline constexpr std::size_t kLargestFile = std::size_t{256} << 20;

/// The content of `file`. Throws InputError naming the file, the reason and `expected` ("a machine description") when
/// the file cannot be opened or is larger than `largest` bytes.
[[nodiscard]] std::string read_file(const std::filesystem::path& file, std::string_view expected,
                                    std::size_t largest = kLargestFile);

}  // namespace gputomo
