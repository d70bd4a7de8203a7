// Chases that the nearer caches of a path hide nothing from, where no load can go past them (constants, textures,
// instructions).
#pragma once

#include "deduce/cache/chase.hpp"
#include "deduce/cache/geometry.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gputomo::measure {

/// A cache in front of the one that is asked about.
struct UpperCache {
    std::uint64_t line = 0;
    std::uint64_t way_bytes = 0;  ///< distance of lines that share a set
    std::uint64_t evicting_lines =
        0;  ///< lines of a set that come between two visits of a line until it is surely gone
};

/// What geometry makes of a cache; nothing where its sets were not found. Where the policy is open, the chase, in which
/// what is slower than `threshold` missed the cache, tells how long a line stays, as far as `room` bytes allow.
[[nodiscard]] std::optional<UpperCache> upper_cache(const deduce::CacheFindings& findings, const deduce::Chase& chase,
                                                    double threshold, std::uint64_t span);

/// Odd numbers of ways, at most `most`, at which further loads lie from those that are asked about, until `enough` says
/// so. First come those that leave 3 or 5 of 8: seen from loads that were shifted by a power of two lines, they share
/// no set of a farther cache with those either.
template <class Enough>
void for_each_filler_distance(std::uint64_t most, Enough enough) {
    for (const std::uint64_t first : {3, 7})
        for (std::uint64_t ways = first; ways <= most; ways += ways % 8 == first ? 2 : 6)
            if (enough(ways)) return;
}

/// Passes a chase on with further loads in between: where a tour would find a line again in a nearer cache, lines of
/// the same set of that cache come first (Wong 2010, IV-I1, takes 20 elements instead of 10 for the same end). They lie
/// an odd number of ways away, so that they share no set of the cache behind with the load itself, whose ways are
/// longer by a power of two. Lines that share the sets of all nearer caches are taken first; where the room has too few
/// (an odd number of sets), each cache gets lines of its own.
class UnfilteredLineChase {
public:
    /// `room` is what the chase may touch, `word` the least distance of two loads.
    UnfilteredLineChase(deduce::Chase chase, std::vector<UpperCache> upper, std::uint64_t span, std::uint64_t word);
    [[nodiscard]] deduce::ChaseTrace operator()(const deduce::ChaseRequest& request);

private:
    struct Sequence;
    /// `missing`: lines that have to come, of the load's set in each nearer cache.
    void append_fillers(std::uint64_t offset, const std::vector<std::uint64_t>& missing, Sequence& sequence) const;

    deduce::Chase chase_;
    std::vector<UpperCache> upper_;
    std::uint64_t span_;
    std::uint64_t word_;
    std::uint64_t step_ = 1;  ///< a way of each nearer cache
    std::uint64_t line_;      ///< the shortest
};

}  // namespace gputomo::measure
