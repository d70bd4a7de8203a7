// Chases in which no upper TLB answers a lookup that is meant for the TLB below it.
#pragma once

#include "measure/chase/translation_chase.hpp"

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace gputomo::measure {

/// A TLB above the one under test.
struct UpperTlb {
    std::uint64_t span = 0, sets = 0;
    std::uint64_t evicting_entries =
        0;  ///< other entries of a set that, looked up in between, certainly evict an entry
};

/// A chase in which no upper TLB answers a lookup. Where the sequence returns to an entry of an upper TLB too soon,
/// loads of other entries of the same set come in between. (For this Wong 2010 takes 20 elements instead of 10.) They
/// lie an odd number of that TLB's ways away. The ways of the TLB under test are longer by a power of two, so fillers
/// share none of its sets with the load itself.
class UnfilteredTlbChase {
public:
    /// Stays within the first `span` bytes of the chase's window.
    UnfilteredTlbChase(TranslationChase& chase, std::vector<UpperTlb> upper, std::uint64_t span);
    /// Offsets below this are free for the loads of the TLB under test.
    [[nodiscard]] std::uint64_t end() const;
    [[nodiscard]] deduce::ChaseTrace operator()(const deduce::ChaseRequest& request);

private:
    using Places = std::vector<std::uint64_t>;
    /// Number of further entries of load `at`'s set that must follow before the sequence returns to its entry.
    /// `between` receives the offsets that do follow.
    [[nodiscard]] std::uint64_t missing_fillers(const UpperTlb& upper, const Places& sequence,
                                                const std::vector<Places>& fillers, std::size_t at,
                                                std::unordered_set<std::uint64_t>& between) const;
    /// The filler loads after each load of the sequence.
    [[nodiscard]] std::vector<Places> filler_loads(const Places& sequence) const;

    TranslationChase* chase_;
    std::vector<UpperTlb> upper_;
    std::uint64_t span_;
    std::uint64_t step_ = 1;  ///< least common multiple of the upper TLBs' ways, bytes
};

}  // namespace gputomo::measure
