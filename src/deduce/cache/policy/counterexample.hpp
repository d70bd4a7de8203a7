// The shortest recorded access sequence that a policy cannot have produced.
#pragma once

#include "deduce/cache/policy/possible_states.hpp"
#include "deduce/cache/traces/trace_segment.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::deduce::cache {

/// Loads recorded one after the other. Whatever state the set was in before, the policy lets the last one hit where it
/// missed, or miss where it hit.
struct Counterexample {
    std::string sequence;   ///< "A* B A*": lines by order of appearance, * after one that missed; empty: none was found
    std::string last_line;  ///< "A"
    std::size_t loads = 0;
    bool last_missed = false;
    std::size_t times = 0;  ///< how often it was recorded
    /// It speaks against the policy that takes ways which tie in a fixed order, whichever one. If it took any of them,
    /// it might have produced every recorded sequence.
    bool ways_in_order = false;
};

/// Searches recorded runs for sequences that speak against policies.
class CounterexampleSearch {
public:
    /// `accepted`: the policy that explains the runs, whose interpretation of slow loads counts. A sequence that this
    /// policy cannot have produced either speaks against none. Empty or "random": every sequence is possible; one has
    /// to occur more often than outliers explain. `outlier_rate`: share of hits that read like misses.
    /// `most_followed`: loads followed in the search for one policy, after which it ends with what it has. 100,000 take
    /// about a second for sets of many ways.
    CounterexampleSearch(const std::vector<PolicyRun>& runs, std::uint32_t ways, std::string_view accepted,
                         double outlier_rate, std::size_t most_followed = 100'000);
    /// `policy`: one of candidate_policies(), or "tree-plru".
    [[nodiscard]] Counterexample against(std::string_view policy) const;
    /// Most loads of a sequence.
    [[nodiscard]] std::size_t most_loads() const;

private:
    /// Loads of one segment without a gap, as the accepted policy reads them.
    struct Piece {
        std::vector<std::uint32_t> lines;
        std::vector<bool> missed;
    };
    struct Window {
        std::size_t piece = 0, first = 0, loads = 0;
    };
    [[nodiscard]] Counterexample search(const PossibleStates& start) const;
    void add_pieces(const TraceSegment& segment, std::string_view model_name);
    [[nodiscard]] std::string text_of(const Window& window) const;
    /// How often lines were loaded in the window's order, whatever hit or missed and whatever the lines' names.
    [[nodiscard]] std::size_t loaded(const Window& window) const;
    [[nodiscard]] bool occurs_beyond_outliers(const Window& window, std::size_t times) const;

    std::uint32_t ways_;
    std::string_view accepted_;  ///< empty where it allows every sequence
    double outlier_rate_;
    std::size_t most_followed_;
    std::vector<Piece> pieces_;
};

}  // namespace gputomo::deduce::cache
