#include "measure/residency/occupancy_history.hpp"

#include "measure/kernel/clock_difference.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace gputomo::measure {
namespace {

/// Share of an SM's warps that have ended this many cycles after its first start.
double ended_by(std::span<const WarpTimes> warps, double cycles) {
    const auto ended = std::ranges::count_if(warps, [&](const WarpTimes& warp) { return warp.end <= cycles; });
    return static_cast<double>(ended) / static_cast<double>(warps.size());
}

/// Adds to `shares` the cycles for which each number of warps was resident between `begin` and `end`.
void add_times(std::span<const OccupancyStep> steps, double begin, double end, std::vector<double>& shares) {
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
        const double held = std::min(end, steps[i + 1].cycles) - std::max(begin, steps[i].cycles);
        const auto warps = static_cast<std::size_t>(steps[i].warps);
        if (held <= 0) continue;
        if (warps >= shares.size()) shares.resize(warps + 1);
        shares[warps] += held;
    }
}

}  // namespace

std::map<std::uint32_t, std::vector<WarpTimes>> times_by_sm(std::span<const WarpLifetime> warps) {
    std::map<std::uint32_t, std::uint32_t> first;
    for (const auto& warp : warps) {
        std::uint32_t& start = first.try_emplace(warp.sm, warp.start).first->second;
        if (cycles_between(start, warp.start) < 0) start = warp.start;
    }
    std::map<std::uint32_t, std::vector<WarpTimes>> times;
    for (const auto& warp : warps) {
        const std::uint32_t start = first[warp.sm];
        times[warp.sm].push_back({.start = cycles_between(start, warp.start), .end = cycles_between(start, warp.end)});
    }
    return times;
}

int all_but(const std::vector<double>& shares, double part) {
    double below = 0;
    for (std::size_t warps = 0; warps < shares.size(); ++warps) {
        below += shares[warps];
        if (below > part) return static_cast<int>(warps);
    }
    return static_cast<int>(shares.size()) - 1;
}

std::vector<OccupancyStep> steps_of(std::span<const WarpLifetime> warps, std::uint32_t sm) {
    std::vector<std::pair<double, int>> changes;
    std::uint32_t origin = 0;
    for (const auto& warp : warps) {
        if (warp.sm != sm) continue;
        if (changes.empty()) origin = warp.start;
        changes.emplace_back(cycles_between(origin, warp.start), 1);
        changes.emplace_back(cycles_between(origin, warp.end), -1);
    }
    std::ranges::sort(changes);
    std::vector<OccupancyStep> steps;
    int held = 0;
    for (const auto& [cycles, change] : changes) {
        held += change;
        const double since = cycles - changes.front().first;
        if (!steps.empty() && steps.back().cycles == since)
            steps.back().warps = held;
        else
            steps.push_back({since, held});
    }
    return steps;
}

OccupancyHistory history_of(std::span<const WarpLifetime> warps) {
    const auto sms = times_by_sm(warps);
    if (sms.empty()) throw std::logic_error("history_of: no warps");
    OccupancyHistory history{.attained = std::numeric_limits<int>::max()};
    double time = 0;
    const auto count = static_cast<double>(sms.size());
    for (const auto& [sm, times] : sms) {
        const auto steps = steps_of(warps, sm);
        const double end = steps.back().cycles;
        add_times(steps, 0, end, history.shares);
        add_times(steps, end / 4, 3 * end / 4, history.middle);
        const int most = std::ranges::max(steps, {}, &OccupancyStep::warps).warps;
        // The tail begins one step after the last step with at least half of the maximum.
        const auto last =
            std::find_if(steps.rbegin(), steps.rend(), [&](const auto& step) { return 2 * step.warps >= most; });
        history.tail += (end - last.base()->cycles) / end / count;
        history.ended_early += ended_by(times, 2 * end / 3) / count;
        history.attained = std::min(history.attained, most);
        history.cycles = std::max(history.cycles, end);
        time += end;
    }
    for (auto& share : history.shares) share /= time;
    for (auto& share : history.middle) share /= time / 2;
    for (std::size_t held = 0; held < history.shares.size(); ++held)
        history.mean += static_cast<double>(held) * history.shares[held];
    return history;
}

}  // namespace gputomo::measure
