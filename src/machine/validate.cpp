#include "machine/json.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gputomo::machine {
namespace {

class Checker {
public:
    explicit Checker(std::string_view origin) : origin_(origin) {}

    [[noreturn]] void fail(const std::string& path, const std::string& what) const {
        throw InputError(fmt::format("{}: {}: {}", origin_, path, what));
    }

    void positive(const std::string& path, const Integer& field) const {
        if (field && *field == 0) fail(path, "found 0; expected a positive number");
    }

    /// Total ways of all sets: the sum of set_ways, or ways x sets; 0 where the leaves don't tell.
    std::int64_t total_ways(const std::string& where, const Integer& ways, const Integer& sets, const Integers& set_ways) const {
        if (set_ways) {
            if (sets && static_cast<std::size_t>(*sets) != set_ways.value.size())
                fail(where + ".set_ways", fmt::format("found {} sets; expected {} as in {}.sets", set_ways.value.size(), *sets, where));
            return std::accumulate(set_ways.value.begin(), set_ways.value.end(), std::int64_t{0});
        }
        return ways && sets ? *ways * *sets : 0;
    }

    void cache(const std::string& where, const Cache& cache) const {
        positive(where + ".line", cache.line);
        positive(where + ".sector", cache.sector);
        positive(where + ".capacity", cache.capacity);
        positive(where + ".ways", cache.ways);
        positive(where + ".sets", cache.sets);
        if (cache.line && cache.sector && *cache.line % *cache.sector != 0)
            fail(where + ".sector", fmt::format("found {}; expected a divisor of the line, {}", *cache.sector, *cache.line));
        const auto lines = total_ways(where, cache.ways, cache.sets, cache.set_ways);
        if (lines != 0 && cache.line && cache.capacity && lines * *cache.line != *cache.capacity)
            fail(where + ".capacity", fmt::format("found {}; expected {} lines of {} bytes, {}", *cache.capacity, lines,
                                                  *cache.line, lines * *cache.line));
        if (cache.policy && *cache.policy == "way-odds") {
            if (!cache.way_odds) fail(where + ".way_odds", "missing; expected one probability per way with policy way-odds");
            const double sum = std::accumulate(cache.way_odds.value.begin(), cache.way_odds.value.end(), 0.0);
            if (sum < 0.99 || sum > 1.01) fail(where + ".way_odds", fmt::format("found a sum of {}; expected 1", sum));
        }
    }

    void tlb(const std::string& where, const Tlb& tlb) const {
        positive(where + ".span", tlb.span);
        positive(where + ".entries", tlb.entries);
        if (tlb.span && tlb.entries && tlb.reach && *tlb.span * *tlb.entries != *tlb.reach)
            fail(where + ".reach", fmt::format("found {}; expected {} entries of {} bytes, {}", *tlb.reach, *tlb.entries,
                                               *tlb.span, *tlb.span * *tlb.entries));
        const auto entries = total_ways(where, tlb.ways, tlb.sets, tlb.set_ways);
        if (entries != 0 && tlb.entries && entries != *tlb.entries)
            fail(where + ".entries", fmt::format("found {}; expected ways x sets, {}", *tlb.entries, entries));
    }

    template <class Map>
    void names_exist(const std::string& path, const Texts& names, const Map& things) const {
        if (!names) return;
        for (const auto& name : names.value)
            if (!things.contains(name)) fail(path, fmt::format("found \"{}\"; expected a name that is described", name));
    }

private:
    std::string_view origin_;
};

}  // namespace

void validate(const Machine& machine, std::string_view origin) {
    const Checker check(origin);
    for (const auto& [key, cache] : machine.caches) check.cache("caches." + key, cache);
    for (const auto& [key, tlb] : machine.tlbs) check.tlb("tlbs." + key, tlb);
    for (const auto& [key, path] : machine.paths) {
        check.names_exist("paths." + key + ".caches", path.caches, machine.caches);
        check.names_exist("paths." + key + ".tlbs", path.tlbs, machine.tlbs);
        if (path.memory_latency_range) {
            const auto& range = path.memory_latency_range.value;
            if (range.size() != 2 || range[0] > range[1])
                check.fail("paths." + key + ".memory_latency_range", "expected [smallest, largest]");
        }
    }
    for (const auto& [key, operation] : machine.operations)
        check.names_exist(fmt::format("operations[{}].units", key), operation.units, machine.pipelines);
    check.positive("topology.sms", machine.topology.sms);
    check.positive("topology.warp_size", machine.topology.warp_size);
    check.positive("shared.banks", machine.shared.banks);
    check.positive("shared.bank_width", machine.shared.bank_width);
}

}  // namespace gputomo::machine
