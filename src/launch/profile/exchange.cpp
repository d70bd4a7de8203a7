#include "launch/profile/exchange.hpp"

#include "launch/profile/launch_profile.hpp"

#include <algorithm>

namespace gputomo::launch {
namespace {

/// Sectors that are kept for share(): enough for several blocks of a usual kernel, and 32 MiB.
constexpr std::size_t kMostKept = std::size_t{1} << 22;

}  // namespace

Exchange::Exchange(const std::vector<MemoryRange>& buffers) {
    for (const MemoryRange& buffer : buffers) starts_.push_back(buffer.address / kTouchedSectorBytes);
    std::ranges::sort(starts_);
    written_.resize(starts_.size() + 1);
}

void Exchange::Range::include(const Range& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
}

std::size_t Exchange::buffer_of(std::uint64_t sector) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(starts_, sector) - starts_.begin());
}

Exchange::Ranges Exchange::ranges_of(const Sectors& sectors) const {
    Ranges found(starts_.size() + 1);
    for (const auto sector : sectors) found[buffer_of(sector)].include(sector);
    return found;
}

void Exchange::add(const Sectors& loaded, const Sectors& written) {
    const Ranges own = ranges_of(written);
    for (std::size_t buffer = 0; buffer < own.size(); ++buffer) written_[buffer].include(own[buffer]);
    if (foreign_.size() + loaded.size() > kMostKept) return;
    for (const auto sector : loaded)
        if (!own[buffer_of(sector)].contains(sector)) foreign_.push_back(sector);
    loaded_ += static_cast<double>(loaded.size());
}

double Exchange::share() const {
    if (loaded_ == 0) return 0;
    const auto exchanged = std::ranges::count_if(
        foreign_, [&](std::uint64_t sector) { return written_[buffer_of(sector)].contains(sector); });
    return static_cast<double>(exchanged) / loaded_;
}

}  // namespace gputomo::launch
