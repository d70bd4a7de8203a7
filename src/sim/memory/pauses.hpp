// Pauses in which the whole memory stands still, as for a refresh.
#pragma once

#include "machine/machine.hpp"

namespace gputomo::sim {

/// Converts between real time and the working time of the memory, which stops in each pause. Work that is booked in
/// working time stands still in a pause and continues after it. The first pause begins one interval after time 0.
class Pauses {
public:
    /// From memory.pause_interval and memory.pause_time; without both there are no pauses. Throws InputError.
    explicit Pauses(const machine::Machine& machine);

    /// Working time at the real time `now`, in cycles.
    [[nodiscard]] double working(double now) const;
    /// The real time at which work starts that may start at `working`; not before `now`.
    [[nodiscard]] double real(double working, double now) const;
    /// The share of real time in which the memory works.
    [[nodiscard]] double working_share() const { return interval_ > 0 ? 1 - pause_ / interval_ : 1; }

private:
    double interval_ = 0;  ///< cycles; 0: there are no pauses
    double pause_ = 0;
};

}  // namespace gputomo::sim
