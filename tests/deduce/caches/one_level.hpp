// One cache above memory, with noise, as a deduction sees it: through chases.
#pragma once

#include "deduce/cache/chase/chase.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace gputomo::deduce::caches {

/// A memory path whose structure the deduction does not know: one cache above memory, with noise.
struct Truth {
    std::uint64_t line = 64, sector = 64, ways = 4, sets = 16;
    std::string policy = "lru";
    double hit = 100, miss = 300;
    double outliers = 0, jitter = 0;
    bool hashed = false;
    [[nodiscard]] std::uint64_t capacity() const { return line * ways * sets; }
};

class OneLevel {
public:
    OneLevel(const Truth& truth, std::uint64_t seed) : t_(truth), sets_(truth.sets), random_(seed) {}
    /// Keeps its state from one request to the next, as a GPU's cache does.
    ChaseTrace operator()(const ChaseRequest& request);

private:
    struct Line {
        std::uint64_t number = 0, stamp = 0;
        std::vector<bool> sectors;
    };
    double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
    bool access(std::uint64_t address);

    Truth t_;
    std::vector<std::vector<Line>> sets_;
    std::uint64_t now_ = 0;
    std::mt19937_64 random_;
};

/// On a GPU a chase is a list of addresses, so that no address can appear twice.
[[nodiscard]] bool visits_no_address_twice(const ChaseRequest& request);

}  // namespace gputomo::deduce::caches
