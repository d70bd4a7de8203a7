// A map of hits and misses by line and pass, over an array slightly larger than the cache (Mei 2014, 3.2).
#pragma once

#include "results/trace.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gputomo::experiments {

struct MissMapRequest {
    std::string experiment;
    std::string cache;               ///< the trace gets the name EXPERIMENT/CACHE_trace
    std::uint64_t capacity = 0;      ///< bytes
    std::uint64_t line = 0;          ///< bytes
    std::uint64_t buffer_bytes = 0;  ///< of the buffer that holds the array
};

/// Latencies in cycles of `loads` loads of an access sequence, after `warm` untimed ones.
using SequenceLatencies = std::function<std::vector<double>(const std::vector<std::uint64_t>& offsets,
                                                            std::uint64_t warm, std::uint64_t loads)>;

/// Adds the map to `traces`. It adds nothing if the cache has too many lines to show or the array exceeds the buffer.
void add_miss_map(const SequenceLatencies& latencies_of, const MissMapRequest& request,
                  std::vector<results::Trace>& traces);

}  // namespace gputomo::experiments
