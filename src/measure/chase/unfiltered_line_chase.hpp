// Chases in which no upper cache answers a load that is meant for the cache below it, for paths whose loads cannot
// bypass a cache (constants, textures, instructions).
#pragma once

#include "deduce/cache/chase/chase.hpp"
#include "deduce/cache/geometry/geometry.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gputomo::measure {

/// A cache above the one under test.
struct UpperCache {
    std::uint64_t line = 0;
    std::uint64_t way_bytes = 0;       ///< distance in bytes of lines that share a set
    std::uint64_t evicting_lines = 0;  ///< other lines of a set that, visited in between, certainly evict a line
};

/// The upper cache as geometry describes it; nullopt if its sets were not found. If the policy is unknown, `chase`
/// tells how many lines evict one: loads slower than `threshold` cycles missed. The search stays within `span` bytes.
[[nodiscard]] std::optional<UpperCache> upper_cache(const deduce::CacheFindings& findings, const deduce::Chase& chase,
                                                    double threshold, std::uint64_t span);

/// Calls `enough` with odd numbers of ways, at most `most`, until it returns true: distances at which filler loads may
/// lie. Distances that leave 3 or 5 modulo 8 come first. At these distances filler loads share no set of a lower cache
/// with loads that were shifted by a power of two lines, either.
template <class Enough>
void for_each_filler_distance(std::uint64_t most, Enough enough) {
    for (const std::uint64_t first : {3, 7})
        for (std::uint64_t ways = first; ways <= most; ways += ways % 8 == first ? 2 : 6)
            if (enough(ways)) return;
}

/// Passes a chase on with filler loads in between. Where a sequence would find a line still in an upper cache, filler
/// lines of the same set come first. (For this Wong 2010, IV-I1, takes 20 elements instead of 10.) Fillers lie an odd
/// number of ways away. The ways of the cache under test are longer by a power of two, so fillers share none of its
/// sets with the load itself. Lines that share the sets of all upper caches are used first. If the span has too few of
/// them (an odd number of sets), each cache gets fillers of its own.
class UnfilteredLineChase {
public:
    /// `span`: bytes that the chase may touch. `word`: smallest distance of two loads in bytes.
    UnfilteredLineChase(deduce::Chase chase, std::vector<UpperCache> upper, std::uint64_t span, std::uint64_t word);
    [[nodiscard]] deduce::ChaseTrace operator()(const deduce::ChaseRequest& request);

private:
    struct Sequence;
    /// `missing`: filler lines needed in the load's set of each upper cache.
    void append_fillers(std::uint64_t offset, const std::vector<std::uint64_t>& missing, Sequence& sequence) const;

    deduce::Chase chase_;
    std::vector<UpperCache> upper_;
    std::uint64_t span_;
    std::uint64_t word_;
    std::uint64_t step_ = 1;  ///< least common multiple of the upper caches' ways, bytes
    std::uint64_t line_;      ///< shortest line of the upper caches, bytes
};

}  // namespace gputomo::measure
