// Checks that the leaves of a description agree with each other and lie in a sensible range.
#include "machine/json.hpp"

#include "machine/paths.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

namespace gputomo::machine {
namespace {

/// Leaves that must not be 0: sizes, counts that others are divided by, and rates.
constexpr std::array<std::string_view, 27> kPositive{"sms",
                                                     "sms_per_tpc",
                                                     "sms_per_cpc",
                                                     "warp_size",
                                                     "max_threads_per_block",
                                                     "max_threads_per_sm",
                                                     "max_blocks_per_sm",
                                                     "registers_per_sm",
                                                     "line",
                                                     "sector",
                                                     "capacity",
                                                     "ways",
                                                     "sets",
                                                     "span",
                                                     "entries",
                                                     "page",
                                                     "reach",
                                                     "banks",
                                                     "bank_width",
                                                     "access_group",
                                                     "lanes",
                                                     "throughput",
                                                     "instructions",
                                                     "schedulers_per_sm",
                                                     "sm_mhz",
                                                     "read_bandwidth",
                                                     "peak_bandwidth"};

/// Ranges far wider than any GPU needs. Within them arithmetic with 64-bit integers and doubles stays exact and
/// simulations end; wider ranges would admit descriptions that hang the simulator.
struct Range {
    Unit unit;
    double least, most;
};
constexpr Range kSensible[] = {{Unit::cycles, 0, 1e9},
                               {Unit::nanoseconds, 0, 1e12},
                               {Unit::megahertz, 0.01, 1e6},
                               {Unit::gigabytes_per_second, 1e-3, 1e9},
                               {Unit::bytes_per_cycle, 1e-6, 1e9},
                               {Unit::operations_per_cycle, 1e-6, 1e9}};

/// Tolerance of the sum of probabilities: they are written with few digits, so that their sum is only about 1.
constexpr double kOddsTolerance = 0.01;

/// The product; nullopt if it overflows.
std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
    return result;
}

class Checker {
public:
    explicit Checker(std::string_view origin) : origin_(origin) {}

    [[noreturn]] void fail(const std::string& path, const std::string& what) const {
        throw InputError(fmt::format("{}: {}: {}", origin_, path, what));
    }

    void positive(const std::string& path, const FieldInfo& info, const Leaf& leaf) const {
        if (leaf.knowledge != Knowledge::known ||
            std::find(kPositive.begin(), kPositive.end(), info.name) == kPositive.end())
            return;
        const auto* integer = std::get_if<std::int64_t>(&leaf.value);
        const auto* real = std::get_if<double>(&leaf.value);
        if ((integer != nullptr && *integer == 0) || (real != nullptr && *real == 0))
            fail(path, "found 0; expected a positive number");
    }

    /// Numbers of a description, alone or in a list, are never negative. Those of time lie in the range of their unit.
    void sensible(const std::string& path, const FieldInfo& info, const Leaf& leaf) const {
        if (leaf.knowledge != Knowledge::known) return;
        const auto each = [&](const auto& values) {
            for (const auto value : values) sensible(path, info.unit, static_cast<double>(value));
        };
        if (const auto* const integer = std::get_if<std::int64_t>(&leaf.value)) each(std::array{*integer});
        if (const auto* const real = std::get_if<double>(&leaf.value)) each(std::array{*real});
        if (const auto* const integers = std::get_if<std::vector<std::int64_t>>(&leaf.value)) each(*integers);
        if (const auto* const reals = std::get_if<std::vector<double>>(&leaf.value)) each(*reals);
    }

    void sensible(const std::string& path, Unit unit, double value) const {
        for (const auto& [ranged, least, most] : kSensible)
            if (unit == ranged && !(value >= least && value <= most))
                fail(path, fmt::format("found {} {}; expected {} to {}", value, unit_name(unit), least, most));
        if (!(value >= 0)) fail(path, fmt::format("found {}; expected 0 or more", value));
    }

    void at_most(const std::string& path, const Integer& small, const std::string& limit_path,
                 const Integer& limit) const {
        if (small && limit && *small > *limit)
            fail(path, fmt::format("found {}; expected at most {} as in {}", *small, *limit, limit_path));
    }

