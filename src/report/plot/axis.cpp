#include "report/plot/axis.hpp"

namespace gputomo::report {
namespace {

/// The smallest round step that is not below `raw`.
double round_step(double raw, Ticks kind) {
    if (kind == Ticks::binary) return std::max(1.0, std::exp2(std::ceil(std::log2(raw))));
    const double magnitude = std::pow(10, std::floor(std::log10(raw)));
    const double step = magnitude * (raw / magnitude < 2 ? 2 : raw / magnitude < 5 ? 5 : 10);
    return kind == Ticks::whole ? std::max(1.0, step) : step;
}

/// About five round numbers within [low, high]. The loop counts them, because adding a step to a huge value may not
/// change it.
std::vector<double> linear_ticks(double low, double high, Ticks kind) {
    const double step = round_step((high - low) / 5, kind);
    const double first = std::ceil(low / step) * step;
    std::vector<double> ticks;
    for (int i = 0; i <= 10 && first + i * step <= high + 1e-9 * step; ++i) {
        const double tick = first + i * step;
        ticks.push_back(std::abs(tick) < 1e-9 * step ? 0 : tick);
    }
    return ticks;
}

std::vector<double> powers_of_two(double low_exponent, double high_exponent) {
    const int step = std::max(1, static_cast<int>(std::ceil((high_exponent - low_exponent) / 6)));
    std::vector<double> ticks;
    for (int exponent = static_cast<int>(std::ceil(low_exponent)); exponent <= high_exponent + 1e-9; exponent += step)
        ticks.push_back(std::exp2(exponent));
    return ticks;
}

}  // namespace

Axis::Axis(double low, double high, bool log, double from, double to, Ticks ticks)
    : log_(log), low_(scale(low)), high_(scale(high)), from_(from), to_(to), kind_(ticks) {
    const double largest = std::max(std::abs(low_), std::abs(high_));
    if (high_ - low_ > 1e-14 * largest && high_ - low_ > 1e-12) return;
    low_ -= std::max(1.0, largest / 1000);
    high_ += std::max(1.0, largest / 1000);
}

std::vector<double> Axis::ticks() const {
    if (!log_) return linear_ticks(low_, high_, kind_);
    auto ticks = powers_of_two(low_, high_);
    return ticks.size() >= 2 ? ticks : linear_ticks(std::exp2(low_), std::exp2(high_), kind_);  // within one octave
}

}  // namespace gputomo::report
