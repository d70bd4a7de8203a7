#include "experiments/caches/overfill_sweep.hpp"

#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gputomo::experiments {
namespace {

/// Confidence of the capacity, a judgement and no measured frequency.
constexpr double kSweepConfidence = 0.9;
/// Measured sizes range up to `kTimesOverflow` times the first that overflows; each is `kStep` times the one before.
constexpr double kTimesOverflow = 2.5, kStep = 1.19;
/// Sizes tried in addition where hits end, and where the share of misses beyond is looked at.
constexpr std::uint64_t kRefined = 14;
/// Timed loads of an array, and untimed passes before them. Arrays of more than `kLongSequence` loads get fewer passes,
/// because each takes long.
constexpr std::uint64_t kSweepLoads = 4096, kShortWarmPasses = 4, kLongWarmPasses = 2, kLongSequence = 1 << 16;
/// The slowest hits may exceed 19 of 20 hits by at least this many cycles.
constexpr double kLeastSpread = 3;

class OverfillSweep {
public:
    OverfillSweep(ChaseArray& array, const OverfillQuestion& question) : array_(array), q_(question) {}

    deduce::Overfill run() {
        const double most =
            std::min(kTimesOverflow * static_cast<double>(q_.level.overflows), static_cast<double>(q_.largest));
        auto bytes = static_cast<double>(q_.level.fits);
        while (bytes <= most) {
            measure(bytes);
            bytes *= kStep;
        }
        auto found = deduce::deduce_overfill(readings_, border());
        if (!q_.refine || found.bracket[1] == 0) return found;
        const auto [first, last] = found.bracket;
        for (std::uint64_t i = 1; i <= kRefined; ++i)
            measure(static_cast<double>(first) +
                    static_cast<double>(last - first) * static_cast<double>(i) / (kRefined + 1));
        return deduce::deduce_overfill(readings_, border());
    }

private:
    [[nodiscard]] double border() const {
        const double spread = std::max(kLeastSpread, q_.level.high - q_.level.latency);
        return std::min((q_.level.latency + q_.next_latency) / 2, q_.level.high + spread);
    }
    /// An access sequence of this many elements in several passes over the array, so that the timed loads are a sample
    /// of the whole array. If physical pages select the sets, some pages overflow far sooner than others.
    [[nodiscard]] std::vector<std::uint64_t> spread_over(std::uint64_t elements) const {
        const std::uint64_t passes = std::max<std::uint64_t>(1, elements / kSweepLoads);
        std::vector<std::uint64_t> offsets;
        for (std::uint64_t pass = 0; pass < passes; ++pass)
            for (std::uint64_t i = pass; i < elements; i += passes) offsets.push_back(i * q_.stride);
        return offsets;
    }
    void measure(double bytes) {
        const auto offsets = spread_over(static_cast<std::uint64_t>(bytes) / q_.stride);
        const std::uint64_t passes = offsets.size() > kLongSequence ? kLongWarmPasses : kShortWarmPasses;
        readings_.push_back({offsets.size() * q_.stride,
                             array_.latencies(offsets, passes * offsets.size(),
                                              std::min<std::uint64_t>(offsets.size(), kSweepLoads), std::nullopt)});
    }

    ChaseArray& array_;
    const OverfillQuestion& q_;
    std::vector<deduce::OverfillReading> readings_;
};

}  // namespace

deduce::Overfill measure_overfill(ChaseArray& array, const OverfillQuestion& question, Outcome& outcome) {
    auto found = OverfillSweep(array, question).run();
    results::Trace trace{.name = fmt::format("{}/{}_overfill", question.experiment, question.name),
                         .experiment = question.experiment};
    trace.columns = {{"size", "bytes", {}}, {"misses", "percent", {}}, {"served_nearer_than_memory", "percent", {}}};
    for (const auto& point : found.points) {
        trace.add_row(point.bytes, 100 * (1 - point.hit), 100 * point.far);
    }
    trace.plot = {fmt::format("Loads that {} does not serve, by size of the array", question.name),
                  "size",
                  {"misses", "served_nearer_than_memory"},
                  true,
                  false};
    outcome.traces.push_back(std::move(trace));
    return found;
}

std::optional<results::Estimate> capacity_of(const deduce::Overfill& found, const OverfillQuestion& question) {
    if (!found.capacity) return std::nullopt;
    Evidence evidence{
        question.experiment +
            ": the array of which half the loads still hit; the interval ends where all hit and where none does",
        kSweepConfidence};
    if (found.partitions != 0)
        evidence.note = fmt::format(
            "the capacity that the loads of one SM can use, because {} partitions hold copies of each other's lines; a "
            "miss "
            "that another partition serves takes {:.0f} cycles ({:.0f} to {:.0f})",
            found.partitions, found.far_latency, found.far_interval[0], found.far_interval[1]);
    auto capacity = decided(fmt::format("caches.{}.capacity", question.name),
                            static_cast<std::int64_t>(*found.capacity / question.stride * question.stride), evidence);
    capacity.interval = {static_cast<double>(found.bracket[0]), static_cast<double>(found.bracket[1])};
    return capacity;
}

}  // namespace gputomo::experiments
