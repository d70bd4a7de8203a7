// Random caches, each deduced blind from hits and misses, compared with what they are.
#pragma once

#include "deduce/cache/geometry.hpp"
#include "validate/random_cache.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gputomo::validate {

struct CacheCampaign {
    int caches = 60;
    std::uint64_t seed = 1;
    ReadingNoise noise;
    unsigned threads = 2;
    /// Called with the number of caches done, one call at a time; throws Interrupted to stop.
    std::function<void(int done)> progress;
};

struct CacheCase {
    std::uint64_t seed = 0;
    std::string truth, found;               ///< in words
    bool geometry = false;                  ///< capacity, line, ways and sets are right, unequal sets included
    bool index = false;                     ///< the sets are chosen as said
    bool policy = false;                    ///< right, or left between policies that do the same with so few ways
    bool odds = true;                       ///< of each way within 0.02, where ways differ
    std::vector<std::string> surely_wrong;  ///< what is wrong with a confidence above 0.95
    std::uint64_t loads = 0;
};

/// What deduction finds on one random cache.
[[nodiscard]] CacheCase deduce_random_cache(std::uint64_t seed, ReadingNoise noise);
/// The same for the same caches, seed and noise, whatever the number of threads.
[[nodiscard]] std::vector<CacheCase> run(const CacheCampaign& campaign);

}  // namespace gputomo::validate
