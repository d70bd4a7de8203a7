#include "sim/memory/global_loads.hpp"

#include "machine/cache_scope.hpp"
#include "machine/dram_variation.hpp"
#include "sim/memory/description.hpp"
#include "sim/memory/dram.hpp"
#include "units/warp.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace gputomo::sim {
namespace {

constexpr std::int64_t kWarp = kWarpSize, kWordBytes = 4;
/// Cycles between two transactions of one instruction, which leave the SM one after the other.
constexpr double kLeastSpacing = 1;
/// Loads of a lone warp over which waiting is averaged: more loads give a smaller error and take longer to simulate.
constexpr int kScattered = 128;
/// Cycles between two of these loads, so that each finds the memory idle.
constexpr double kApart = 1 << 16;
/// Bytes over which these loads are spread, enough to reach all banks.
constexpr std::uint64_t kSpread = std::uint64_t{1} << 28;
/// Loads of each warp of a stream, and how many of them are not counted, because the queues are still filling.
constexpr int kStreamed = 160, kBefore = 32;
/// Halvings of the interval that contains a cost: the result is exact to 1/1024 of the described cost.
constexpr int kHalvings = 10;

/// Transactions of a load of neighbouring words, which a diverging load is compared with: one for each group of threads
/// that is coalesced. Where that group is the whole warp, transactions of the smallest size are counted.
std::size_t coalesced_transactions(const machine::Memory& memory) {
    const auto group = memory.coalescing_group.value_or(kWarp);
    if (group < kWarp || !memory.transaction_sizes)
        return static_cast<std::size_t>(kWarp / std::max<std::int64_t>(group, 1));
    return static_cast<std::size_t>(
        std::max<std::int64_t>(kWarp * kWordBytes / std::ranges::min(*memory.transaction_sizes), 1));
}

}  // namespace

GlobalLoads::GlobalLoads(const machine::Machine& machine) : coalesced_(coalesced_transactions(machine.memory)) {
    const auto path = machine.paths.find("global");
    if (path == machine.paths.end()) return;
    const double cost = path->second.transaction_cost.value_or(kLeastSpacing);
    spacing_ = cost;
    refresh_ = refresh_of(machine);
    line_range_ = machine::line_range(path->second, refresh_);
    if (const auto* const last = machine::shared_cache(machine, "global"))
        far_ = machine::far_memory(path->second, *last);
    const bool varies = machine.memory.channel_banks || line_range_ > 0 || far_.extra > 0 || refresh_.interval > 0;
    if (varies && cost > kLeastSpacing && coalesced_ < kWarp) {
        const double wanted = static_cast<double>(kWarp - static_cast<std::int64_t>(coalesced_)) * cost;
        double low = kLeastSpacing, high = cost;
        for (int i = 0; i < kHalvings; ++i) {
            spacing_ = (low + high) / 2;
            (scattered(machine) < wanted ? low : high) = spacing_;
        }
    }
    const auto& [one, warp] = std::tie(path->second.memory_latency, path->second.warp_latency);
    if (!one || !warp) return;
    const double described = need_cycles(warp, "paths.global.warp_latency");
    double latency = described;  // cycles of a load that waits for no other load
    for (int i = 0; i < 2; ++i) latency -= streamed(machine, latency) - described;
    whole_warp_ = latency - static_cast<double>(*one);
}

double GlobalLoads::departure(std::size_t index) const {
    const double even = static_cast<double>(index) * kLeastSpacing;
    return index < coalesced_ ? even : std::max(even, static_cast<double>(index + 1 - coalesced_) * spacing_);
}

/// One warp loads words at random addresses: cycles by which the data of its last transaction come later than those of
/// a single transaction, on average. The SM belongs to the first partition of the last cache.
double GlobalLoads::scattered(const machine::Machine& machine) const {
    std::mt19937_64 random;
    Dram dram(machine);
    double sum = 0;
    for (int load = 0; load < kScattered; ++load) {
        double last = -kApart;
        for (std::size_t i = 0; i < kWarp; ++i) {
            const double leaves = departure(i);
            const std::uint64_t address = random() % kSpread / kWordBytes * kWordBytes;
            const bool far = far_.extra > 0 && machine::partition_of(address, far_.sides) != 0;
            last = std::max(last, leaves + dram.distance(address) * line_range_ + far_.beyond_mean(far) +
                                      dram.read(address, kWordBytes, load * kApart + leaves, 0).delay);
        }
        sum += last;
    }
    return sum / kScattered - refresh_.mean_wait();
}

/// One warp on each SM reads line after line: the mean latency of its loads, where a load that waits for no other takes
/// `latency`.
double GlobalLoads::streamed(const machine::Machine& machine, double latency) const {
    constexpr std::uint64_t kLine = kWarp * kWordBytes;
    const auto warps = static_cast<std::uint64_t>(machine.topology.sms.value_or(1));
    const auto part = static_cast<std::uint32_t>(kLine / coalesced_);
    Dram dram(machine);
    using Next = std::pair<double, std::uint64_t>;  // time and warp of a load
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    for (std::uint64_t warp = 0; warp < warps; ++warp)
        next.emplace(static_cast<double>(warp) * latency / static_cast<double>(warps), warp);
    std::vector<int> loads(warps, 0);
    double sum = 0;
    while (!next.empty()) {
        const auto [now, warp] = next.top();
        next.pop();
        double taken = 0;
        for (std::size_t i = 0; i < coalesced_; ++i) {
            const std::uint64_t address =
                (warp * kStreamed + static_cast<std::uint64_t>(loads[warp])) * kLine + i * part;
            taken = std::max(taken, departure(i) + latency + dram.read(address, part, now + departure(i)).delay);
        }
        if (++loads[warp] > kBefore) sum += taken;
        if (loads[warp] < kStreamed) next.emplace(now + taken, warp);
    }
    return sum / static_cast<double>(warps * (kStreamed - kBefore));
}

}  // namespace gputomo::sim
