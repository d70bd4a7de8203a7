#include "capture/reduce/memory_watch.hpp"

#include "units/error.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gputomo::capture {
namespace {

namespace machine_code = sim::machine_code;

constexpr std::uint64_t kSector = 32;
/// Instructions between two looks at the clock.
constexpr std::uint64_t kLook = 1 << 16;

std::uint64_t parts_of(std::uint64_t bytes, std::uint64_t part) { return (bytes + part - 1) / part; }

void write_unit(Region& region, std::uint64_t unit) {
    const std::uint64_t offset = unit * kUnit, bytes = std::min(kUnit, region.bytes - offset);
    const Held held = region.held[unit];
    if (held == Held::generated) return capture::generate(region.address + offset, {region.at + offset, bytes});
    // The numbers of another place.
    if (held == Held::other)
        return capture::generate(region.address + (region.bytes + 3) / 4 * 4 + offset, {region.at + offset, bytes});
    if (held == Held::zero) {
        std::memset(region.at + offset, 0, bytes);
        return;
    }
    // A period is a multiple of the unit, and a tile begins with one.
    const std::uint64_t period = period_of(held), from = period == 0 ? offset : region.tile_source(offset, period);
    std::memcpy(region.at + offset, region.original.data() + from, bytes);
}

}  // namespace

Watch::Watch(std::vector<Region>& regions, Keeps keeps, Clock::time_point deadline)
    : regions_(regions), keeps_(keeps), deadline_(deadline) {
    if (keeps_ == Keeps::digests) return;
    for (Region& region : regions_) region.touched.assign(region.held.size(), false);
}

void Watch::execute(std::size_t step, std::uint32_t lanes, std::uint32_t mask) {
    step_ = step;
    mix(step << 1 ^ std::uint64_t{lanes} << 32 ^ mask);
    totals_.thread_instructions += static_cast<std::uint64_t>(std::popcount(mask));
    if (!sectors_.empty()) count_sectors();
    if (++totals_.warp_instructions % kLook == 0 && Clock::now() > deadline_)
        throw TimeLimitError("the time limit is reached");
}

void Watch::access(machine_code::Space space, machine_code::Access access, std::uint64_t offset, std::uint64_t bytes) {
    mix(offset);
    if (space != machine_code::Space::global) return;
    if (keeps_ != Keeps::digests) sectors_.push_back(offset / kSector);
    Region* const region = region_at(offset);
    if (region == nullptr) return;
    const std::uint64_t at = offset - region->address;
    if (access != machine_code::Access::read) region->dirty[at / kPage] = true;
    if (keeps_ == Keeps::digests) return;
    // An access is aligned to its size, which is at most 16 bytes, so that it lies in one unit of an aligned buffer.
    region->touched[at / kUnit] = true;
    if (access == machine_code::Access::write || keeps_ != Keeps::loads) return;
    const std::uint64_t load = std::uint64_t{1} << step_ % 64;
    region->loads[at / kUnit] |= load;
    region->loads[(at + bytes - 1) / kUnit] |= load;
}

void Watch::count_sectors() {
    std::ranges::sort(sectors_);
    totals_.sectors += static_cast<std::uint64_t>(std::unique(sectors_.begin(), sectors_.end()) - sectors_.begin());
    sectors_.clear();
}

Totals Watch::totals() const {
    Totals totals = totals_;
    for (const Region& region : regions_)
        totals.units += static_cast<std::uint64_t>(std::ranges::count(region.touched, true));
    return totals;
}

bool Watch::end_block(std::uint64_t index) {
    digests_.push_back(digest_);
    if (expected_.empty()) return true;
    if (expected_[digests_.size() - 1] == digest_) return true;
    different_ = index;
    return false;
}

Region* Watch::region_at(std::uint64_t address) {
    if (last_ != nullptr && address - last_->address < last_->bytes) return last_;
    const auto after = std::ranges::upper_bound(regions_, address, {}, &Region::address);
    if (after == regions_.begin()) return nullptr;
    Region* const found = &*std::prev(after);
    if (address - found->address >= found->bytes) return nullptr;
    return last_ = found;
}

std::vector<Region> regions_of(const launch::PreparedLaunch& launch, const std::vector<Buffer>& buffers) {
    std::vector<Region> regions;
    for (const auto& buffer : buffers) {
        // The constants of a module are not in memory, and its variables are small.
        if (buffer.space == "variable" || buffer.bytes == 0) continue;
        Region region{.buffer = &buffer, .address = buffer.address, .bytes = buffer.bytes};
        region.at = launch.bytes_of({buffer.address, buffer.bytes});
        region.original.assign(region.at, region.at + region.bytes);
        region.held.resize(parts_of(region.bytes, kUnit));
        region.from_file.resize(region.held.size());
        region.loads.resize(region.held.size());
        region.dirty.resize(parts_of(region.bytes, kPage));
        // A unit that a fill touches stays as it is.
        for (const bool from_file : {true, false})
            for (const auto& part : buffer.content)
                if ((!part.fill && !part.generated) == from_file && part.bytes != 0)
                    for (auto u = part.offset / kUnit; u <= (part.offset + part.bytes - 1) / kUnit; ++u)
                        region.from_file[u] = from_file;
        const auto first = std::ranges::find(region.from_file, true);
        if (first != region.from_file.end())
            region.tile_at = static_cast<std::uint64_t>(first - region.from_file.begin()) * kUnit;
        regions.push_back(std::move(region));
    }
    std::ranges::sort(regions, {}, &Region::address);
    return regions;
}

void restore(std::vector<Region>& regions) {
    for (Region& region : regions)
        for (std::size_t page = 0; page < region.dirty.size(); ++page) {
            if (!region.dirty[page]) continue;
            const std::uint64_t end = std::min<std::uint64_t>((page + 1) * kPage / kUnit, region.held.size());
            for (std::uint64_t unit = page * kPage / kUnit; unit < end; ++unit) write_unit(region, unit);
            region.dirty[page] = false;
        }
}

}  // namespace gputomo::capture
