// How long branches, clock reads and sleeps hold a warp back.
#pragma once

#include "machine/machine.hpp"

#include <cstdint>

namespace gputomo::sim {

/// Cycles from a branch to the warp's next instruction; negative where the description does not say.
struct BranchSpec {
    double taken = -1;       ///< negative: the latency of the branch operation
    double untaken = -1;     ///< negative: the latency of the branch operation
    double divergence = -1;  ///< added to `untaken` where the warp's threads split; negative: as a taken branch
};
[[nodiscard]] BranchSpec branch_spec_of(const machine::Issue& issue);

struct BranchOutcome {
    bool taken = false;     ///< by at least one thread
    bool diverged = false;  ///< and not by all
};
/// `latency`: of the branch operation in its unit.
[[nodiscard]] double branch_latency(const BranchSpec& spec, const BranchOutcome& outcome, double latency);

struct ClockSpec {
    double read_cost = 1;         ///< cycles from a clock read to the warp's next instruction
    std::int64_t resolution = 1;  ///< cycles by which the clock register advances
    double cycles_per_ns = 1;
};
[[nodiscard]] ClockSpec clock_spec_of(const machine::Clock& clock);

/// The clock register of an SM whose register read `offset` at the start of the launch.
[[nodiscard]] std::uint64_t clock_at(const ClockSpec& spec, std::int64_t offset, double now);

}  // namespace gputomo::sim
