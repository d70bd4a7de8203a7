#include "experiments/outstanding/setup.hpp"

#include "experiments/caches/known_caches.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::experiments::outstanding {
namespace {

/// Loads of a thread that limits are looked for up to. GPUs of compute capability 2.0 to 3.1 have 63 registers for a
/// thread, which hold the data of 40 loads and their addresses.
constexpr int kMostLoads = 64, kMostLoadsOf63Registers = 40;
/// A load that takes less than this share of a load past the SM's own caches hits in one of them.
constexpr double kNearHit = 0.9;

}  // namespace

int most_loads(const device::Device& device) {
    const auto target = device.ptx_target();
    return target.sm >= 20 && target.sm < 32 ? kMostLoadsOf63Registers : kMostLoads;
}

Setup::Setup(Context& run_context, Outcome& run_outcome)
    : context(run_context),
      outcome(run_outcome),
      cached(run_context.device, largest_cache(run_context), false, run_outcome),
      most_loads(outstanding::most_loads(run_context.device)) {
    const double near = cached.nearest_hit(InFlightAccess::load);
    far_hit = cached.nearest_hit(InFlightAccess::load_far);
    const bool has_near_cache = near < kNearHit * far_hit;
    place = has_near_cache ? "caches.l1" : "paths.global";
    overhead = has_near_cache ? near : std::max(cached.of_nothing(), (1 - kNearHit) * far_hit);
}

InFlightSurface& Setup::memory() {
    if (!memory_) memory_ = std::make_unique<InFlightSurface>(context.device, largest_cache(context), true, outcome);
    return *memory_;
}

std::string Setup::path(std::string_view leaf) const { return fmt::format("{}.{}", place, leaf); }

}  // namespace gputomo::experiments::outstanding
