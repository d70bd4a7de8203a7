#include "deduce/cache/levels/overfill.hpp"

#include "units/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::deduce {
namespace {

/// Hit rates that count as all loads and as none. They leave room for outliers and for lines of other clients.
constexpr double kAll = 0.97, kNone = 0.01;
/// Under replacement by age, no load hits in an array that is 1.5 times as large as one of which half the loads hit.
/// Under random replacement, a third still hits.
constexpr double kEndsBy = 1.5;
/// This share of the largest array's loads may be faster than loads from memory. It cuts off the fastest outliers.
constexpr double kFastestOfMemory = 0.005;
/// Hit rates of another partition beyond the capacity differ by at most this much between array sizes.
constexpr double kPlateau = 0.03;
/// Array sizes beyond the capacity that a plateau needs: two could agree at random.
constexpr std::size_t kMinSizes = 3;

void find_capacity(Overfill& found) {
    const auto& points = found.points;
    const auto half = std::ranges::find_if(points, [](const auto& p) { return p.hit < 0.5; });
    const auto none = std::ranges::find_if(points, [](const auto& p) { return p.hit <= kNone; });
    if (half == points.begin() || none == points.end()) return;
    const auto before = half - 1;
    auto all = half;
    while (all != points.begin() && (all - 1)->hit < kAll) --all;
    if (all == points.begin()) return;
    const double part = (before->hit - 0.5) / (before->hit - half->hit);
    const double bytes = static_cast<double>(before->bytes) + part * static_cast<double>(half->bytes - before->bytes);
    found.bracket = {(all - 1)->bytes, none->bytes};
    if (static_cast<double>(none->bytes) <= kEndsBy * bytes)
        found.capacity = static_cast<std::uint64_t>(std::llround(bytes));
}

void find_partitions(Overfill& found, const std::vector<OverfillReading>& readings, double border, double memory) {
    if (!found.capacity || found.points.back().far > kNone) return;
    std::vector<double> shares, far;
    for (std::size_t i = 0; i < readings.size(); ++i) {
        const auto& point = found.points[i];
        // Only arrays in which nothing hits any more, but which do not exceed the other partitions too, count.
        if (point.hit > kNone || static_cast<double>(point.bytes) > kEndsBy * static_cast<double>(*found.capacity))
            continue;
        shares.push_back(point.far);
        for (const double latency : readings[i].latencies)
            if (latency > border && latency < memory) far.push_back(latency);
    }
    if (shares.size() < kMinSizes) return;
    const double share = median(shares);
    const auto parts = std::llround(1 / (1 - std::min(share, 1 - kNone)));
    const auto [low, high] = std::ranges::minmax(shares);
    if (parts < 2 || high - low > kPlateau || std::abs(share - (1 - 1.0 / static_cast<double>(parts))) > kPlateau)
        return;
    found.partitions = parts;
    found.far_latency = median(far);
    found.far_interval = {quantile(far, 0.05), quantile(far, 0.95)};
}

}  // namespace

Overfill deduce_overfill(std::vector<OverfillReading> readings, double border) {
    Overfill found;
    std::erase_if(readings, [](const auto& reading) { return reading.latencies.empty(); });
    if (readings.empty()) return found;
    std::ranges::sort(readings, {}, &OverfillReading::bytes);
    const double memory = quantile(readings.back().latencies, kFastestOfMemory);
    for (const auto& reading : readings) {
        const auto all = static_cast<double>(reading.latencies.size());
        const auto share = [&](auto which) {
            return static_cast<double>(std::ranges::count_if(reading.latencies, which)) / all;
        };
        found.points.push_back({reading.bytes, share([&](double l) { return l <= border; }),
                                share([&](double l) { return l > border && l < memory; })});
    }
    find_capacity(found);
    find_partitions(found, readings, border, memory);
    return found;
}

}  // namespace gputomo::deduce
