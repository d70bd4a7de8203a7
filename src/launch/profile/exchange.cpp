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
}

void Exchange::Range::include(std::uint64_t sector) {
    first = std::min(first, sector);
    last = std::max(last, sector);
}

std::size_t Exchange::buffer_of(std::uint64_t sector) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(starts_, sector) - starts_.begin());
}

void Exchange::add(const Sectors& loaded, const Sectors& written) {
    Ranges own;
    for (const auto sector : written) own[buffer_of(sector)].include(sector);
    for (const auto& [buffer, range] : own) {
        written_[buffer].include(range.first);
        written_[buffer].include(range.last);
    }
    if (foreign_.size() + loaded.size() > kMostKept) return;
    for (const auto sector : loaded) {
        const auto found = own.find(buffer_of(sector));
        if (found == own.end() || !found->second.contains(sector)) foreign_.push_back(sector);
    }
    loaded_ += static_cast<double>(loaded.size());
}

double Exchange::share() const {
    if (loaded_ == 0) return 0;
    const auto exchanged = std::ranges::count_if(foreign_, [&](std::uint64_t sector) {
        const auto found = written_.find(buffer_of(sector));
        return found != written_.end() && found->second.contains(sector);
    });
    return static_cast<double>(exchanged) / loaded_;
}

}  // namespace gputomo::launch
