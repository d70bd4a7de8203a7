#include "validate/random_cache.hpp"

#include "sim/memory/geometry.hpp"
#include "validate/dice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gputomo::validate {
namespace {

/// The capacities that are drawn, in bytes.
constexpr std::int64_t kSmallest = 1 << 10, kLargest = std::int64_t{4} << 20;
/// The most ways of a cache with policy way-odds. The smallest probability of a way is then 1/18. More ways take
/// more loads to estimate.
constexpr std::int64_t kMostOdds = 16;
/// Outliers are up to this many cycles slower, a few times the latency of DRAM.
constexpr std::uint64_t kSlowestOutlier = 2000;

class CacheMaker {
public:
    explicit CacheMaker(std::uint64_t seed)
        : dice_(seed * 0x9E3779B97F4A7C15ULL + 1), source_{.source = fmt::format("random cache, seed {}", seed)} {}

    machine::Cache make() {
        const auto line = std::int64_t{16} << dice_.between(0, 4);
        const auto capacity = dice_.octaves(kSmallest, kLargest);
        const auto lines = std::max<std::int64_t>(1, capacity / line);
        const auto ways =
            std::min(dice_.chance(50) ? std::int64_t{1} << dice_.between(0, 7)
                                      : dice_.between(1, dice_.one_of(std::array<std::int64_t, 4>{8, 16, 32, 128})),
                     lines);
        auto sets = static_cast<std::uint64_t>(lines / ways);
        const auto kind = dice_.between(0, 14);  // 0 to 4: sets by address bits; 5 to 7: unequal sets; others: neither
        const bool linear = kind < 5 && sets >= 2, unequal = kind >= 5 && kind < 8;
        if (linear || dice_.chance(60)) sets = std::bit_floor(sets);
        if (unequal)
            sets = static_cast<std::uint64_t>(std::clamp<std::int64_t>(static_cast<std::int64_t>(sets), 2, 64));
        set(cache_.line, line);
        set(cache_.sector, line >= 64 && dice_.chance(25) ? line / 2 : line);
        set(cache_.sets, static_cast<std::int64_t>(sets));
        unequal ? make_unequal(static_cast<std::int64_t>(sets), ways) : set(cache_.ways, ways);
        if (linear)
            make_index(std::countr_zero(static_cast<std::uint64_t>(line)), std::countr_zero(sets));
        else
            set(cache_.index, "modulo");
        make_policy(ways, unequal);
        return std::move(cache_);
    }

private:
    template <class T>
    void set(machine::Field<T>& field, std::type_identity_t<T> value) {
        field.set(std::move(value), source_);
    }
    void make_unequal(std::int64_t sets, std::int64_t ways) {
        std::vector<std::int64_t> set_ways(static_cast<std::size_t>(sets), ways);
        if (dice_.chance(50))
            set_ways[static_cast<std::size_t>(dice_.between(0, sets - 1))] = 2 * ways + 1;
        else
            for (auto& w : set_ways) w = std::max<std::int64_t>(1, ways + dice_.between(-(ways / 2), ways / 2));
        set_ways.front() += 1;
        set(cache_.set_ways, std::move(set_ways));
    }
    /// Draws the rule that maps addresses to 2^bits sets. `shift` is the number of address bits within a line.
    void make_index(int shift, int bits) {
        std::vector<std::int64_t> masks, positions;
        const int top = std::min(shift + bits + 8, 24);
        for (int i = 0; i < bits; ++i) {
            masks.push_back(std::int64_t{1} << (shift + i));
            positions.push_back(shift + i);
        }
        if (dice_.chance(30)) {
            for (auto& position : positions) position += dice_.chance(50) ? 0 : 1;
            for (std::size_t i = 1; i < positions.size(); ++i)
                positions[i] = std::max(positions[i], positions[i - 1] + 1);
            set(cache_.index, "bits");
            set(cache_.index_bits, positions);
            return;
        }
        for (auto& mask : masks)
            for (int bit = shift + bits; bit < top; ++bit)
                if (dice_.chance(30)) mask |= std::int64_t{1} << bit;
        set(cache_.index, "hash");
        set(cache_.index_hash, masks);
    }
    void make_policy(std::int64_t ways, bool unequal) {
        static constexpr std::array<std::string_view, 10> kPolicies{
            "lru", "fifo", "tree-plru", "bit-plru", "nru", "srrip", "brrip", "slru", "random", "way-odds"};
        auto policy = dice_.one_of(kPolicies);
        if (policy == "way-odds" && (unequal || ways < 2 || ways > kMostOdds)) policy = "random";
        set(cache_.policy, std::string(policy));
        if (policy != "way-odds") return;
        // As on Fermi, one way is the victim three times as often as the others (Mei 2014, 4.1).
        std::vector<double> odds(static_cast<std::size_t>(ways), 1.0 / static_cast<double>(ways + 2));
        odds[static_cast<std::size_t>(dice_.between(0, ways - 1))] *= 3;
        set(cache_.way_odds, odds);
    }

    Dice dice_;
    machine::Provenance source_;
    machine::Cache cache_;
};

}  // namespace

machine::Cache random_cache(std::uint64_t seed) { return CacheMaker(seed).make(); }

CachePath::CachePath(const machine::Cache& cache, ReadingNoise noise, std::uint64_t seed)
    : tags_(std::make_shared<const sim::Geometry>(sim::geometry_of(cache, "cache")), seed),
      noise_(noise),
      random_(seed),
      jitter_(0, std::max(1e-9, noise.jitter_cycles)) {
    Dice dice(seed);
    hit_ = static_cast<double>(dice.between(20, 120));
    miss_ = hit_ + static_cast<double>(dice.between(40, 500));
    base_ = static_cast<std::uint64_t>(dice.between(1, 1 << 16)) << 16;
}

deduce::ChaseTrace CachePath::operator()(const deduce::ChaseRequest& request) {
    deduce::ChaseTrace trace;
    trace.latencies.reserve(request.offsets.size() * request.recorded_passes);
    const auto uniform = [&] { return static_cast<double>(random_() >> 11) * 0x1p-53; };
    for (std::uint32_t pass = 0; pass < request.warm_passes + request.recorded_passes; ++pass)
        for (const auto offset : request.offsets) {
            const std::uint64_t address = base_ + offset;
            const bool hit = tags_.lookup(address, tags_.sectors_of(address, 8), true).missing == 0;
            if (pass < request.warm_passes) continue;
            double latency = hit ? hit_ : miss_;
            if (noise_.jitter_cycles > 0) latency += std::abs(jitter_(random_));
            if (noise_.outlier_fraction > 0 && uniform() < noise_.outlier_fraction)
                latency += static_cast<double>(random_() % kSlowestOutlier);
            trace.latencies.push_back(latency);
        }
    loads_ += request.offsets.size() * (request.warm_passes + request.recorded_passes);
    return trace;
}

}  // namespace gputomo::validate
