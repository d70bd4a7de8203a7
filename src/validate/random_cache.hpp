// Random caches with a known geometry, and a fast simulation of pointer chases through a single cache.
#pragma once

#include "deduce/cache/chase/chase.hpp"
#include "machine/machine.hpp"
#include "sim/memory/tag_array.hpp"

#include <cstdint>
#include <random>

namespace gputomo::validate {

/// A cache of 1 KB to 4 MB with lines of 16 to 256 bytes, 1 to 128 ways and any policy that is simulated. The number of
/// sets need not be a power of two. A fifth of the caches have unequal sets, and a third select the set by address bits
/// or XORs of them. A seed gives the same cache on every platform.
[[nodiscard]] machine::Cache random_cache(std::uint64_t seed);

struct ReadingNoise {
    double jitter_cycles = 0;     ///< standard deviation of the jitter, whose absolute value is added to each reading
    double outlier_fraction = 0;  ///< share of readings that are outliers, up to 2000 cycles slower
};

/// Answers pointer chases with the hits and misses of one cache. The cache is simulated as in a whole GPU, without the
/// rest of the GPU.
class CachePath {
public:
    CachePath(const machine::Cache& cache, ReadingNoise noise, std::uint64_t seed);
    [[nodiscard]] deduce::ChaseTrace operator()(const deduce::ChaseRequest& request);
    /// Latency in cycles between a hit and a miss.
    [[nodiscard]] double threshold() const { return (hit_ + miss_) / 2; }
    /// The address at which the array starts.
    [[nodiscard]] std::uint64_t base() const { return base_; }
    /// The loads of all chases so far.
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
