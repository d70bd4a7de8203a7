#include "sim/memory/pauses.hpp"

#include "sim/memory/description.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::sim {
namespace {

/// Work that would start within this share of an interval before a pause starts after the pause. The value lies above
/// the rounding error of times.
constexpr double kRounding = 1e-7;

}  // namespace

Pauses::Pauses(const machine::Machine& machine) {
    const auto& memory = machine.memory;
    if (!memory.pause_interval && !memory.pause_time) return;
    const double cycles_per_ns = need_rate(machine.clock.sm_mhz, "clock.sm_mhz") / 1e3;
    interval_ = need_rate(memory.pause_interval, "memory.pause_interval") * cycles_per_ns;
    pause_ = need_rate(memory.pause_time, "memory.pause_time") * cycles_per_ns;
    if (!(pause_ < interval_))
        reject("memory.pause_time", fmt::format("found {} ns", *memory.pause_time),
               fmt::format("less than memory.pause_interval, {} ns", *memory.pause_interval));
}

double Pauses::working(double now) const {
    if (interval_ == 0 || now < interval_) return now;
    const double begun = std::floor(now / interval_), last = begun * interval_;
    return now - (begun - 1) * pause_ - std::min(now - last, pause_);
}

double Pauses::real(double working, double now) const {
    if (interval_ == 0) return std::max(now, working);
    const double over =
        std::max(0.0, std::floor((working - interval_) / (interval_ - pause_) + kRounding) + 1);  // earlier pauses
    return std::max(now, working + over * pause_);
}

}  // namespace gputomo::sim
