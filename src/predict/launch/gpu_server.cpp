#include "predict/launch/gpu_server.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gputomo::predict {
namespace {

/// The others' requests are booked in at most this number of equal parts. Parts are at least as far apart as the
/// calendar's slots are long.
constexpr double kMostParts = 8;

}  // namespace

double GpuServer::take(double now, double cycles, const Askers& askers) {
    if (cycles <= 0) return now;
    busy_ += cycles;
    cycles *= askers.slower;
    const double apart = std::min(askers.apart, kMostApart);
    const double parts = std::min(kMostParts, std::floor(apart / costs::Calendar::kSlot));
    const bool in_step = parts < 2 || askers.sms <= 1;
    const double own = in_step ? cycles : cycles / askers.sms, part = (cycles - own) / parts;
    const double first = std::max(0.0, now - apart / 2);
    double next = 0;
    const auto let_others_ask = [&](double until) {
        for (; next < parts && !in_step; ++next) {
            const double asked = first + apart * (next + 0.5) / parts;
            if (asked >= until) return;
            (void)calendar_.reserve(asked, part);
        }
    };
    let_others_ask(now);
    const double start = calendar_.reserve(now, own);
    served_until_ = std::max(served_until_, start + own);
    let_others_ask(std::numeric_limits<double>::infinity());
    return start;
}

}  // namespace gputomo::predict
