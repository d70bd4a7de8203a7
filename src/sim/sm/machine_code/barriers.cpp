// Machine code: barriers of the block.
#include "sim/exec/lane_fault.hpp"
#include "sim/sm/machine_code/sass_engine.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace gputomo::sim {

void SassEngine::meet_block(Warp& warp, const Step& step, std::size_t at, std::uint32_t taken, double now) {
    using machine_code::BarrierUse;
    Block& block = blocks_[warp.block];
    const BarrierUse use = machine_code::barrier_use_of(warp.state, step, taken);
    Barrier& barrier = block.barriers[use.number];
    auto threads = static_cast<std::uint32_t>(std::popcount(taken));
    if (use.expected != 0) {
        if (const auto wrong = expect_threads(units_.barriers, barrier, use.expected); !wrong.empty())
            throw LaneFault(std::countr_zero(taken), fmt::format("barrier {}: {}", use.number, wrong));
        // A count is in whole warps: one with fewer threads counts as whole when all of them are there.
        if ((taken | ~warp.paths.live()) == machine_code::kAllLanes) threads = kWarpSize;
    }
    arrive(units_.barriers, barrier, threads, now);
    if (use.mode == BarrierUse::Mode::reduce) {
        barrier.votes += static_cast<std::uint32_t>(std::popcount(use.votes));
        barrier.voters += static_cast<std::uint32_t>(std::popcount(taken));
        barrier.reduction = use.reduction;
    }
    const bool together = taken == warp.paths.current()->mask && warp.paths.all().size() == 1;
    if (use.mode == BarrierUse::Mode::arrive) {
        warp.paths.current()->step = at + 1;
    } else if (needs_[at].defers_waiting && needs_[at + 1].passes_barriers && together) {
        warp.paths.current()->step = at + 1;
        warp.behind = static_cast<int>(use.number);
    } else {
        machine_code::separate(warp.paths, taken, at);
        warp.paths.wait(machine_code::Path::State::block_barrier, static_cast<std::uint8_t>(use.number), 0, at + 1);
    }
    release_if_complete(block, static_cast<int>(use.number));
}

void SassEngine::leave_barrier(ResidentWarp& resident, int number, const BarrierRelease& release) {
    Warp& warp = of(resident);
    if (warp.behind == number) {
        warp.behind = kNoBarrierBehind;
        warp.met = release.when;
        return;
    }
    bool waits = false;
    for (const auto& path : warp.paths.all())
        waits |= path.state == machine_code::Path::State::block_barrier && path.barrier == number;
    if (!waits) return;
    warp.state.barrier_result = machine_code::barrier_result(release.reduction, release.votes, release.voters);
    warp.paths.release_block_barrier(static_cast<std::uint8_t>(number));
    if (std::exchange(warp.stopped_behind, false))
        warp.met = release.when;
    else
        warp.hold = std::max(warp.hold, release.when);
    wake(warp, release.when);
}

/// The step `at` waits for a barrier that its warp has passed. Returns whether that is incomplete: then
/// leave_barrier() wakes the warp.
bool SassEngine::wait_behind_barrier(Warp& warp, std::size_t at) {
    if (warp.behind != kNoBarrierBehind) {
        warp.paths.wait(machine_code::Path::State::block_barrier, static_cast<std::uint8_t>(warp.behind), 0, at);
        warp.behind = kNoBarrierBehind;
        warp.stopped_behind = true;
        warp.earliest = units_.schedulers[warp.scheduler].times[warp.position] = kNever;
        return true;
    }
    if (warp.met > 0) warp.wait.met = std::exchange(warp.met, 0);
    warp.hold = std::max(warp.hold, warp.wait.met);
    return false;
}

}  // namespace gputomo::sim
