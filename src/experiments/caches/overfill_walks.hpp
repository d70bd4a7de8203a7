// Walks through arrays from what a cache holds to some times as much.
#pragma once

#include "deduce/cache/levels.hpp"
#include "deduce/cache/overfill.hpp"
#include "experiments/experiment.hpp"
#include "measure/chase/chase_array.hpp"

#include <optional>
#include <string>

namespace gputomo::experiments {

/// A cache as the sweep over array sizes found it.
struct OverfillQuestion {
    std::string name;  ///< "l2"; the trace is EXPERIMENT/NAME_overfill
    std::string experiment;
    deduce::Level level;         ///< of which an array overflows it
    double next_latency = 0;     ///< of what lies behind, cycles
    std::uint64_t stride = 128;  ///< of the walks, bytes; a line, or less
    std::uint64_t largest = 0;   ///< bytes available
    bool refine = false;         ///< more sizes where hits end
};

/// Adds the trace to `outcome`.
[[nodiscard]] deduce::Overfill measure_overfill(ChaseArray& array, const OverfillQuestion& question, Outcome& outcome);

/// caches.NAME.capacity where hits end around it, and what is known of partitions in its note.
[[nodiscard]] std::optional<results::Estimate> capacity_of(const deduce::Overfill& found,
                                                           const OverfillQuestion& question);

}  // namespace gputomo::experiments
