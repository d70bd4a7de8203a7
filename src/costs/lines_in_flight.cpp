#include "costs/lines_in_flight.hpp"

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace gputomo::costs {
namespace {

/// Loads that are simulated, per line of the cache; the first half of them fills the cache and is not counted. More
/// loads reduce the sampling error of the mean.
constexpr std::int64_t kLoadsPerLine = 60;

/// The next load of one scheduler, which issues loads in order.
struct Queue {
    double at = 0;        ///< when the load before it was issued
    std::size_t set = 0;  ///< of its line
};

}  // namespace

std::optional<CacheLines> lines_beside(const machine::Machine& machine, std::int64_t shared_bytes) {
    const auto& shared = machine.shared;
    if (!shared.unified_cache || !shared.capacity_options) return std::nullopt;
    const auto cache = machine.caches.find(*shared.unified_cache);
    if (cache == machine.caches.end() || !cache->second.capacity_options || !cache->second.line) return std::nullopt;
    const auto& options = *shared.capacity_options;
    const auto& capacities = *cache->second.capacity_options;
    if (options.empty() || options.size() != capacities.size()) return std::nullopt;
    const auto fits = std::min(std::ranges::lower_bound(options, shared_bytes), options.end() - 1);
    return CacheLines{capacities[static_cast<std::size_t>(fits - options.begin())] / *cache->second.line,
                      cache->second.ways.value_or(0)};
}

double mean_lines_in_flight(const CacheLines& cache, int schedulers) {
    if (cache.ways < 1 || cache.lines < cache.ways) return static_cast<double>(cache.lines);
    const auto sets = static_cast<std::size_t>(cache.lines / cache.ways), ways = static_cast<std::size_t>(cache.ways);
    // Times are in units of the latency. The oldest line of a set is the next one whose data arrive.
    std::vector<double> done(sets * ways, 0.0);
    std::vector<std::size_t> oldest(sets, 0);
    std::mt19937 random;
    std::vector<Queue> queues(static_cast<std::size_t>(std::max(1, schedulers)));
    for (auto& queue : queues) queue.set = random() % sets;
    const auto starts = [&](const Queue& queue) {
        return std::max(queue.at, done[queue.set * ways + oldest[queue.set]]);
    };
    const std::int64_t loads = kLoadsPerLine * cache.lines;
    double half_time = 0, now = 0;
    for (std::int64_t load = 0; load < loads; ++load) {
        auto& queue = *std::ranges::min_element(queues, {}, starts);
        now = starts(queue);
        if (load == loads / 2) half_time = now;
        done[queue.set * ways + oldest[queue.set]] = now + 1;
        oldest[queue.set] = (oldest[queue.set] + 1) % ways;
        queue = {now, random() % sets};
    }
    // Little's law with a latency of 1.
    const auto second_half = loads - loads / 2;
    return std::min(static_cast<double>(cache.lines), static_cast<double>(second_half) / (now - half_time));
}

}  // namespace gputomo::costs
