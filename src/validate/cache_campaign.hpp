// Validates the cache deduction: deduces random caches from hits and misses alone and compares the results with the
// truth.
#pragma once

#include "deduce/cache/geometry/geometry.hpp"
#include "validate/random_cache.hpp"

#include <cstddef>
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
    /// Is called with the number of caches done, from one thread at a time; throws Interrupted to stop.
    std::function<void(int done)> progress;
};

struct CacheCase {
    std::uint64_t seed = 0;
    std::string truth, found;               ///< in words
    bool geometry = false;                  ///< capacity, line, ways and sets are right, also of unequal sets
    bool index = false;                     ///< the rule that maps addresses to sets is right
    bool policy = false;                    ///< right, or indistinguishable from the truth with that many ways
    bool odds = true;                       ///< right within 0.02 for each way; true for other policies
    std::vector<std::string> surely_wrong;  ///< names of the results that are wrong with a confidence above 0.95
    std::uint64_t loads = 0;                ///< loads that the deduction used
};

/// Deduces the random cache of this seed.
[[nodiscard]] CacheCase deduce_random_cache(std::uint64_t seed, ReadingNoise noise);
/// Deduces `caches` random caches. The result does not depend on the number of threads.
[[nodiscard]] std::vector<CacheCase> run(const CacheCampaign& campaign);

/// Whether everything about the cache was found, and nothing wrong is sure.
[[nodiscard]] bool is_recovered(const CacheCase& one);

/// Counts over the caches of a campaign.
struct CacheTally {
    std::size_t caches = 0;
    std::size_t geometry = 0, index = 0, policy = 0;  ///< caches of which these are right
    std::size_t odds_wrong = 0;                       ///< caches whose odds of single ways are wrong
    std::size_t surely_wrong = 0;                     ///< results that are wrong with a confidence above 0.95
    std::uint64_t loads = 0;
};
[[nodiscard]] CacheTally tally_of(const std::vector<CacheCase>& cases);
/// Whether validation passes: nearly all geometries and policies are found, and nothing is surely wrong.
[[nodiscard]] bool passes(const CacheTally& tally);

}  // namespace gputomo::validate
