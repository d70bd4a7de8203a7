// Latencies and issue slots of a matrix multiply-accumulate (MMA), from the rates of mixes of MMAs and adds.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace gputomo::deduce {

/// Cycles after which an add can use the result of an MMA and an MMA that of the add, less the latency of the add.
/// `pair`: cycles per instruction of one warp whose MMAs and adds alternate and each wait for the one before.
[[nodiscard]] double mma_to_add_latency(double pair, double add_latency);

/// A loop with `adds` adds for each MMA, and the most instructions of it that an SM issues per cycle.
struct MmaMix {
    int adds = 0;
    double rate = 0;
};

struct MmaSlots {
    std::vector<double> by_mix;      ///< adds that each MMA displaces, mix by mix
    double least = 0, most = 0;      ///< of by_mix
    double slots = 0;                ///< the middle of these two, and at least 1
    std::array<double, 2> interval;  ///< with what rates differ between runs; at least 1
    bool agree = false;              ///< whether the mixes give nearly the same number
};

/// The time that a group of adds and one MMA takes beyond the adds, in issue slots. `adds_alone`: the most adds that an
/// SM issues per cycle. Needs at least one mix.
[[nodiscard]] MmaSlots mma_slots(std::span<const MmaMix> mixes, double adds_alone);

}  // namespace gputomo::deduce
