// The caches of a path that no load can go past, nearest first: levels, geometry, latencies, and the memory behind
// them.
#pragma once

#include "deduce/cache/geometry.hpp"
#include "deduce/cache/levels.hpp"
#include "experiments/experiment.hpp"
#include "measure/chase/chase_array.hpp"
#include "measure/chase/unfiltered_line_chase.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::experiments {

/// A path as it is asked about.
struct PathQuestion {
    std::string experiment;
    std::string path;              ///< "constant": its caches are constant_l1, ...
    std::uint64_t smallest = 256;  ///< bytes of the first array
    std::uint64_t largest = 0;     ///< bytes of the largest array walked through
    std::uint64_t room = 0;        ///< bytes that single loads may be spread over
    std::uint64_t stride = 64;     ///< of the walks that look for levels: a line or less
    std::uint64_t word = 8;        ///< least distance of two loads
    std::uint64_t occupied = 0;    ///< bytes that the chase's own code takes in the first cache
    std::uint64_t most_loads =
        1 << 16;                 ///< of one lap of a walk through an array; longer arrays are walked in longer steps
    double least_step = 3;       ///< cycles between two levels
    deduce::Chase chase_behind;  ///< for caches behind the first, where it differs
    /// Latencies of `loads` loads of a tour, on an SM if one is given, after `warm` loads; empty where nothing came
    /// there.
    std::function<std::vector<double>(const std::vector<std::uint64_t>& offsets, std::uint64_t warm,
                                      std::uint64_t loads, std::optional<std::uint32_t> sm)>
        walk;
};

struct PathLevel {
    std::string name;  ///< key in `caches`
    deduce::Level level;
    double next_latency = 0;  ///< of what lies behind
    deduce::CacheFindings findings;
    std::uint64_t ahead = 0;  ///< bytes behind a line that a miss brings as well
    bool elsewhere = false;   ///< known from another path, under that path's name: what is found here is not reported
    /// Bytes that it surely holds, and may hold.
    [[nodiscard]] std::uint64_t least_capacity() const;
    [[nodiscard]] std::uint64_t most_capacity() const;
};

struct PathFindings {
    std::vector<PathLevel> caches;
    deduce::Level memory;  ///< the last level seen, behind all caches
    /// Array whose loads the level `index` serves (caches.size(): memory), in steps of the longest line on the way
    /// there.
    [[nodiscard]] std::vector<std::uint64_t> tour_of(std::size_t index, const PathQuestion& question) const;
    double hidden = 0;  ///< cycles of each latency that the walk cannot see
    bool hidden_unknown =
        false;  ///< latencies behind the first level are at least what is seen, and levels may be another path's
    /// Latencies that belong to the level `index`.
    [[nodiscard]] std::array<double, 2> borders_of(std::size_t index) const;
};

/// Everything of a path whose loads are those of an array: levels, geometry, latencies. The question lacks `least_step`
/// and `walk`.
void measure_path(Context& context, ChaseArray& array, PathQuestion question, Outcome& outcome);

/// Finds the levels and their geometry; the chase is the path's.
[[nodiscard]] PathFindings measure_caches(Context& context, const deduce::Chase& chase, const PathQuestion& question,
                                          Outcome& outcome);

/// Adds the estimates for caches.*.
void report_caches(const PathFindings& findings, const PathQuestion& question, Outcome& outcome);

/// Of the loads that the level `index` serves, as the walk sees it, mean of all SMs; nothing where no load was served
/// by it.
[[nodiscard]] std::optional<double> seen_latency(Context& context, const PathFindings& findings, std::size_t index,
                                                 const PathQuestion& question);

/// Adds latencies: of each level and of memory, mean and by SM, and the path's list of caches.
void measure_latencies(Context& context, const PathFindings& findings, const PathQuestion& question, Outcome& outcome);

}  // namespace gputomo::experiments
