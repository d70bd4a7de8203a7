#include "launch/profile/grid_footprint.hpp"

#include "machine/cache_scope.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace gputomo::launch {
namespace {

constexpr int kProbes = 3;

/// A block that may share sectors with a probe, and how many blocks then share them.
struct Partner {
    std::uint64_t block = 0;
    double sharers = 1;
    bool neighbour = false;
};

struct Place {
    std::array<std::uint64_t, 3> at{};
};

Place place_of(std::uint64_t block, const GridShape& grid) {
    return {{block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y}};
}

std::uint64_t block_at(const Place& place, const GridShape& grid) {
    return place.at[0] + grid.x * (place.at[1] + grid.y * place.at[2]);
}

/// Far partners first: what is shared with all blocks of a row is also shared with the neighbour in it.
std::vector<Partner> partners_of(std::uint64_t probe, const GridShape& grid, std::mt19937_64& random) {
    const std::array<std::uint64_t, 3> size{grid.x, grid.y, grid.z};
    std::vector<Partner> partners;
    const auto dimensions = std::ranges::count_if(size, [](std::uint64_t n) { return n > 1; });
    if (dimensions > 0) {
        // A block of another row and another column, not next to the probe.
        Place place = place_of(probe, grid);
        for (std::size_t d = 0; d < size.size(); ++d)
            if (size[d] > 3)
                place.at[d] = (place.at[d] + 2 + random() % (size[d] - 3)) % size[d];
            else if (size[d] > 1)
                place.at[d] = (place.at[d] + 1) % size[d];
        partners.push_back({block_at(place, grid), static_cast<double>(grid.count())});
    }
    for (std::size_t d = 0; d < size.size() && dimensions > 1; ++d) {
        if (size[d] < 4) continue;
        Place place = place_of(probe, grid);
        place.at[d] = (place.at[d] + 2 + random() % (size[d] - 3)) % size[d];
        partners.push_back({block_at(place, grid), static_cast<double>(size[d])});
    }
    for (std::size_t d = 0; d < size.size(); ++d) {
        if (size[d] < 2) continue;
        Place place = place_of(probe, grid);
        place.at[d] = place.at[d] + 1 < size[d] ? place.at[d] + 1 : place.at[d] - 1;
        partners.push_back({block_at(place, grid), 2, true});
    }
    return partners;
}

/// One over the number of blocks that share each sector, summed by buffer; the last element is for other memory.
class Weights {
public:
    explicit Weights(const std::vector<MemoryRange>& buffers) : buffers_(buffers), sums_(buffers.size() + 1) {
        std::ranges::sort(buffers_, {}, &MemoryRange::address);
    }
    void add(std::uint64_t sector, double sharers) { sums_[buffer_of(sector)] += 1 / sharers; }
    [[nodiscard]] double bytes(double blocks_of_a_probe) const {
        double bytes = 0;
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            const double all = sums_[i] * blocks_of_a_probe * kTouchedSectorBytes;
            bytes += i < buffers_.size() ? std::min(all, static_cast<double>(buffers_[i].bytes)) : all;
        }
        return bytes;
    }

private:
    [[nodiscard]] std::size_t buffer_of(std::uint64_t sector) const {
        const std::uint64_t address = sector * kTouchedSectorBytes;
        const auto after =
            std::ranges::upper_bound(buffers_, address + kTouchedSectorBytes - 1, {}, &MemoryRange::address);
        if (after == buffers_.begin()) return buffers_.size();
        const auto at = std::prev(after);
        return address < at->address + at->bytes ? static_cast<std::size_t>(at - buffers_.begin()) : buffers_.size();
    }

    std::vector<MemoryRange> buffers_;  ///< by address
    std::vector<double> sums_;
};

double sharers_of(std::uint64_t sector, const std::vector<Partner>& partners, const std::vector<BlockSectors>& touched,
                  Sectors BlockSectors::*which) {
    double sharers = 1;
    for (std::size_t i = 0; i < partners.size(); ++i) {
        if (!(touched[i].*which).contains(sector)) continue;
        if (!partners[i].neighbour) return partners[i].sharers;
        sharers *= partners[i].sharers;
    }
    return sharers;
}

/// Numbers of the groups of sectors that are fetched together.
Sectors groups_of(const Sectors& sectors, std::uint64_t together) {
    if (together <= 1) return sectors;
    Sectors groups;
    for (const std::uint64_t sector : sectors) groups.insert(sector / together);
    return groups;
}

}  // namespace

std::uint64_t sectors_fetched_together(const machine::Machine& machine) {
    const auto* const cache = machine::shared_cache(machine, "global");
    if (cache == nullptr || !cache->sector) return 1;
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(*cache->sector) / kTouchedSectorBytes);
}

GridFootprint footprint_of_grid(const GridShape& grid, const std::vector<MemoryRange>& buffers,
                                const SectorsOf& sectors_of, std::mt19937_64& random, std::uint64_t together) {
    Weights read(buffers), written(buffers), fetched(buffers);
    int probes = 0;
    for (; probes < kProbes; ++probes) {
        const std::uint64_t probe = probes == 0 ? grid.count() / 2 : random() % grid.count();
        const auto partners = partners_of(probe, grid, random);
        BlockSectors own;
        std::vector<BlockSectors> touched(partners.size());
        bool complete = sectors_of(probe, own);
        for (std::size_t i = 0; i < partners.size() && complete; ++i)
            complete = sectors_of(partners[i].block, touched[i]);
        if (!complete) break;
        for (const auto sector : own.read) read.add(sector, sharers_of(sector, partners, touched, &BlockSectors::read));
        for (const auto sector : own.written)
            written.add(sector, sharers_of(sector, partners, touched, &BlockSectors::written));
        for (BlockSectors& partner : touched) partner.read = groups_of(partner.read, together);
        for (const auto group : groups_of(own.read, together))
            fetched.add(group * together,
                        sharers_of(group, partners, touched, &BlockSectors::read) / static_cast<double>(together));
    }
    const double each = probes > 0 ? static_cast<double>(grid.count()) / probes : 0;
    return {.read = read.bytes(each), .written = written.bytes(each), .fetched = fetched.bytes(each), .exact = false};
}

GridFootprint exact_footprint(const BlockSectors& all, std::uint64_t together) {
    return {.read = static_cast<double>(all.read.size() * kTouchedSectorBytes),
            .written = static_cast<double>(all.written.size() * kTouchedSectorBytes),
            .fetched = static_cast<double>(groups_of(all.read, together).size() * together * kTouchedSectorBytes),
            .exact = true};
}

}  // namespace gputomo::launch
