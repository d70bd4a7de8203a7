// The way to what kernels only read, instructions and constants: when it is in the first cache of an SM.
#pragma once

#include "costs/arrival.hpp"
#include "machine/machine.hpp"
#include "predict/launch/recent_granules.hpp"
#include "predict/launch/sm_server.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace gputomo::predict {

/// A cache that only a part of the GPU uses.
struct ReadOnlyLevel {
    double bytes = 0;
    std::uint64_t line = 1;
    double latency = 0;
    std::uint64_t lines_ahead = 0;  ///< that are requested behind a line that is
    double cycles_of_byte = 0;      ///< of what one SM reads from it; 0: not limited
    bool of_scheduler = false;      ///< each scheduler has one
};

struct ReadOnlyRates {
    std::vector<ReadOnlyLevel> caches;  ///< nearest first; empty: what is read is always there
    double l2_latency = 0, memory_latency = 0;
    std::uint64_t prefetched_lines = 0;  ///< lines of the first cache that are requested when a warp comes to one
    std::uint64_t loaded = 0;            ///< bytes that a launch brings to the last of these caches
    costs::Arrival arrival;              ///< when they are there
};

/// The rates of a path of the description that leads through the L2; empty ones where it has no such path.
[[nodiscard]] ReadOnlyRates read_only_rates_of(const machine::Machine& machine, const std::string& path);

class ReadOnlyPath {
public:
    /// `scale` is 0 where no cache is ever busy, otherwise 1.
    ReadOnlyPath(const ReadOnlyRates& rates, std::size_t schedulers, double scale);

    /// When the first cache has what lies at `address`, for a warp that asks for it at `now`.
    double there(std::uint64_t address, std::uint32_t scheduler, double now);
    [[nodiscard]] bool described() const { return !rates_.caches.empty(); }
    /// The line of the first cache that holds the address.
    [[nodiscard]] std::uint64_t line_of(std::uint64_t address) const { return address / rates_.caches.front().line; }

private:
    double fetch(std::size_t depth, std::uint64_t address, std::uint32_t scheduler, double now);

    const ReadOnlyRates& rates_;
    double scale_;
    std::vector<Server> ports_;                        ///< by level
    std::vector<std::vector<RecentGranules>> caches_;  ///< by level, then by scheduler where each has one
    std::unordered_set<std::uint64_t> brought_;        ///< lines that the launch brings, which nobody has waited for
    std::unordered_set<std::uint64_t> in_l2_;          ///< lines of the last of these caches that were read before
};

}  // namespace gputomo::predict
