// Machine code: bulk copies, and warps that wait at barriers in shared memory for them or for other warps.
#include "sim/machine_code/wait_watch.hpp"
#include "sim/sm/machine_code/sass_engine.hpp"

#include <algorithm>
#include <bit>

namespace gputomo::sim {

void SassEngine::copy_bulk(Warp& warp, std::size_t at, double now) {
    machine_code::BlockState& block = *warp.state.block;
    const machine_code::Transfer& transfer = block.transfer;
    const BulkTimes times =
        transfer_bulk(units_.bulk_copies.spec, transfer, block.sm, units_.bulk_copies.free[block.sm],
                      units_.bulk_copies.maps[block.sm], setup_.memory_system, now);
    for (const auto& signal : transfer.signals) {
        const bool remote = signal.block != &block;
        // A copy between blocks takes the way to the other block's barrier with its bytes.
        const bool apart = remote && transfer.kind != machine_code::Transfer::Kind::between;
        const double when = times.done + (apart ? units_.bulk_copies.spec.signal : 0.0);
        double& complete_at = barriers_complete_[signal.block->resident][signal.barrier];
        complete_at = std::max(complete_at, when);
    }
    switch (transfer.kind) {
        case machine_code::Transfer::Kind::store:
        case machine_code::Transfer::Kind::reduce:
            warp.bulk_read = std::max(warp.bulk_read, times.read);
            warp.bulk_done = std::max(warp.bulk_done, times.done);
            latest_store(times.done);
            break;
        case machine_code::Transfer::Kind::prefetch: break;
        default: latest_load(times.done);
    }
    const double read = now + units_.scheduler_spec.issue_interval;
    complete(warp, at, read, read);
    for (const auto& signal : transfer.signals) check_waiters(signal.block->resident, now);
}

/// A map that is fetched ahead is there when a copy needs it.
void SassEngine::fetch_map(const Warp& warp, const Step& step, double now) {
    if (sass::text_of(sass::Modifier::tensor_map, step.instruction.value(sass::Modifier::tensor_map)) != "PF") return;
    const machine_code::BlockState& block = *warp.state.block;
    if (const double cycles = units_.bulk_copies.spec.map; cycles > 0)
        (void)units_.bulk_copies.maps[block.sm].try_emplace(block.transfer.map, now + cycles);
}

// ---- waiting at a barrier ------------------------------------------------------------------------------------------

/// A warp whose phase has not ended waits until it has, and with it threads that wait for those that ask. Where other
/// threads of the warp can go on, those that ask do not wait: they ask again. `mask` has the threads that ask.
void SassEngine::wait_for_phase(Warp& warp, std::size_t at, std::uint32_t mask) {
    const Step& step = program_.steps[at];
    if (!machine_code::is_alone(warp.paths)) return;
    if ((warp.state.holds(step.predicate_out[0]) & mask) == mask) return;
    warp.waits_for_phase = true;
    waiters_[warp.block].push_back(
        {.warp = static_cast<std::uint32_t>(&warp - of_warps_.data()), .step = at, .mask = mask});
}

/// Something has arrived at a barrier of the block: warps go on whose phase has ended.
void SassEngine::check_waiters(std::uint32_t block, double now) {
    auto& waiters = waiters_[block];
    for (std::size_t i = 0; i < waiters.size();) {
        const Waiter waiter = waiters[i];
        Warp& warp = of_warps_[waiter.warp];
        const Step& step = program_.steps[waiter.step];
        step.execute(warp.state, step, waiter.mask);
        if ((warp.state.holds(step.predicate_out[0]) & waiter.mask) != waiter.mask) {
            ++i;
            continue;
        }
        waiters[i] = waiters.back();
        waiters.pop_back();
        warp.waits_for_phase = false;
        const double when = use_barrier(warp, step, waiter.mask, now);
        complete(warp, waiter.step, when, when);
        warp.hold = std::max(warp.hold, when);
        wake(warp, now);
    }
}

}  // namespace gputomo::sim
