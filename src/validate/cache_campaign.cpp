#include "validate/cache_campaign.hpp"

#include "deduce/cache/policy/policy_model.hpp"
#include "sim/memory/geometry.hpp"
#include "units/workers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace gputomo::validate {
namespace {

/// Shares of the caches whose geometry and whose replacement policy must be found for validation to pass. Higher
/// shares would fail campaigns that draw hard caches; lower ones would pass a deduction that got worse.
constexpr double kGeometryWanted = 0.95, kPolicyWanted = 0.9;

/// Bytes of the array that the deduction may use, as in a scan.
constexpr std::uint64_t kArrayBytes = std::uint64_t{64} << 20;
/// The budget of loads, which is larger than that of a scan. A campaign shows what the deduction can do, not what it
/// does within the time of a scan.
constexpr std::uint64_t kGroupTestLoads = std::uint64_t{128} << 20;
/// A result that is wrong with a higher confidence than this counts as surely wrong. The odds of a way may differ
/// by `kOddsTolerance`. A campaign reports both, and nothing else depends on them.
constexpr double kSure = 0.95, kOddsTolerance = 0.02;

struct Truth {
    explicit Truth(const machine::Cache& cache) {
        const auto geometry = sim::geometry_of(cache, "cache");
        set_ways.assign(geometry.set_ways.begin(), geometry.set_ways.end());
        masks = geometry.index_masks;
        line = *cache.line;
        sector = *cache.sector;
        sets = *cache.sets;
        ways = *std::max_element(set_ways.begin(), set_ways.end());
        capacity = line * std::accumulate(set_ways.begin(), set_ways.end(), std::int64_t{0});
        policy = *cache.policy;
        if (cache.way_odds) odds = *cache.way_odds;
        std::sort(odds.begin(), odds.end(), std::greater<>());
    }
    [[nodiscard]] bool unequal() const {
        return std::any_of(set_ways.begin(), set_ways.end(), [&](auto w) { return w != ways; });
    }
    std::int64_t line = 0, sector = 0, sets = 0, ways = 0, capacity = 0;
    std::vector<std::int64_t> set_ways;
    std::vector<std::uint64_t> masks;
    std::string policy;
    std::vector<double> odds;
};

/// The reduced row echelon form over GF(2), by lowest bits. All sets of masks that divide addresses into the same
/// groups have the same form.
std::vector<std::uint64_t> reduced(std::vector<std::uint64_t> masks) {
    for (std::size_t i = 0; i < masks.size(); ++i) {
        std::swap(masks[i],
                  *std::min_element(masks.begin() + static_cast<std::ptrdiff_t>(i), masks.end(),
                                    [](auto a, auto b) { return std::countr_zero(a) < std::countr_zero(b); }));
        const std::uint64_t lowest = masks[i] & (~masks[i] + 1);
        for (std::size_t j = 0; j < masks.size(); ++j)
            if (j != i && (masks[j] & lowest) != 0) masks[j] ^= masks[i];
    }
    std::sort(masks.begin(), masks.end());
    return masks;
}

std::vector<std::uint64_t> masks_of(const deduce::CacheFindings& found) {
    std::vector<std::uint64_t> masks(found.index_hash.begin(), found.index_hash.end());
    for (const auto bit : found.index_bits) masks.push_back(std::uint64_t{1} << bit);
    const auto sets = static_cast<std::uint64_t>(std::max<std::int64_t>(1, found.sets.value));
    if (masks.empty() && std::has_single_bit(sets))
        for (std::uint64_t i = 1; i < sets; i *= 2) masks.push_back(static_cast<std::uint64_t>(found.line.value) * i);
    return masks;
}

bool index_right(const Truth& truth, const deduce::CacheFindings& found) {
    if (truth.masks.empty() && !std::has_single_bit(static_cast<std::uint64_t>(truth.sets)))
        return found.index == "modulo";
    std::vector<std::uint64_t> masks = truth.masks;
    for (std::uint64_t i = 1; truth.masks.empty() && i < static_cast<std::uint64_t>(truth.sets); i *= 2)
        masks.push_back(static_cast<std::uint64_t>(truth.line) * i);
    return reduced(masks) == reduced(masks_of(found));
}

/// Whether the policy is that of the cache, or one that behaves identically with its number of ways.
bool policy_right(const Truth& truth, const deduce::PolicyFinding& found) {
    if (truth.ways == 1 || found.name == truth.policy) return true;
    const auto modelled = [](std::string_view name) {
        return name == "tree-plru" || std::ranges::count(deduce::candidate_policies(), name) > 0;
    };
    return modelled(truth.policy) && modelled(found.name) &&
           deduce::equivalent_policies(truth.policy, found.name, static_cast<std::uint32_t>(truth.ways));
}

bool odds_right(const Truth& truth, const deduce::PolicyFinding& found) {
    return std::equal(truth.odds.begin(), truth.odds.end(), found.odds.begin(), found.odds.end(),
                      [](double a, double b) { return std::abs(a - b) <= kOddsTolerance; });
}

void judge(const Truth& truth, const deduce::CacheFindings& found, CacheCase& result) {
    const auto differs = [&](const char* name, const deduce::Finding& finding, std::int64_t value) {
        const bool wrong = finding.value != value || finding.confidence <= 0.5;
        if (finding.value != value && finding.confidence > kSure) result.surely_wrong.emplace_back(name);
        return wrong;
    };
    const auto unequal = truth.unequal() ? truth.set_ways : std::vector<std::int64_t>{};
    bool wrong = differs("capacity", found.capacity, truth.capacity);
    wrong = differs("line", found.line, truth.line) || wrong;
    wrong = differs("ways", found.ways, truth.ways) || wrong;
    wrong = differs("sets", found.sets, truth.sets) || wrong;
    static_cast<void>(differs("sector", found.sector, truth.sector));
    result.geometry = !wrong && found.set_ways == unequal;
    if (found.ways.confidence > kSure && found.set_ways != unequal) result.surely_wrong.emplace_back("set_ways");
    result.index = index_right(truth, found);
    if (found.ways.confidence > kSure && !result.index) result.surely_wrong.emplace_back("index");
    result.policy = policy_right(truth, found.policy);
    if (found.policy.confidence > kSure && !result.policy) result.surely_wrong.emplace_back("policy");
    result.odds = truth.policy != "way-odds" || odds_right(truth, found.policy);
}

std::string in_words(const Truth& t) {
    return fmt::format("{} B: line {} ({}), {} sets of {}{}, {}{}, {}", t.capacity, t.line, t.sector, t.sets, t.ways,
                       t.unequal() ? " (unequal)" : "", t.masks.empty() ? "modulo" : "masks ",
                       t.masks.empty() ? "" : fmt::format("{:#x}", fmt::join(t.masks, " ")), t.policy);
}

std::string in_words(const deduce::CacheFindings& f) {
    return fmt::format("{} B ({:.3f}): line {} ({}), {} sets of {}{}, {}{}, {}{} ({:.3f}){}{}", f.capacity.value,
                       f.capacity.confidence, f.line.value, f.sector.value, f.sets.value, f.ways.value,
                       f.set_ways.empty() ? "" : " (unequal)", f.index,
                       f.index_hash.empty() ? "" : fmt::format(" {:#x}", fmt::join(f.index_hash, " ")), f.policy.name,
                       fmt::join(f.policy.candidates, "/"), f.policy.confidence, f.remarks.empty() ? "" : "; ",
                       fmt::join(f.remarks, "; "));
}

}  // namespace

