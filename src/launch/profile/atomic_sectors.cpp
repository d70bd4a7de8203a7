#include "launch/profile/atomic_sectors.hpp"

#include <algorithm>

namespace gputomo::launch {
namespace {

/// Sectors that are kept apart, in 128 MiB. Requests from further ones count as scattered.
constexpr std::size_t kMostSectors = std::size_t{1} << 21;

}  // namespace

void AtomicSectors::add(std::uint64_t block, const AtomicsOfBlock& atomics) {
    blocks_.push_back(block);
    for (const auto& [sector, requests] : atomics.requests) {
        requests_ += requests;
        if (sectors_.size() >= kMostSectors && !sectors_.contains(sector)) continue;
        Sector& known = sectors_[sector];
        known.first = known.blocks == 0 ? block : std::min(known.first, block);
        known.last = std::max(known.last, block);
        known.requests += requests;
        ++known.blocks;
    }
    for (const auto& [address, of_block] : atomics.swapped_shared) {
        swaps_ += of_block.swaps;
        if (of_block.met) met_swaps_ += of_block.swaps;
    }
    for (const auto& [address, of_block] : atomics.swapped) {
        const auto [known, first] = swapped_.try_emplace(address, SwappedAddress{.warp = block});
        known->second.swaps += of_block.swaps;
        known->second.met = known->second.met || of_block.met || known->second.warp != block;
    }
}

double AtomicSectors::of_grid(const Sector& sector, const LaunchProfile& profile) const {
    if (sector.blocks < 2 || blocks_.size() == profile.blocks) return sector.requests;
    const auto first = std::ranges::lower_bound(blocks_, sector.first),
               end = std::ranges::upper_bound(blocks_, sector.last);
    const double share = static_cast<double>(sector.blocks) / static_cast<double>(end - first);
    // The blocks beyond the outermost sampled ones belong to those that are sampled.
    const double span = static_cast<double>(sector.last - sector.first + 1) * static_cast<double>(profile.blocks) /
                        static_cast<double>(blocks_.back() - blocks_.front() + 1);
    const double each = sector.requests / static_cast<double>(sector.blocks);
    return std::max(sector.requests, each * share * std::min(span, static_cast<double>(profile.blocks)));
}

void AtomicSectors::fill(LaunchProfile& profile) {
    if (blocks_.empty()) return;
    std::ranges::sort(blocks_);
    const double all = requests_ * static_cast<double>(profile.blocks) / static_cast<double>(blocks_.size());
    double seen = 0;
    for (const auto& [sector, counts] : sectors_)
        seen += profile.atomic_sectors.emplace_back(AtomicSector{sector, of_grid(counts, profile)}).requests;
    if (seen > all)
        for (AtomicSector& sector : profile.atomic_sectors) sector.requests *= all / seen;
    profile.scattered_atomics = std::max(0.0, all - seen);
    double swaps = swaps_, met = met_swaps_;
    profile.most_swaps = 0;
    for (const auto& [address, swapped] : swapped_) {
        swaps += swapped.swaps;
        if (!swapped.met) continue;
        met += swapped.swaps;
        profile.most_swaps = std::max(profile.most_swaps, swapped.swaps);
    }
    profile.most_swaps *= static_cast<double>(profile.blocks) / static_cast<double>(blocks_.size());
    profile.met_swaps = swaps > 0 ? met / swaps : 0;
}

}  // namespace gputomo::launch
