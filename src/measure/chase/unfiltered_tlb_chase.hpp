// Chases in which no upper TLB answers a lookup that is meant for the TLB below it.
#pragma once

#include "measure/chase/translation_chase.hpp"

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace gputomo::measure {

/// A TLB in front of the one that is asked about.
struct UpperTlb {
    std::uint64_t span = 0, sets = 0;
    std::uint64_t evicting_entries =
        0;  ///< entries of a set that come between two lookups of one until it is surely gone
};

/// A chase that nearer TLBs hide no lookup from: where the tour comes back to an entry of a nearer TLB too soon, loads
/// of other entries of the same set come in between (Wong 2010 takes 20 elements instead of 10 for the same end). They
/// lie an odd number of that TLB's ways away, so that they share no set of the farther TLB with the load itself, whose
/// ways are longer by a power of two.
class UnfilteredTlbChase {
public:
    /// Stays within the first `room` bytes of the chase's window.
    UnfilteredTlbChase(TranslationChase& chase, std::vector<UpperTlb> upper, std::uint64_t span);
    /// Offsets below this are free for the level's own loads.
    [[nodiscard]] std::uint64_t end() const;
    [[nodiscard]] deduce::ChaseTrace operator()(const deduce::ChaseRequest& request);

private:
    using Places = std::vector<std::uint64_t>;
    /// How many further entries of the set of load `at` have to come before the tour is back at its entry; `between`
    /// gets those that do come.
    [[nodiscard]] std::uint64_t missing_fillers(const UpperTlb& upper, const Places& sequence,
                                                const std::vector<Places>& fillers, std::size_t at,
                                                std::unordered_set<std::uint64_t>& between) const;
    /// What comes after each load of the tour.
    [[nodiscard]] std::vector<Places> filler_loads(const Places& sequence) const;

    TranslationChase* chase_;
    std::vector<UpperTlb> upper_;
    std::uint64_t span_;
    std::uint64_t step_ = 1;  ///< bytes; a way of each nearer TLB
};

}  // namespace gputomo::measure