CacheCase deduce_random_cache(std::uint64_t seed, ReadingNoise noise) {
    const auto cache = random_cache(seed);
    const Truth truth(cache);
    CachePath path(cache, noise, seed);
    const auto fits = std::bit_floor(static_cast<std::uint64_t>(truth.capacity));
    const auto found = deduce::deduce_geometry(std::ref(path), {.threshold = path.threshold(),
                                                                .fits = fits / (1 + seed % 2),
                                                                .overflows = 2 * fits,
                                                                .buffer_bytes = kArrayBytes,
                                                                .group_test_loads = kGroupTestLoads,
                                                                .seed = seed,
                                                                .base = path.base()});
    CacheCase result{.seed = seed, .truth = in_words(truth), .found = in_words(found), .loads = path.loads()};
    judge(truth, found, result);
    return result;
}

std::vector<CacheCase> run(const CacheCampaign& campaign) {
    std::vector<CacheCase> cases(static_cast<std::size_t>(campaign.caches));
    const auto deduce = [&](int i) {
        cases[static_cast<std::size_t>(i)] =
            deduce_random_cache(campaign.seed * 1'000'003 + static_cast<std::uint64_t>(i), campaign.noise);
    };
    spread(campaign.caches, campaign.threads, deduce, campaign.progress);
    return cases;
}

bool is_recovered(const CacheCase& one) {
    return one.geometry && one.index && one.policy && one.odds && one.surely_wrong.empty();
}

CacheTally tally_of(const std::vector<CacheCase>& cases) {
    CacheTally all{.caches = cases.size()};
    for (const auto& one : cases) {
        all.geometry += one.geometry ? 1 : 0;
        all.index += one.index ? 1 : 0;
        all.policy += one.policy ? 1 : 0;
        all.odds_wrong += one.odds ? 0 : 1;
        all.surely_wrong += one.surely_wrong.size();
        all.loads += one.loads;
    }
    return all;
}

bool passes(const CacheTally& tally) {
    const auto wanted = [&](double share) { return share * static_cast<double>(tally.caches); };
    return static_cast<double>(tally.geometry) >= wanted(kGeometryWanted) &&
           static_cast<double>(tally.policy) >= wanted(kPolicyWanted) && tally.surely_wrong == 0;
}

}  // namespace gputomo::validate
