// What the parts of the experiment "outstanding" share: the launches that it can make and what is known so far.
#pragma once

#include "experiments/experiment.hpp"
#include "experiments/outstanding/surface.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::experiments::outstanding {

/// Confidence of this experiment's estimates, a judgement and no measured frequency. No deduction reads it;
/// reports show it.
inline constexpr double kConfidence = 0.95;
/// Threads of the largest block that any part of the experiment launches.
inline constexpr int kLargestBlock = 1024;
/// A model of the table with more freedom must reduce the error of a simpler one to this share, or the simpler one
/// stands. A larger share finds limits in noise; a smaller one misses limits that affect few launches. The first
/// value is for the limit of a warp, the second for the table of the SM.
inline constexpr double kWarpLimitGain = 0.8, kTableGain = 0.93;
/// A model's number of entries must lie this near to the number at which single threads show the step.
inline constexpr double kNearEntries = 0.06;

struct Setup {
    /// Measures where loads hit, to find the place that tracks them.
    Setup(Context& run_context, Outcome& run_outcome);

    /// Launches over lines that no cache holds, allocated when first used.
    [[nodiscard]] InFlightSurface& memory();
    /// The path of a leaf of `place`.
    [[nodiscard]] std::string path(std::string_view leaf) const;

    Context& context;
    Outcome& outcome;
    /// Launches over lines that the L2 holds.
    InFlightSurface cached;
    /// Description of what tracks the loads: the SM's cache that they miss in ("caches.l1"), or the path if no cache
    /// of the SM serves them ("paths.global").
    std::string place;
    /// Cycles of a load that hits beyond the SM's own caches.
    double far_hit = 0;
    /// Most cycles of `far_hit` that the measurement itself and the SM's cache take.
    double overhead = 0;
    /// Loads of a thread up to which limits are looked for.
    int most_loads;
    /// Loads that one warp can have in flight; 0 if no limit was found.
    int warp_loads = 0;
    /// Launches that were measured so far, and their cycles.
    std::vector<deduce::OutstandingPoint> points;

private:
    std::unique_ptr<InFlightSurface> memory_;
};

/// Loads of a thread up to which limits are looked for on this device: as many as its registers can receive.
[[nodiscard]] int most_loads(const device::Device& device);

}  // namespace gputomo::experiments::outstanding