    void low_high(const std::string& path, const Integers& range) const {
        if (range && (range.value.size() != 2 || range.value[0] > range.value[1]))
            fail(path, fmt::format("found [{}]; expected [smallest, largest]", fmt::join(range.value, ", ")));
    }

    /// Ways of all sets together: the sum of set_ways, or ways x sets; nullopt if these leaves are not known.
    template <class Part>
    std::optional<std::int64_t> total_ways(const std::string& where, const Part& part) const {
        if (!part.set_ways) {
            if (!part.ways || !part.sets) return std::nullopt;
            const auto total = product(*part.ways, *part.sets);
            if (!total)
                fail(where + ".sets",
                     fmt::format("found {} sets of {} ways; expected a product below 2^63", *part.sets, *part.ways));
            return total;
        }
        const auto& list = part.set_ways.value;
        if (list.empty() || (part.sets && static_cast<std::uint64_t>(*part.sets) != list.size()))
            fail(where + ".set_ways",
                 fmt::format("found {} sets; expected {}", list.size(),
                             part.sets ? fmt::format("{} as in {}.sets", *part.sets, where) : "at least 1"));
        if (part.ways && *std::max_element(list.begin(), list.end()) != *part.ways)
            fail(where + ".ways", fmt::format("found {}; expected the largest of set_ways", *part.ways));
        std::int64_t total = 0;
        for (const auto ways : list)
            if (__builtin_add_overflow(total, ways, &total)) fail(where + ".set_ways", "expected a sum below 2^63");
        return total;
    }

    /// The equation `whole` = `parts` x `size`, which must hold if all three are known.
    struct Product {
        std::string path;
        const Integer& whole;
        std::optional<std::int64_t> parts;
        std::string_view part_name;
        const Integer& size;
    };
    void multiplies(const Product& p) const {
        if (!p.whole || !p.parts || !p.size) return;
        const auto expected = product(*p.parts, *p.size);
        if (expected != *p.whole)
            fail(p.path, fmt::format("found {}; expected {} {} of {} bytes, {}", *p.whole, *p.parts, p.part_name,
                                     *p.size, expected ? fmt::to_string(*expected) : "which is too large"));
    }

    void index(const std::string& where, const Cache& cache) const {
        if (!cache.index || *cache.index == "modulo") return;
        const bool bits = *cache.index == "bits";
        const auto& masks = bits ? cache.index_bits : cache.index_hash;
        const std::string path = where + (bits ? ".index_bits" : ".index_hash");
        if (!masks)
            fail(path,
                 fmt::format("missing; expected one entry per bit of the set number with index \"{}\"", *cache.index));
        if (masks.value.size() > 62) fail(path, fmt::format("found {} bits; expected at most 62", masks.value.size()));
        if (bits && std::any_of(masks.value.begin(), masks.value.end(), [](auto bit) { return bit > 62; }))
            fail(path, "expected numbers of address bits, 0 to 62");
        if (const std::set<std::int64_t> different(masks.value.begin(), masks.value.end());
            different.size() != masks.value.size())
            fail(path, fmt::format("found [{}]; expected different entries", fmt::join(masks.value, ", ")));
        const auto sets = std::int64_t{1} << masks.value.size();
        if (cache.sets && *cache.sets != sets)
            fail(where + ".sets",
                 fmt::format("found {}; expected {}, for {} index bits", *cache.sets, sets, masks.value.size()));
    }

    void odds(const std::string& where, const Cache& cache) const {
        if (!cache.policy || *cache.policy != "way-odds") return;
        if (!cache.way_odds)
            fail(where + ".way_odds", "missing; expected one probability per way with policy way-odds");
        const auto& odds = cache.way_odds.value;
        if (cache.ways && odds.size() != static_cast<std::uint64_t>(*cache.ways))
            fail(where + ".way_odds",
                 fmt::format("found {} probabilities; expected {} as in {}.ways", odds.size(), *cache.ways, where));
        const double sum = std::accumulate(odds.begin(), odds.end(), 0.0);
        if (!(std::abs(sum - 1) <= kOddsTolerance))
            fail(where + ".way_odds", fmt::format("found a sum of {}; expected 1", sum));
    }

