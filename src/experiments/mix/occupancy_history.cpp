#include "experiments/mix/occupancy_history.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

namespace gputomo::experiments {
namespace {

double cycles_between(std::uint32_t from, std::uint32_t to) { return static_cast<std::int32_t>(to - from); }

}  // namespace

int OccupancyHistory::all_but(double part) const {
    double below = 0;
    for (std::size_t warps = 0; warps < shares.size(); ++warps)
        if ((below += shares[warps]) > part) return static_cast<int>(warps);
    return static_cast<int>(shares.size()) - 1;
}

std::vector<OccupancyStep> steps_of(std::span<const Lifetime> warps, std::uint32_t sm) {
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

OccupancyHistory history_of(std::span<const Lifetime> warps) {
    std::set<std::uint32_t> sms;
    for (const auto& warp : warps) sms.insert(warp.sm);
    if (sms.empty()) throw std::logic_error("history_of: no warps");
    OccupancyHistory history{.attained = std::numeric_limits<int>::max()};
    double time = 0;
    for (const auto sm : sms) {
        const auto steps = steps_of(warps, sm);
        int most = 0;
        for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
            const auto held = static_cast<std::size_t>(steps[i].warps);
            if (held >= history.shares.size()) history.shares.resize(held + 1);
            history.shares[held] += steps[i + 1].cycles - steps[i].cycles;
            most = std::max(most, steps[i].warps);
        }
        history.attained = std::min(history.attained, most);
        history.cycles = std::max(history.cycles, steps.back().cycles);
        time += steps.back().cycles;
    }
    for (std::size_t held = 0; held < history.shares.size(); ++held) {
        history.shares[held] /= time;
        history.mean += static_cast<double>(held) * history.shares[held];
    }
    return history;
}

}  // namespace gputomo::experiments
