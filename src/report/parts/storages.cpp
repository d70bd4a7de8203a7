#include "report/parts/storages.hpp"

#include "machine/cache_scope.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::report {
namespace {

using machine::Cache;
using machine::Knowledge;
using machine::Machine;

const Cache* cache_of(const Machine& machine, const std::string& key) {
    const auto found = machine.caches.find(key);
    return found == machine.caches.end() ? nullptr : &found->second;
}

/// The caches of a path, nearest first; empty where that is not known.
std::vector<std::string> caches_of(const Machine& machine, const std::string& path) {
    const auto found = machine.paths.find(path);
    return found == machine.paths.end() || !found->second.caches.known() ? std::vector<std::string>{}
                                                                         : found->second.caches.value;
}

template <class Field>
bool same(const Field& a, const Field& b) {
    return a.known() && b.known() && a.value == b.value;
}

bool same_geometry(const Cache& a, const Cache& b) {
    return same(a.capacity, b.capacity) && same(a.line, b.line) && same(a.ways, b.ways) && same(a.sets, b.sets);
}

/// The number at the end of a key: 2 of "texture_l2"; 0 where there is none.
int level_of(const std::string& key) {
    const auto at = key.find_last_not_of("0123456789");
    return at == std::string::npos || at + 1 == key.size() || key[at] != 'l' ? 0 : std::stoi(key.substr(at + 1));
}

/// Whether a path, or else a name like "instruction_l3", has a cache behind this one.
bool another_behind(const Machine& machine, const std::string& key) {
    for (const auto& [name, path] : machine.paths) {
        const auto caches = caches_of(machine, name);
        const auto at = std::ranges::find(caches, key);
        if (at != caches.end() && at + 1 != caches.end()) return true;
    }
    const auto digits = std::to_string(level_of(key));
    return machine.caches.contains(key.substr(0, key.size() - digits.size()) + std::to_string(level_of(key) + 1));
}

/// Whether the cache can be as far from the SM as `far`: their latencies overlap, or its own is unknown.
bool as_far(const Cache& cache, const Cache& far) {
    if (!cache.latency.known()) return true;
    if (!far.latency.known()) return false;
    const auto& interval = far.latency.provenance.interval;
    return static_cast<double>(cache.latency.value) >=
           (interval ? (*interval)[0] : static_cast<double>(far.latency.value));
}

/// Whether the size is open, without an interval that bounds it.
bool unbounded(const Cache& cache) {
    return cache.capacity.knowledge == Knowledge::undecided && cache.capacity.candidates.empty() &&
           !cache.capacity.provenance.interval;
}

bool is_first(const Machine& machine, const std::string& key) {
    if (level_of(key) == 1) return true;
    return std::ranges::any_of(machine.paths, [&](const auto& path) {
        const auto caches = caches_of(machine, path.first);
        return !caches.empty() && caches.front() == key;
    });
}

}  // namespace

std::string storage_of(const Machine& machine, const std::string& key) {
    const auto global = caches_of(machine, "global");
    const auto* own = cache_of(machine, key);
    if (own == nullptr || global.empty() || std::ranges::find(global, key) != global.end()) return key;
    const auto* first = cache_of(machine, global.front());
    if (first != nullptr && is_first(machine, key) && same_geometry(*own, *first)) return global.front();
    const auto* last = cache_of(machine, global.back());
    if (last != nullptr && global.size() > 1 && level_of(key) > 1 && unbounded(*own) && !another_behind(machine, key) &&
        as_far(*own, *last) && scope_of(machine, global.back()).where == "gpu" &&
        (own->latency.known() || level_of(key) > static_cast<int>(global.size())))
        return global.back();
    return key;
}

std::vector<std::string> also_seen_as(const Machine& machine, const std::string& key) {
    std::vector<std::string> others;
    for (const auto& [other, cache] : machine.caches)
        if (other != key && storage_of(machine, other) == key) others.push_back(other);
    return others;
}

Scope scope_of(const Machine& machine, const std::string& key) {
    const auto* cache = cache_of(machine, key);
    if (cache == nullptr) return {};
    if (cache->scope.known()) return {cache->scope.value, true};
    if (cache->scope.candidates.size() == 1) return {cache->scope.candidates.front(), false};
    // Partitions that all SMs reach are those of a cache that all SMs share.
    if (cache->partitions.known() || machine::is_shared_by_all(key, *cache)) return {"gpu", cache->partitions.known()};
    return is_first(machine, key) ? Scope{"sm", false} : Scope{};
}

std::optional<std::array<double, 2>> bytes_in_all(const results::Trace& overfill) {
    /// Percent of the loads. Only sizes at which kMissing or more miss in the near partition say something. There,
    /// another partition serves more than kServed while it has the lines, and less than kOutliers afterwards.
    constexpr double kMissing = 50, kServed = 25, kOutliers = 5;
    const auto *size = overfill.column("size"), *misses = overfill.column("misses"),
               *nearer = overfill.column("served_nearer_than_memory");
    if (size == nullptr || misses == nullptr || nearer == nullptr) return std::nullopt;
    std::optional<double> most_served, least_not;
    for (std::size_t i = 0; i < size->values.size(); ++i) {
        if (misses->values[i] < kMissing) continue;
        const double at = size->values[i];
        if (nearer->values[i] > kServed) most_served = std::max(most_served.value_or(at), at);
        if (nearer->values[i] < kOutliers) least_not = std::min(least_not.value_or(at), at);
    }
    if (!most_served || !least_not || *most_served >= *least_not) return std::nullopt;
    return std::array{*most_served, *least_not};
}

std::optional<std::array<double, 2>> bytes_in_all(const std::vector<results::Trace>& traces, const std::string& key) {
    const auto trace = std::ranges::find(traces, fmt::format("caches/{}_overfill", key), &results::Trace::name);
    return trace == traces.end() ? std::nullopt : bytes_in_all(*trace);
}

std::optional<double> least_in_all(const Facts& facts, const std::string& key) {
    const auto path = fmt::format("caches.{}.capacity", key);
    const auto capacity = facts.number(path), partitions = facts.number(fmt::format("caches.{}.partitions", key));
    if (!capacity || !partitions || *partitions < 2) return std::nullopt;
    const auto& interval = facts.find(path)->leaf.provenance.interval;
    return *partitions * (interval ? (*interval)[0] : *capacity);
}

std::optional<double> bytes_of_tags(const Facts& facts, std::string_view path) {
    const auto of = [&](std::string_view leaf) { return facts.number(fmt::format("{}{}", path, leaf)); };
    const auto ways = of("ways"), sets = of("sets"), line = of("line");
    return ways && sets && line ? std::optional(*ways * *sets * *line) : std::nullopt;
}

}  // namespace gputomo::report
