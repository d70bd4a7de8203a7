// Random single caches with a known geometry, and a fast memory path with nothing but such a cache in it.
#pragma once

#include "deduce/cache/chase.hpp"
#include "machine/machine.hpp"
#include "sim/memory/tag_array.hpp"

#include <cstdint>
#include <random>

namespace gputomo::validate {

/// 1 KB to 4 MB, lines of 16 to 256 bytes, 1 to 128 ways, sets a power of two or not, unequal in a fifth of the cases,
/// chosen by bits or XORs of address bits in a third; any policy that is simulated. The same for a seed on every
/// platform.
[[nodiscard]] machine::Cache random_cache(std::uint64_t seed);

struct ReadingNoise {
    double jitter_cycles = 0;     ///< standard deviation of what is added to each reading
    double outlier_fraction = 0;  ///< share of readings that are slow by accident
};

/// Answers chases with hits and misses of one cache, which is simulated as in a whole GPU but without the GPU around
/// it.
class CachePath {
public:
    CachePath(const machine::Cache& cache, ReadingNoise noise, std::uint64_t seed);
    [[nodiscard]] deduce::ChaseTrace operator()(const deduce::ChaseRequest& request);
    [[nodiscard]] double threshold() const { return (hit_ + miss_) / 2; }
    /// Address of the array's start.
    [[nodiscard]] std::uint64_t base() const { return base_; }
    [[nodiscard]] std::uint64_t loads() const { return loads_; }

private:
    sim::TagArray tags_;
    ReadingNoise noise_;
    std::mt19937_64 random_;
    std::normal_distribution<double> jitter_;
    double hit_ = 0, miss_ = 0;
    std::uint64_t base_ = 0;
    std::uint64_t loads_ = 0;
};

}  // namespace gputomo::validate
