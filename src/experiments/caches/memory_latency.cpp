#include "experiments/caches/memory_latency.hpp"

#include "measure/chase/settled_latency.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace gputomo::experiments {
namespace {

/// Confidence of the latency, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kLatencyConfidence = 0.97;
/// Lines of the access sequence: more than the caches hold of what was written last.
constexpr std::uint64_t kMemoryLines = 1 << 20;
/// Most SMs whose latency of memory is measured. All SMs of a large GPU would take long and add little.
constexpr std::uint32_t kMostSms = 32;
/// Timed loads of each.
constexpr std::uint64_t kLoadsPerSm = 256;

/// Quantiles of single loads that give the range of latencies over lines. Loads of equally likely latencies have this
/// share of their range between them. Outer quantiles would include loads that waited for refresh or for a page.
constexpr double kLowQuantile = 0.05, kHighQuantile = 0.95;

/// Loads from memory along one access sequence that is written once. Each run continues where the last one ended, so
/// that no cache holds its lines.
class MemoryLoads {
public:
    MemoryLoads(ChaseArray& far, const std::vector<std::uint64_t>& offsets, double threshold)
        : far_(far),
          written_(far.write(offsets)),
          threshold_(threshold),
          warm_(threshold > 0 ? kWarmLoads : offsets.size()) {}

    /// Latencies on one SM; empty if most loads hit wherever the run starts. A cache may still hold lines that were
    /// written last. The run is then repeated elsewhere in the sequence. Its few misses are not used, because they may
    /// be slow for other reasons, such as a new page.
    std::vector<double> on_sm(std::uint32_t sm) {
        for (std::uint64_t place = 0; place < kPlaces; ++place) {
            auto latencies = far_.on_sm(written_, at_, warm_, kLoadsPerSm, sm);
            // Only the first half is used, because the end of the sequence was probably written last.
            at_ = (at_ + warm_ + kLoadsPerSm) % std::max<std::uint64_t>(1, written_.size() / 2);
            std::erase_if(latencies, [this](double latency) { return latency < threshold_; });
            if (2 * latencies.size() >= kLoadsPerSm) return latencies;
        }
        return {};
    }

private:
    /// Starts that are tried, and untimed loads before the timed ones if a cache filters the sequence.
    static constexpr std::uint64_t kPlaces = 5, kWarmLoads = 16;
    ChaseArray& far_;
    std::vector<device::Address> written_;
    double threshold_;
    std::uint64_t warm_, at_ = 0;
};

/// Single loads of all SMs, each less the latency that the loads of its SM have in common.
class LineDifferences {
public:
    void add(const std::vector<double>& latencies, double common) {
        for (const double latency : latencies) differences_.push_back(latency - common);
    }
    /// Cycles from the nearest to the farthest line, if all latencies between them are equally likely.
    [[nodiscard]] double range() const {
        return (quantile(differences_, kHighQuantile) - quantile(differences_, kLowQuantile)) /
               (kHighQuantile - kLowQuantile);
    }
    [[nodiscard]] std::size_t count() const { return differences_.size(); }

private:
    std::vector<double> differences_;
};

/// `mean`: the described latency, on both sides of which the range extends equally.
results::Estimate line_range(const LineDifferences& differences, std::int64_t mean) {
    const std::int64_t half = std::min<std::int64_t>(mean, std::llround(differences.range() / 2));
    return decided("paths.global.memory_latency_line_range", std::vector<std::int64_t>{mean - half, mean + half},
                   {fmt::format("caches: from the 5th to the 95th percentile of {} single loads less the median of "
                                "their SM, over 0.9; the same on both sides of the mean",
                                differences.count()),
                    kLatencyConfidence});
}

}  // namespace

void add_memory_latency(Context& context, const Hierarchy& hierarchy, ChaseArray& far, std::uint64_t largest,
                        Outcome& outcome) {
    const bool cached = !hierarchy.caches.empty();
    const double threshold = cached ? (hierarchy.caches.back().level.latency + hierarchy.memory.latency) / 2 : 0;
    const auto offsets = deduce::strided(cached ? largest : kSmallestFar,
                                         cached ? std::max(kFarStride, largest / kMemoryLines) : kFarStride);
    const auto sms = sms_of(context.device);
    const std::uint32_t every = (sms + kMostSms - 1) / kMostSms;
    const double step = clock_step(context.findings);
    far.describe(0.9, "memory latency by SM");
    results::Trace trace{.name = "caches/memory_by_sm", .experiment = "caches"};
    trace.columns = {{"sm", "id", {}}, {"latency", "cycles", {}}};
    trace.plot = {"Latency of memory by SM", "sm", {"latency"}, false, false};
    LineDifferences differences;
    MemoryLoads loads(far, offsets, threshold);
    for (std::uint32_t sm = 0; sm < sms; sm += every) {
        std::vector<double> latencies;
        const auto settled = settled_latency(
            [&] {
                auto more = loads.on_sm(sm);
                latencies.insert(latencies.end(), more.begin(), more.end());
                return more;
            },
            step);
        if (!settled) continue;
        differences.add(latencies, settled->latency);
        trace.add_row(sm, settled->latency);
    }
    const auto& by_sm = trace.columns[1].values;
    if (by_sm.empty()) return;
    const auto [low, high] = std::ranges::minmax(by_sm);
    const double mean = std::accumulate(by_sm.begin(), by_sm.end(), 0.0) / static_cast<double>(by_sm.size());
    auto latency =
        decided("paths.global.memory_latency", static_cast<std::int64_t>(std::llround(mean)),
                {fmt::format("caches: mean over {} SMs of the median latency of memory on each; the interval "
                             "holds 90% of the single loads",
                             by_sm.size()),
                 kLatencyConfidence});
    latency.interval = {std::min(low, hierarchy.memory.low), std::max(high, hierarchy.memory.high)};
    outcome.estimates.push_back(std::move(latency));
    outcome.estimates.push_back(decided("paths.global.memory_latency_range",
                                        std::vector<std::int64_t>{std::llround(low), std::llround(high)},
                                        {"caches: smallest and largest of the SMs' medians", kLatencyConfidence}));
    outcome.estimates.push_back(line_range(differences, std::llround(mean)));
    outcome.traces.push_back(std::move(trace));
}

}  // namespace gputomo::experiments
