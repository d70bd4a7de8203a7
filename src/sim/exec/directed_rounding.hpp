// Sets the host's rounding mode for the lifetime of an object.
#pragma once

#include "sim/exec/lanes.hpp"

namespace gputomo::sim {

[[nodiscard]] constexpr bool is_directed(Rounding rounding) {
    return rounding == Rounding::zero || rounding == Rounding::down || rounding == Rounding::up;
}

/// Rounds to zero, down or up while it lives. Operands and results of that time must go through volatile objects, so
/// that the compiler does not move the operation.
class RoundingGuard {
public:
    explicit RoundingGuard(Rounding rounding);
    ~RoundingGuard();
    RoundingGuard(const RoundingGuard&) = delete;
    RoundingGuard& operator=(const RoundingGuard&) = delete;

private:
    int before_;
};

}  // namespace gputomo::sim
