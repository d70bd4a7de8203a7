#include "sim/sm/sampling/sampling_estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace gputomo::sim {
namespace {

/// The 97.5% quantile of Student's distribution by degrees of freedom, from 1 on. Behind its end the normal
/// distribution's is 4% less.
constexpr std::array<double, 30> kStudent{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                          2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                          2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

/// A point on the line through two windows: the share of each.
struct Between {
    std::size_t before = 0, after = 0;
    double share_after = 0;
};

Between between(std::span<const SampledWindow> windows, std::size_t before, std::size_t after, double block) {
    const double from = windows[before].middle, to = windows[after].middle;
    return {before, after, std::clamp((block - from) / (to - from), 0.0, 1.0)};
}

/// The variance of a window's cycles per block beside those that its neighbours predict. Needs three windows.
double variance_of(std::span<const SampledWindow> windows) {
    double sum = 0;
    for (std::size_t i = 1; i + 1 < windows.size(); ++i) {
        const double after = between(windows, i - 1, i + 1, windows[i].middle).share_after;
        const double predicted =
            (1 - after) * windows[i - 1].per_block[kCycles] + after * windows[i + 1].per_block[kCycles];
        const double off = windows[i].per_block[kCycles] - predicted;
        // The prediction varies, too, by this much for each unit of a window's own variance.
        sum += off * off / (1 + after * after + (1 - after) * (1 - after));
    }
    return sum / static_cast<double>(windows.size() - 2);
}

}  // namespace

LaunchEstimate estimate(std::span<const SampledWindow> windows, std::uint64_t blocks) {
    LaunchEstimate whole{.cost = Costs(windows.front().cost.size())};
    std::vector<double> weight(windows.size());  // how many blocks each window stands for
    const auto skip = [&](std::uint64_t first, std::uint64_t last, std::size_t before, std::size_t after) {
        if (first >= last) return;
        const auto count = static_cast<double>(last - first);
        const double share =
            before == after ? 0 : between(windows, before, after, static_cast<double>(first) + count / 2).share_after;
        weight[before] += (1 - share) * count;
        weight[after] += share * count;
    };
    for (std::size_t i = 0; i < windows.size(); ++i)
        if (i == 0)
            skip(0, windows[0].first, 0, 0);
        else
            skip(windows[i - 1].last, windows[i].first, i - 1, i);
    skip(windows.back().last, blocks, windows.size() - 1, windows.size() - 1);
    double squares = 0;
    for (std::size_t i = 0; i < windows.size(); ++i) {
        squares += weight[i] * weight[i];
        for (std::size_t which = 0; which < whole.cost.size(); ++which)
            whole.cost[which] += windows[i].cost[which] + weight[i] * windows[i].per_block[which];
    }
    if (squares == 0) return whole;
    if (windows.size() < 3) {
        whole.error = 1;
        return whole;
    }
    const double quantile = kStudent[std::min(windows.size() - 2, kStudent.size()) - 1];
    whole.error = quantile * std::sqrt(variance_of(windows) * squares) / whole.cost[kCycles];
    return whole;
}

}  // namespace gputomo::sim
