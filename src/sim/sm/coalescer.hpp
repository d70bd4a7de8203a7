// The addresses of a warp -> memory transactions.
#pragma once

#include "machine/machine.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace gputomo::sim {

struct Segment {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
};

class Coalescer {
public:
    /// `path` names the machine's path; segments are sectors of its first cache, or memory.transaction_sizes without one.
    Coalescer(const machine::Machine& machine, const std::string& path);

    /// Distinct segments that the lanes in `mask` touch, in order of their first lane; a group of threads at a time.
    /// The result is valid until the next call.
    const std::vector<Segment>& merge(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask, std::uint32_t bytes);

private:
    void merge_group(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask, std::uint32_t bytes);

    std::uint32_t group_ = 32;
    std::uint32_t segment_ = 128;
    std::vector<std::uint32_t> smaller_;  ///< transaction sizes a segment may shrink to, ascending (GT200; Volkov 2016, 2.5)
    std::vector<Segment> segments_;
};

}  // namespace gputomo::sim
