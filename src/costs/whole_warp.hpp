// What a whole warp waits for longer than one thread does.
#pragma once

namespace gputomo::costs {

/// Cycles by which a result comes later where both halves of a warp take part (Volkov 2016, 6.1); 0 where unknown.
/// `unit`: a pipeline, or shared memory, of a description.
template <class Unit>
[[nodiscard]] double whole_warp_cycles(const Unit& unit) {
    return unit.warp_latency && unit.latency ? static_cast<double>(*unit.warp_latency - *unit.latency) : 0;
}

}  // namespace gputomo::costs
