#include "sim/sm/machine_code/near_views.hpp"

#include <algorithm>
#include <cstddef>

namespace gputomo::sim {
namespace {

/// Sectors whose views are kept. Atomics on more of them meet too rarely for a load to see an old value.
constexpr std::size_t kMostChanged = std::size_t{1} << 16;

}  // namespace

void NearViews::before_atomic(std::uint64_t address) {
    const std::uint64_t sector = address / kSector;
    if (changed_.contains(sector) || changed_.size() >= kMostChanged) return;
    changed_[sector].before = content_of(sector);
}

NearViews::Content NearViews::content_of(std::uint64_t sector) const {
    Content content{};
    // An allocation may end within a sector.
    for (std::uint64_t at = 0; at < kSector; ++at)
        if (const std::byte* const byte = memory_.resolve(sector * kSector + at, 1)) content[at] = *byte;
    return content;
}

void NearViews::after_store(std::uint64_t address, std::uint64_t bytes) {
    if (changed_.empty()) return;
    const auto found = changed_.find(address / kSector);
    if (found == changed_.end()) return;
    Changed& changed = found->second;
    const Content now = content_of(address / kSector);
    if (!system_.holds_near(PathKind::global, sm_, scheduler_, address)) {
        changed.of_sm[sm_] = now;  // if the store fills the cache
        return;
    }
    Content& own = changed.of_sm.try_emplace(sm_, changed.before).first->second;
    const auto offset = static_cast<std::ptrdiff_t>(address % kSector);
    const auto end = std::min(offset + static_cast<std::ptrdiff_t>(bytes), static_cast<std::ptrdiff_t>(kSector));
    std::copy(now.begin() + offset, now.begin() + end, own.begin() + offset);
}

const std::byte* NearViews::seen(std::uint64_t address, const std::byte* memory) {
    if (changed_.empty()) return memory;
    const auto found = changed_.find(address / kSector);
    if (found == changed_.end()) return memory;
    Changed& changed = found->second;
    const std::uint64_t offset = address % kSector;
    if (!system_.holds_near(PathKind::global, sm_, scheduler_, address)) {
        // This load fills the cache.
        changed.of_sm[sm_] = content_of(address / kSector);
        return memory;
    }
    const auto own = changed.of_sm.find(sm_);
    return (own == changed.of_sm.end() ? changed.before : own->second).data() + offset;
}

}  // namespace gputomo::sim
