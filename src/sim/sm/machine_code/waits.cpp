// Machine code: warps that wait for what another block writes.
#include "sim/sm/machine_code/sass_engine.hpp"

namespace gputomo::sim {

void SassEngine::watch(const Warp& warp, const Step& step, std::size_t at, std::uint32_t mask) {
    if (visible_.kind[at] == machine_code::Visible::none || mask == 0) return;
    machine_code::WaitWatch& watch = watches_[warp.block];
    watch.note(warp.state, blocks_[warp.block].index, step, at, mask);
    if (!counters_.waits_at.empty()) return;
    // A swap that repeats itself is a lock, and a load past the SM's caches looks for news. Other loads may repeat
    // themselves for other reasons.
    const auto looks = [this](std::size_t read) {
        return accesses_[read].skips_near || visible_.kind[read] == machine_code::Visible::read_and_write;
    };
    for (const machine_code::Wait& wait : watch.seen())
        if (!wait.shared && (wait.certain || looks(wait.step)))
            counters_.waits_at = machine_code::text_of(program_, wait.step);
}

}  // namespace gputomo::sim
