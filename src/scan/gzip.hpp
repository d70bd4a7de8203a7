// Compresses and decompresses recordings in the gzip format.
#pragma once

#include <string>
#include <string_view>

namespace gputomo::scan {

/// Whether the data start with the magic number of gzip.
[[nodiscard]] bool is_gzip(std::string_view data);
[[nodiscard]] std::string gzip(std::string_view data);
/// Throws InputError naming `origin`, the name of the file, when the data are damaged or cut off, or expand to more
/// than kLargestFile bytes.
[[nodiscard]] std::string gunzip(std::string_view data, std::string_view origin);

}  // namespace gputomo::scan
