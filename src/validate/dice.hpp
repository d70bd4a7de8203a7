// Random draws that are the same on every platform, unlike the distributions of <random>.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>

namespace gputomo::validate {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}

    /// Uniform in low..high, both included.
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
    }
    /// In low..high; all octaves are equally likely.
    std::int64_t octaves(std::int64_t low, std::int64_t high) {
        std::int64_t count = 0;
        while (low << (count + 1) <= high) ++count;
        const std::int64_t value = low << between(0, count);
        return between(value, std::min(high, value * 2));
    }
    /// Uniform on a logarithmic scale from low to high, in a thousand steps.
    std::int64_t logarithmic(std::int64_t low, std::int64_t high) {
        const double part = static_cast<double>(between(0, 1000)) / 1000;
        return std::clamp<std::int64_t>(
            std::llround(static_cast<double>(low) *
                         std::pow(static_cast<double>(high) / static_cast<double>(low), part)),
            low, high);
    }
    /// True with a probability of `percent` / 100.
    bool chance(int percent) { return between(0, 99) < percent; }
    /// Uniform in low..high, a multiple of 1/1000.
    double share(double low, double high) {
        return static_cast<double>(between(std::llround(low * 1000), std::llround(high * 1000))) / 1000;
    }
    template <class T, std::size_t N>
    T one_of(const std::array<T, N>& choices) {
        return choices[static_cast<std::size_t>(between(0, std::int64_t{N} - 1))];
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace gputomo::validate
