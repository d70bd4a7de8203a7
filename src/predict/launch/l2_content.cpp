#include "predict/launch/l2_content.hpp"

#include "machine/cache_scope.hpp"
#include "units/number_set.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace gputomo::predict {
namespace {

/// Iterations of the fixed point; each halves the distance at least where the footprint is twice the capacity.
constexpr int kIterations = 64;

struct Capacity {
    double bytes = 0;
    bool replaces_least_recent = false;
};

/// Returns the capacity of the cache of the whole GPU on the path of global memory.
Capacity capacity_of(const machine::Machine& machine) {
    const machine::Cache* const cache = machine::shared_cache(machine, "global");
    if (cache == nullptr) return {};
    return {.bytes = static_cast<double>(cache->capacity.value_or(0)),
            .replaces_least_recent = cache->policy.value_or("") == "lru"};
}

double resident_share(double footprint, const Capacity& capacity) {
    if (footprint <= capacity.bytes) return capacity.bytes > 0 ? 1 : 0;
    if (capacity.replaces_least_recent || capacity.bytes <= 0) return 0;
    double share = 0;
    for (int i = 0; i < kIterations; ++i) share = std::exp(-(1 - share) * footprint / capacity.bytes);
    return share;
}

/// A number of 0 to 1 for each granule, by the finalizer of MurmurHash3.
double position(std::uint64_t granule) {
    granule = (granule ^ granule >> 33) * 0xff51afd7ed558ccd;
    granule = (granule ^ granule >> 33) * 0xc4ceb9fe1a85ec53;
    return static_cast<double>(granule >> 11) * 0x1p-53;
}

void sort_by_address(std::vector<L2Content::Part>& parts) {
    std::ranges::sort(parts, {}, [](const L2Content::Part& part) { return part.range.address; });
}

/// Returns the part that the address lies in, of parts in the order of their addresses; nullptr where there is none.
template <class Parts>
auto* part_at(Parts& parts, std::uint64_t address) {
    const auto after =
        std::ranges::upper_bound(parts, address, {}, [](const L2Content::Part& part) { return part.range.address; });
    if (after == parts.begin()) return decltype(&*after){nullptr};
    auto* const part = &*std::prev(after);
    return address - part->range.address < part->range.bytes ? part : nullptr;
}

}  // namespace

L2Content::L2Content(std::vector<Part> parts) : parts_(std::move(parts)) { sort_by_address(parts_); }

bool L2Content::holds(std::uint64_t granule, double granule_bytes) const {
    const std::uint64_t address = granule * static_cast<std::uint64_t>(granule_bytes);
    const Part* const part = part_at(parts_, address);
    return part != nullptr && position(granule) < part->share;
}

L2Content content_after_itself(const launch::LaunchProfile& profile, const machine::Machine& machine) {
    const double share = resident_share(profile.footprint.read + profile.footprint.written, capacity_of(machine));
    L2Content content({{{0, std::numeric_limits<std::uint64_t>::max()}, share}});
    content.set_own_share(share);
    return content;
}

L2Content dirty_content() {
    L2Content content;
    content.set_dirty();
    return content;
}

L2Content content_after(const launch::LaunchProfile& earlier, const std::vector<launch::MemoryRange>& buffers,
                        const machine::Machine& machine) {
    const double footprint = earlier.footprint.read + earlier.footprint.written;
    const double capacity = capacity_of(machine).bytes;
    const double fits = footprint > capacity ? capacity / footprint : 1;
    NumberSet sectors;
    double blocks = 0;
    for (const auto& sm : earlier.sms)
        for (const auto& block : sm) {
            ++blocks;
            for (const auto& line : block.lines)
                for (std::uint32_t bits = line.sectors; bits != 0; bits &= bits - 1)
                    sectors.insert(line.line * (launch::kTouchedLineBytes / launch::kTouchedSectorBytes) +
                                   static_cast<std::uint64_t>(std::countr_zero(bits)));
        }
    const double all_over_seen = blocks > 0 ? static_cast<double>(earlier.blocks) / blocks : 0;
    std::vector<L2Content::Part> parts;
    for (const auto& buffer : buffers) parts.push_back({buffer, 0});
    sort_by_address(parts);
    for (const std::uint64_t sector : sectors)
        if (auto* const part = part_at(parts, sector * launch::kTouchedSectorBytes); part != nullptr)
            part->share += launch::kTouchedSectorBytes;
    for (auto& part : parts)
        part.share = fits * std::min(1.0, part.share * all_over_seen /
                                              static_cast<double>(std::max<std::uint64_t>(1, part.range.bytes)));
    return L2Content(std::move(parts));
}

}  // namespace gputomo::predict
