#include "sim/memory/geometry.hpp"

#include "sim/memory/description.hpp"
#include "sim/memory/replacement.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

namespace gputomo::sim {
namespace {

/// Bits of a sector mask.
constexpr std::uint64_t kMaxSectors = 32;
/// Catches typing errors that would take all memory of the host.
constexpr std::int64_t kMaxWays = 1 << 24;
/// Odds are written with few digits, so that their sum may differ from 1 by this much.
constexpr double kOddsTolerance = 1e-3;

std::uint32_t log2_of(const machine::Integer& field, const std::string& path) {
    const auto value = need_count(field, path);
    if (!std::has_single_bit(value)) reject(path, fmt::format("found {}", value), "a power of two");
    return static_cast<std::uint32_t>(std::countr_zero(value));
}

std::uint64_t total(const std::vector<std::uint32_t>& set_ways) {
    return std::accumulate(set_ways.begin(), set_ways.end(), std::uint64_t{0});
}

std::vector<std::uint32_t> unequal_sets(const machine::Integers& set_ways, const std::string& where) {
    std::vector<std::uint32_t> sets;
    for (const auto ways : *set_ways) {
        if (ways < 1 || ways > kMaxWays)
            reject(where + ".set_ways", fmt::format("found {}", ways), "at least one way in each set");
        sets.push_back(static_cast<std::uint32_t>(ways));
    }
    if (sets.empty()) reject(where + ".set_ways", "found an empty list", "the ways of each set");
    return sets;
}

/// `blocks`: lines or entries of all sets, where the size is known.
template <class Part>
std::vector<std::uint32_t> sets_of(const Part& part, std::optional<std::uint64_t> blocks, const std::string& where) {
    if (part.set_ways) {
        auto sets = unequal_sets(part.set_ways, where);
        if (part.sets && *part.sets != static_cast<std::int64_t>(sets.size()))
            reject(where + ".sets", fmt::format("found {}", *part.sets),
                   fmt::format("{}, as many as set_ways lists", sets.size()));
        return sets;
    }
    const bool derive = blocks && part.ways.known() != part.sets.known();
    if (!derive) {
        const auto ways = need_count(part.ways, where + ".ways", kMaxWays);
        const auto sets = need_count(part.sets, where + ".sets", kMaxWays);
        if (ways * sets > static_cast<std::uint64_t>(kMaxWays))
            reject(where + ".sets", fmt::format("found {} sets of {} ways", sets, ways),
                   fmt::format("at most {} lines", kMaxWays));
        return std::vector<std::uint32_t>(sets, static_cast<std::uint32_t>(ways));
    }
    const std::string given = where + (part.ways ? ".ways" : ".sets");
    const auto factor = need_count(part.ways ? part.ways : part.sets, given, kMaxWays);
    if (*blocks % factor != 0)
        reject(given, fmt::format("found {}", factor),
               fmt::format("a divisor of {}, the number of lines or entries", *blocks));
    const std::uint64_t ways = part.ways ? factor : *blocks / factor;
    return std::vector<std::uint32_t>(*blocks / ways, static_cast<std::uint32_t>(ways));
}

void read_policy(const machine::Text& policy, Geometry& to, const std::string& where) {
    const auto names = replacement_policies();
    const std::string expected = fmt::format("one of {}", fmt::join(names, ", "));
    const bool direct_mapped = std::all_of(to.set_ways.begin(), to.set_ways.end(), [](auto ways) { return ways == 1; });
    if (!policy && direct_mapped) {  // no victim is ever chosen
        to.policy = names.front();
        return;
    }
    to.policy = need(policy, where + ".policy", expected);
    if (std::find(names.begin(), names.end(), to.policy) == names.end())
        reject(where + ".policy", fmt::format("found \"{}\"", to.policy),
               expected + ", because only a definite policy can be simulated");
}

void read_way_odds(const machine::Cache& cache, Geometry& to, const std::string& where) {
    if (to.policy != "way-odds") return;
    const std::string path = where + ".way_odds";
    to.way_odds = need(cache.way_odds, path, "the probability of each way, with policy way-odds");
    double sum = 0;
    for (const double odds : to.way_odds) {
        if (!(odds >= 0)) reject(path, fmt::format("found {}", odds), "probabilities");
        sum += odds;
    }
    if (std::abs(sum - 1) > kOddsTolerance) reject(path, fmt::format("found a sum of {}", sum), "a sum of 1");
    for (const auto ways : to.set_ways)
        if (ways != to.way_odds.size())
            reject(path, fmt::format("found {} values", to.way_odds.size()), fmt::format("{}, one for each way", ways));
    for (double& odds : to.way_odds) odds /= sum;
}

void add_mask(std::uint64_t mask, Geometry& to, const std::string& path) {
    if (mask == 0 || static_cast<std::uint32_t>(std::countr_zero(mask)) < to.block_shift)
        reject(path, fmt::format("found a choice by address bits 0x{:x}", mask),
               fmt::format("address bits from {} up, above the offset in a line", to.block_shift));
    to.index_masks.push_back(mask);
}

void read_index(const machine::Cache& cache, Geometry& to, const std::string& where) {
    const std::string index = cache.index.value_or("modulo");
    const std::string expected = fmt::format("one for each of the log2({}) bits of the set number", to.set_ways.size());
    if (index == "modulo") return;
    if (index != "bits" && index != "hash")
        reject(where + ".index", fmt::format("found \"{}\"", index), "modulo, bits or hash");
    const std::string path = where + (index == "bits" ? ".index_bits" : ".index_hash");
    const auto& values = need(index == "bits" ? cache.index_bits : cache.index_hash, path, expected);
    for (const auto value : values) {
        if (index == "bits" && (value < 0 || value > 63))
            reject(path, fmt::format("found {}", value), "numbers of address bits");
        add_mask(index == "bits" ? std::uint64_t{1} << value : static_cast<std::uint64_t>(value), to, path);
    }
    if (values.size() > 24 || to.set_ways.size() != std::size_t{1} << values.size())
        reject(path, fmt::format("found {} values", values.size()), expected);
}

/// Consecutive blocks go to the sets in turn, and full sets are skipped. Consecutive blocks therefore fit up to the
/// number of all ways.
std::vector<std::uint32_t> dealt_sets(const std::vector<std::uint32_t>& set_ways) {
    std::vector<std::uint32_t> dealt, left = set_ways;
    for (std::uint64_t blocks = total(set_ways); dealt.size() < blocks;)
        for (std::uint32_t set = 0; set < left.size(); ++set)
            if (left[set] > 0) dealt.push_back(set), --left[set];
    return dealt;
}

}  // namespace

Geometry geometry_of(const machine::Cache& cache, const std::string& where) {
    Geometry geometry;
    geometry.block_shift = log2_of(cache.line, where + ".line");
    geometry.sector_shift = cache.sector ? log2_of(cache.sector, where + ".sector") : geometry.block_shift;
    if (geometry.sector_shift > geometry.block_shift ||
        std::uint64_t{1} << (geometry.block_shift - geometry.sector_shift) > kMaxSectors)
        reject(where + ".sector", fmt::format("found {}", cache.sector.value),
               fmt::format("1 to {} whole sectors in a line of {} bytes", kMaxSectors, *cache.line));
    std::optional<std::uint64_t> blocks;
    if (cache.capacity) {
        const auto capacity = need_count(cache.capacity, where + ".capacity");
        if (capacity % (std::uint64_t{1} << geometry.block_shift) != 0)
            reject(where + ".capacity", fmt::format("found {}", capacity), "a whole number of lines");
        blocks = capacity >> geometry.block_shift;
    }
    geometry.set_ways = sets_of(cache, blocks, where);
    if (blocks && *blocks > total(geometry.set_ways))
        reject(
            where + ".capacity", fmt::format("found {}", *cache.capacity),
            fmt::format("{} at most, the line size times all ways", total(geometry.set_ways) << geometry.block_shift));
    if (blocks && *blocks < total(geometry.set_ways)) geometry.data_lines = *blocks;
    read_policy(cache.policy, geometry, where);
    read_way_odds(cache, geometry, where);
    read_index(cache, geometry, where);
    return geometry;
}

Geometry geometry_of(const machine::Tlb& tlb, const std::string& where) {
    Geometry geometry;
    geometry.block_shift = geometry.sector_shift = log2_of(tlb.span, where + ".span");
    std::optional<std::uint64_t> entries;
    if (tlb.entries) entries = need_count(tlb.entries, where + ".entries", kMaxWays);
    geometry.set_ways = sets_of(tlb, entries, where);
    const auto found = total(geometry.set_ways);
    if (entries && *entries != found)
        reject(where + ".entries", fmt::format("found {}", *entries), fmt::format("{}, the sum of all ways", found));
    if (tlb.reach && static_cast<std::uint64_t>(*tlb.reach) != found << geometry.block_shift)
        reject(where + ".reach", fmt::format("found {}", *tlb.reach),
               fmt::format("{}, entries times span", found << geometry.block_shift));
    read_policy(tlb.policy, geometry, where);
    if (geometry.policy == "way-odds")
        reject(where + ".policy", "found \"way-odds\"", "a policy without odds, which only caches have");
    const std::string index = tlb.index.value_or("modulo");
    if (index != "modulo" && index != "dealt")
        reject(where + ".index", fmt::format("found \"{}\"", index), "modulo or dealt");
    if (index == "dealt") geometry.dealt = dealt_sets(geometry.set_ways);
    return geometry;
}

}  // namespace gputomo::sim
