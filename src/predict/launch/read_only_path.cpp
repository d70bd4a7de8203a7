#include "predict/launch/read_only_path.hpp"
#include "machine/cache_scope.hpp"

#include <algorithm>

namespace gputomo::predict {

ReadOnlyRates read_only_rates_of(const machine::Machine& machine, const std::string& path) {
    ReadOnlyRates rates;
    const auto found = machine.paths.find(path);
    if (found == machine.paths.end()) return rates;
    bool through_l2 = false;
    for (const auto& name : found->second.caches.value_or({})) {
        const auto cache = machine.caches.find(name);
        if (cache == machine.caches.end() || !cache->second.latency) return {};
        const machine::Cache& from = cache->second;
        const auto latency = static_cast<double>(*from.latency);
        if (machine::is_shared_by_all(name, from)) {
            through_l2 = true;
            rates.l2_latency = latency;
            break;
        }
        if (!from.capacity || !from.line) return {};
        const auto line = static_cast<std::uint64_t>(*from.line);
        const std::string scope = from.scope.value_or("sm");
        const double rate = scope == "sm" || scope == "scheduler" ? 0 : from.sm_bytes_per_cycle.value_or(0);
        rates.caches.push_back({.bytes = static_cast<double>(*from.capacity),
                                .line = line,
                                .latency = latency,
                                .lines_ahead = static_cast<std::uint64_t>(from.fetched_ahead.value_or(0)) / line,
                                .cycles_of_byte = rate > 0 ? 1 / rate : 0,
                                .of_scheduler = scope == "scheduler"});
    }
    if (!through_l2 || !found->second.memory_latency) return {};
    rates.memory_latency = static_cast<double>(*found->second.memory_latency);
    return rates;
}

ReadOnlyPath::ReadOnlyPath(const ReadOnlyRates& rates, std::size_t schedulers, double scale)
    : rates_(rates), scale_(scale), ports_(rates.caches.size()) {
    for (const ReadOnlyLevel& level : rates.caches)
        caches_.emplace_back(level.of_scheduler ? schedulers : 1,
                             RecentGranules(level.bytes / static_cast<double>(level.line)));
    if (!described()) return;
    const std::uint64_t line = rates.caches.back().line;
    for (std::uint64_t at = 0; at < rates.loaded; at += line)
        for (RecentGranules& cache : caches_.back()) {
            const double when = rates.arrival.of(at);
            cache.insert(at / line, when);
            if (when > 0) brought_.insert(at / line);
        }
}

double ReadOnlyPath::there(std::uint64_t address, std::uint32_t scheduler, double now) {
    const ReadOnlyLevel& first = rates_.caches.front();
    const double when = fetch(0, address, scheduler, now) - first.latency;
    for (std::uint64_t line = 1; line <= rates_.prefetched_lines; ++line)
        (void)fetch(0, address + line * first.line, scheduler, now);
    return std::max(now, when);
}

double ReadOnlyPath::fetch(std::size_t depth, std::uint64_t address, std::uint32_t scheduler, double now) {
    if (depth == rates_.caches.size()) {
        const bool first = in_l2_.insert(address / rates_.caches.back().line).second;
        return now + (first ? rates_.memory_latency : rates_.l2_latency);
    }
    const ReadOnlyLevel& level = rates_.caches[depth];
    RecentGranules& cache = caches_[depth][level.of_scheduler ? scheduler : 0];
    const std::uint64_t line = address / level.line;
    if (depth > 0 && level.cycles_of_byte > 0)
        now =
            ports_[depth].take(now, static_cast<double>(rates_.caches[depth - 1].line) * level.cycles_of_byte * scale_);
    double* const arrival = cache.find(line);
    const bool missed = arrival == nullptr;
    // What a launch brings ahead is asked for again where it is needed sooner.
    if (!missed && *arrival > now && depth + 1 == rates_.caches.size() && brought_.erase(line) > 0)
        *arrival = std::min(*arrival, fetch(depth + 1, address, scheduler, now));
    const double done = missed ? fetch(depth + 1, address, scheduler, now) : std::max(now + level.latency, *arrival);
    if (missed) cache.insert(line, done);
    // After a hit, all lines but the last of those ahead have been requested before.
    for (std::uint64_t ahead = missed ? 1 : level.lines_ahead; ahead <= level.lines_ahead && ahead > 0; ++ahead)
        if (cache.find(line + ahead) == nullptr)
            cache.insert(line + ahead, fetch(depth + 1, (line + ahead) * level.line, scheduler, now));
    return done;
}

}  // namespace gputomo::predict
