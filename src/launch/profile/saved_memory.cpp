#include "launch/profile/saved_memory.hpp"

#include "launch/profile/launch_profile.hpp"

#include <cstring>

namespace gputomo::launch {

void SavedMemory::restore() {
    for (const auto& [address, content] : sectors_)
        std::memcpy(memory_.resolve(address, content.size()), content.data(), content.size());
    // No std::views::reverse, which Clang 14 and 15 do not compile with the standard library of GCC 12.
    for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece)
        std::memcpy(memory_.resolve(piece->first, piece->second.size()), piece->second.data(), piece->second.size());
    sectors_.clear();
    pieces_.clear();
    saved_.clear();
}

void SavedMemory::save(std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t sector = address / kTouchedSectorBytes;
    const bool one = sector == (address + bytes - 1) / kTouchedSectorBytes;
    if (one && saved_.contains(sector)) return;
    const auto* const whole = one ? memory_.resolve(sector * kTouchedSectorBytes, kTouchedSectorBytes) : nullptr;
    if (whole != nullptr) {
        saved_.insert(sector);
        auto& [at, content] = sectors_.emplace_back();
        at = sector * kTouchedSectorBytes;
        std::memcpy(content.data(), whole, content.size());
        return;
    }
    // The last bytes of an allocation: each write is kept.
    const auto* const from = memory_.resolve(address, bytes);
    if (from != nullptr) pieces_.emplace_back(address, std::vector<std::byte>(from, from + bytes));
}

}  // namespace gputomo::launch
