// The caches of a path whose loads cannot bypass any of them: levels, geometry, latencies, and the memory beyond them.
#pragma once

#include "deduce/cache/geometry/geometry.hpp"
#include "deduce/cache/levels/levels.hpp"
#include "experiments/experiment.hpp"
#include "measure/chase/chase_array.hpp"
#include "measure/chase/unfiltered_line_chase.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::experiments {

/// What is asked about a path, and how to load from it.
struct PathQuestion {
    std::string experiment;
    std::string path;                    ///< "constant": its caches are constant_l1, ...
    std::uint64_t smallest = 256;        ///< bytes of the first array
    std::uint64_t largest = 0;           ///< bytes of the largest array that is loaded
    std::uint64_t buffer_bytes = 0;      ///< bytes that single loads may be spread over
    std::uint64_t stride = 64;           ///< bytes between the loads of the search for levels: a line or less
    std::uint64_t word = 8;              ///< fewest bytes between two loads
    std::uint64_t occupied = 0;          ///< bytes of the chase's own code in the first cache
    std::uint64_t most_loads = 1 << 16;  ///< of one pass; larger arrays are loaded in longer steps
    double least_step = 3;               ///< cycles between two levels
    deduce::Chase chase_beyond_first;    ///< chase for caches beyond the first; empty if the same one serves
    /// Latencies in cycles of `loads` loads of an access sequence, after `warm` untimed ones; on one SM if it is given.
    /// Empty if no block came to that SM.
    std::function<std::vector<double>(const std::vector<std::uint64_t>& offsets, std::uint64_t warm,
                                      std::uint64_t loads, std::optional<std::uint32_t> sm)>
        latencies_of;
};

struct PathLevel {
    std::string name;  ///< key in `caches`
    deduce::Level level;
    double next_latency = 0;  ///< of the next level, in cycles
    deduce::CacheFindings findings;
    std::uint64_t ahead = 0;  ///< bytes after a line that a miss prefetches
    bool elsewhere = false;  ///< whether another path reported it, under that path's name; then it is not reported here
    /// Fewest and most bytes that it holds.
    [[nodiscard]] std::uint64_t least_capacity() const;
    [[nodiscard]] std::uint64_t most_capacity() const;
};

struct PathFindings {
    std::vector<PathLevel> caches;
    deduce::Level memory;  ///< the last level, beyond all caches
    /// Access sequence whose loads the level `index` serves (caches.size(): memory), in steps of the longest line of
    /// the levels before it.
    [[nodiscard]] std::vector<std::uint64_t> sequence_of(std::size_t index, const PathQuestion& question) const;
    /// Cycles of each latency beyond the first level that the chase's own work overlaps with, so that it cannot measure
    /// them.
    double overlapped = 0;
    /// Whether that number is not known: latencies beyond the first level are lower bounds then, and levels may belong
    /// to another path.
    bool overlap_unknown = false;
    /// Lowest and highest latency, in cycles, of loads that the level `index` serves.
    [[nodiscard]] std::array<double, 2> borders_of(std::size_t index) const;
};

/// Measures levels, geometry and latencies of a path whose loads are those of `array`. Sets the question's `least_step`
/// and `latencies_of`.
void measure_path(Context& context, ChaseArray& array, PathQuestion question, Outcome& outcome);

/// Finds the levels and their geometry by a chase along the path.
[[nodiscard]] PathFindings measure_caches(Context& context, const deduce::Chase& chase, const PathQuestion& question,
                                          Outcome& outcome);

/// Adds the estimates for caches.*.
void report_caches(const PathFindings& findings, const PathQuestion& question, Outcome& outcome);

/// Latency of the level `index` as the chase measures it, mean of all SMs, in cycles; nullopt if it served no load.
[[nodiscard]] std::optional<double> measured_latency(Context& context, const PathFindings& findings, std::size_t index,
                                                     const PathQuestion& question);

/// Adds the latency of each level and of memory, mean and by SM, and the path's list of caches.
void measure_latencies(Context& context, const PathFindings& findings, const PathQuestion& question, Outcome& outcome);

}  // namespace gputomo::experiments
