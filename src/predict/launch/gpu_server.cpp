#include "predict/launch/gpu_server.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::predict {
namespace {

/// The others' requests are booked in so many equal parts at most, and in parts that are at least as far apart as the
/// calendar's slots are long.
constexpr double kMostParts = 8;

}  // namespace

double GpuServer::take(double now, double cycles, const Askers& askers) {
    if (cycles <= 0) return now;
    busy_ += cycles;
    const double parts = std::min(kMostParts, std::floor(askers.apart / costs::Calendar::kSlot));
    if (parts < 2 || askers.sms <= 1) return calendar_.reserve(now, cycles);
    const double own = cycles / askers.sms, part = (cycles - own) / parts;
    const double first = std::max(0.0, now - askers.apart / 2);
    for (double i = 0; i < parts; ++i) {
        const double asked = first + askers.apart * (i + 0.5) / parts;
        if (asked < now) (void)calendar_.reserve(asked, part);
    }
    const double start = calendar_.reserve(now, own);
    for (double i = 0; i < parts; ++i) {
        const double asked = first + askers.apart * (i + 0.5) / parts;
        if (asked >= now) (void)calendar_.reserve(asked, part);
    }
    return start;
}

}  // namespace gputomo::predict
