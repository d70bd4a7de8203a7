// The host's rounding mode, set for a while.
#pragma once

#include "sim/exec/lanes.hpp"

namespace gputomo::sim {

[[nodiscard]] constexpr bool is_directed(Rounding rounding) {
    return rounding == Rounding::zero || rounding == Rounding::down || rounding == Rounding::up;
}

/// Rounding::zero, down or up for as long as it lives. What is computed meanwhile must go through volatile objects.
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
