// Passes over arrays from the size that a cache holds to several times as much.
#pragma once

#include "deduce/cache/levels/levels.hpp"
#include "deduce/cache/levels/overfill.hpp"
#include "experiments/experiment.hpp"
#include "measure/chase/chase_array.hpp"

#include <optional>
#include <string>

namespace gputomo::experiments {

/// A cache as the sweep over array sizes found it.
struct OverfillQuestion {
    std::string name;  ///< "l2"; the trace is EXPERIMENT/NAME_overfill
    std::string experiment;
    deduce::Level level;         ///< level of latency, with the sizes that fit and overflow it
    double next_latency = 0;     ///< latency of the next level, in cycles
    std::uint64_t stride = 128;  ///< bytes between two loads; a line, or less
    std::uint64_t largest = 0;   ///< bytes available
    bool refine = false;         ///< measures more sizes where hits end
};

/// Measures the share of hits over the size of the array and adds the trace to `outcome`.
[[nodiscard]] deduce::Overfill measure_overfill(ChaseArray& array, const OverfillQuestion& question, Outcome& outcome);

/// Estimate of caches.NAME.capacity, with partitions in its note; nullopt if hits do not end around one size.
[[nodiscard]] std::optional<results::Estimate> capacity_of(const deduce::Overfill& found,
                                                           const OverfillQuestion& question);

}  // namespace gputomo::experiments
