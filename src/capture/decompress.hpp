// Decompresses members of fatbins and stored memory.
#pragma once

#include "capture/fatbin.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gputomo::capture {

/// The payload of a member, decompressed. Throws InputError when it is damaged or larger than kLargestFile.
[[nodiscard]] std::string payload(const FatbinMember& member);

/// The text with zlib, at a level that favours speed, or at the one that makes it smallest.
[[nodiscard]] std::string deflated(std::string_view data, bool smallest = false);
/// Throws InputError naming `origin` when the data are damaged or do not give `bytes` bytes.
[[nodiscard]] std::string inflated(std::string_view data, std::uint64_t bytes, std::string_view origin);

}  // namespace gputomo::capture
