// Times in which the whole memory stands still, as for a refresh.
#pragma once

#include "machine/machine.hpp"

namespace gputomo::sim {

/// Two clocks: real time, and the working time of the memory, which stops in each pause. What is booked in working time
/// stands still in pauses and goes on behind them. The first pause begins an interval after time 0.
class Pauses {
public:
    /// memory.pause_interval and memory.pause_time; none where neither is given. Throws InputError.
    explicit Pauses(const machine::Machine& machine);

    /// Working time at the real time `now`, in cycles.
    [[nodiscard]] double working(double now) const;
    /// When work that may start at that working time does start; no sooner than `now`.
    [[nodiscard]] double real(double working, double now) const;
    /// Part of the time in which the memory works.
    [[nodiscard]] double working_share() const { return interval_ > 0 ? 1 - pause_ / interval_ : 1; }

private:
    double interval_ = 0;  ///< cycles; 0: there are none
    double pause_ = 0;
};

}  // namespace gputomo::sim
