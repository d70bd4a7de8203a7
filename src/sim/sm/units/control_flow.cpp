#include "sim/sm/units/control_flow.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::sim {

BranchSpec branch_spec_of(const machine::Issue& issue) {
    const auto cycles = [](const machine::Integer& field) { return static_cast<double>(field.value_or(-1)); };
    return {.taken = cycles(issue.branch_latency_taken),
            .untaken = cycles(issue.branch_latency_untaken),
            .divergence = cycles(issue.divergence_latency)};
}

double branch_latency(const BranchSpec& spec, const BranchOutcome& outcome, double latency) {
    const auto or_own = [latency](double described) { return described < 0 ? latency : described; };
    if (outcome.diverged && spec.divergence >= 0) return or_own(spec.untaken) + spec.divergence;
    return or_own(outcome.taken ? spec.taken : spec.untaken);
}

ClockSpec clock_spec_of(const machine::Clock& clock) {
    return {.read_cost = static_cast<double>(clock.read_cost.value_or(1)),
            .resolution = std::max<std::int64_t>(1, clock.resolution.value_or(1)),
            .cycles_per_ns = *clock.sm_mhz / 1e3};
}

std::uint64_t clock_at(const ClockSpec& spec, std::int64_t offset, double now) {
    const std::int64_t count = offset + static_cast<std::int64_t>(std::floor(now));
    return static_cast<std::uint64_t>(count / spec.resolution * spec.resolution);
}

}  // namespace gputomo::sim
