// Hit or miss of every load of a walk through an array that a cache just fails to hold: a map of the loads' latencies
// by line and lap (Mei 2014, 3.2).
#pragma once

#include "results/estimate.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gputomo::measure {

struct TraceMapQuestion {
    std::string experiment;
    std::string cache;           ///< the trace is EXPERIMENT/CACHE_trace
    std::uint64_t capacity = 0;  ///< bytes
    std::uint64_t line = 0;      ///< bytes
    std::uint64_t room = 0;      ///< bytes available
};

/// Latencies of `loads` loads of a tour after `warm` ones.
using TourWalk = std::function<std::vector<double>(const std::vector<std::uint64_t>& offsets, std::uint64_t warm,
                                                   std::uint64_t loads)>;

/// Adds the map to `traces`; nothing where the cache has too many lines to show, or the array does not fit the room.
void add_trace_map(const TourWalk& walk, const TraceMapQuestion& question, std::vector<results::Trace>& traces);

}  // namespace gputomo::measure
