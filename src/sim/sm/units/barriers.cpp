#include "sim/sm/units/barriers.hpp"

#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {

BarrierSpec barrier_spec_of(const machine::Issue& issue) {
    const bool independent = issue.divergence.value_or("stack") == "independent";
    BarrierSpec spec;
    spec.latency = static_cast<double>(issue.barrier_latency.value_or(0));
    spec.warp_latency = static_cast<double>(issue.warp_barrier_latency.value_or(0));
    spec.defers = issue.barrier_defers.value_or(false);
    spec.counts_threads = issue.barrier_granularity.value_or(independent ? "thread" : "warp") == "thread";
    return spec;
}

std::string expect_threads(const BarrierSpec& spec, Barrier& barrier, std::uint32_t threads) {
    if (threads == 0 || threads % kWarpSize != 0)
        return fmt::format("{} threads asked; expected a multiple of {}", threads, kWarpSize);
    const std::uint32_t expected = spec.counts_threads ? threads : threads / kWarpSize;
    if (barrier.arrived != 0 && barrier.expected != expected)
        return fmt::format("{} threads asked while others wait there for another number of threads", threads);
    barrier.expected = expected;
    return {};
}

void arrive(const BarrierSpec& spec, Barrier& barrier, std::uint32_t threads, double now) {
    barrier.arrived += spec.counts_threads ? threads : 1;
    barrier.last_arrival = std::max(barrier.last_arrival, now);
}

std::optional<BarrierRelease> release_if_complete(const BarrierSpec& spec, Barrier& barrier, const LiveCount& live) {
    if (barrier.arrived == 0) return std::nullopt;
    const std::uint32_t all = spec.counts_threads ? live.threads : live.warps;
    if (barrier.arrived < (barrier.expected != 0 ? barrier.expected : all)) return std::nullopt;
    const BarrierRelease release{barrier.last_arrival + spec.latency, barrier.votes, barrier.voters, barrier.reduction};
    barrier = {};
    return release;
}

std::string describe(const BarrierSpec& spec, const Barrier& barrier, int number) {
    return fmt::format("barrier {}, {} {} arrived{}", number, barrier.arrived,
                       spec.counts_threads ? "threads" : "warps",
                       barrier.expected == 0 ? "" : fmt::format(" of {}", barrier.expected));
}

}  // namespace gputomo::sim