    /// The capacity must not exceed the tags. There may be more tags than data.
    void tags_suffice(const std::string& where, const Cache& cache) const {
        const auto lines = total_ways(where, cache);
        if (!cache.capacity || !lines || !cache.line) return;
        const auto most = product(*lines, *cache.line);
        if (most && *cache.capacity > *most)
            fail(where + ".capacity", fmt::format("found {}; expected at most {} lines of {} bytes, {}",
                                                  *cache.capacity, *lines, *cache.line, *most));
        if (*cache.capacity % *cache.line != 0)
            fail(where + ".capacity",
                 fmt::format("found {}; expected a multiple of the line, {}", *cache.capacity, *cache.line));
    }

    void cache(const std::string& where, const Cache& cache) const {
        if (cache.line && cache.sector && *cache.line % *cache.sector != 0)
            fail(where + ".sector",
                 fmt::format("found {}; expected a divisor of the line, {}", *cache.sector, *cache.line));
        tags_suffice(where, cache);
        index(where, cache);
        odds(where, cache);
        low_high(where + ".latency_range", cache.latency_range);
        if (cache.outstanding_design && !cache.outstanding_entries &&
            cache.outstanding_entries.knowledge == Knowledge::unknown)
            fail(where + ".outstanding_entries", "missing; expected a count with outstanding_design");
    }

    void tlb(const std::string& where, const Tlb& tlb) const {
        multiplies({where + ".reach", tlb.reach, tlb.entries ? std::optional(*tlb.entries) : std::nullopt, "entries",
                    tlb.span});
        const auto entries = total_ways(where, tlb);
        if (entries && tlb.entries && *entries != *tlb.entries)
            fail(where + ".entries", fmt::format("found {}; expected ways x sets, {}", *tlb.entries, *entries));
        if (tlb.policy && *tlb.policy == "way-odds")
            fail(where + ".policy", "found way-odds; expected a policy without odds, a TLB has none");
    }

    template <class Map>
    void names_exist(const std::string& path, const Texts& names, const Map& things) const {
        if (!names) return;
        std::set<std::string> seen;
        for (const auto& name : names.value) {
            if (!things.contains(name))
                fail(path, fmt::format("found \"{}\"; expected a name that is described", name));
            if (!seen.insert(name).second) fail(path, fmt::format("found \"{}\" twice; expected it once", name));
        }
    }

private:
    std::string_view origin_;
};

void check_paths(const Machine& machine, const Checker& check) {
    static constexpr std::array<std::string_view, 5> kPaths{"global", "local", "texture", "constant", "instruction"};
    for (const auto& [key, path] : machine.paths) {
        if (std::find(kPaths.begin(), kPaths.end(), key) == kPaths.end())
            check.fail("paths." + key, fmt::format("unknown path; expected one of {}", fmt::join(kPaths, ", ")));
        check.names_exist("paths." + key + ".caches", path.caches, machine.caches);
        check.names_exist("paths." + key + ".tlbs", path.tlbs, machine.tlbs);
        check.low_high("paths." + key + ".memory_latency_range", path.memory_latency_range);
    }
}

}  // namespace

void validate(const Machine& machine, std::string_view origin) {
    const Checker check(origin);
    for (const auto& [path, info, leaf] : all_leaves(machine)) {
        check.positive(path, info, leaf);
        check.sensible(path, info, leaf);
    }
    for (const auto& [key, cache] : machine.caches) check.cache("caches." + key, cache);
    for (const auto& [key, tlb] : machine.tlbs) check.tlb("tlbs." + key, tlb);
    check_paths(machine, check);
    for (const auto& [key, operation] : machine.operations)
        check.names_exist(join_path("operations", key, "units"), operation.units, machine.pipelines);
    check.at_most("topology.max_threads_per_block", machine.topology.max_threads_per_block,
                  "topology.max_threads_per_sm", machine.topology.max_threads_per_sm);
    check.at_most("topology.warp_size", machine.topology.warp_size, "topology.max_threads_per_block",
                  machine.topology.max_threads_per_block);
    check.at_most("shared.max_per_block", machine.shared.max_per_block, "shared.capacity", machine.shared.capacity);
    if (machine.shared.unified_cache && !machine.caches.contains(*machine.shared.unified_cache))
        check.fail("shared.unified_cache",
                   fmt::format("found \"{}\"; expected a name that is described", *machine.shared.unified_cache));
}

}  // namespace gputomo::machine
