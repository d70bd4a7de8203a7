// Compression of recordings, in the form of gzip.
#pragma once

#include <string>
#include <string_view>

namespace gputomo::scan {

[[nodiscard]] bool is_gzip(std::string_view data);
[[nodiscard]] std::string gzip(std::string_view data);
/// Throws InputError naming origin where the data are cut off or damaged, or hold more than a recording may.
[[nodiscard]] std::string gunzip(std::string_view data, std::string_view origin);

}  // namespace gputomo::scan
