#include "unequal_sets.hpp"

#include <algorithm>
#include <numeric>

namespace gputomo::deduce::caches {

UnequalSets::UnequalSets(const Unequal& truth) : truth_(truth), held_(truth.ways.size()) {
    const std::size_t lines = std::accumulate(truth.ways.begin(), truth.ways.end(), std::size_t{0});
    for (auto left = truth.ways; set_of_.size() < lines;)
        for (std::size_t set = 0; set < left.size(); ++set)
            if (left[set] > 0) set_of_.push_back(set), --left[set];
}

bool UnequalSets::hits(std::uint64_t line) {
    const std::size_t set = truth_.dealt ? set_of_[line % lines()] : line % held_.size();
    auto& those = held_[set];
    const auto found = std::ranges::find(those, line);
    const bool hit = found != those.end();
    if (hit && truth_.fifo) return true;
    if (hit)
        those.erase(found);
    else if (those.size() == truth_.ways[set])
        those.erase(those.begin());
    those.push_back(line);
    return hit;
}

ChaseTrace UnequalSets::operator()(const ChaseRequest& request) {
    ChaseTrace trace;
    for (std::uint32_t pass = 0; pass < request.warm_passes + request.recorded_passes; ++pass)
        for (const auto offset : request.offsets) {
            const double latency = (hits(offset / kLine + truth_.first) ? kHit : kMiss) +
                                   (static_cast<double>(random_() % 1000) < 1000 * truth_.outliers ? 500 : 0);
            if (pass >= request.warm_passes) trace.latencies.push_back(latency);
        }
    return trace;
}

}  // namespace gputomo::deduce::caches
