#include "experiments/unhidden_lines.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace gputomo::experiments {
namespace {

/// Share of a walk's loads that a policy predicts which explains it, and by which it does so better than another.
constexpr double kExplained = 0.95, kBetter = 0.01;

/// Of each load: how many lines of its set come before the tour is back at its own line; counted up to `cache.crowd`.
std::vector<std::uint64_t> lines_until_return(const std::vector<std::uint64_t>& offsets, const NearCache& cache) {
    std::vector<std::uint64_t> until(offsets.size(), cache.crowd);
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> recent;  // of a set: its last lines, newest first
    std::unordered_map<std::uint64_t, std::size_t> last;                   // of a line: its last visit
    for (std::size_t i = 0; i < 2 * offsets.size(); ++i) {
        const std::uint64_t offset = offsets[i % offsets.size()], line = offset / cache.line;
        auto& lines = recent[offset % cache.way_bytes / cache.line];
        const auto found = std::ranges::find(lines, line);
        if (found != lines.end()) {
            until[last[line] % offsets.size()] = static_cast<std::uint64_t>(found - lines.begin());
            lines.erase(found);
        }
        lines.insert(lines.begin(), line);
        if (lines.size() > cache.crowd) lines.pop_back();
        last[line] = i;
    }
    return until;
}

/// Whether a line is gone after as many others as there are ways: so it is where the least recently used or the oldest one goes,
/// also while it is open which of them.
bool drops_in_order(const deduce::PolicyFinding& policy) {
    const auto in_order = [](std::string_view name) { return name == "lru" || name == "fifo"; };
    if (!policy.name.empty()) return in_order(policy.name);
    double best = 0, best_other = 0;
    for (const auto& [name, share] : policy.agreement) (in_order(name) ? best : best_other) = std::max(in_order(name) ? best : best_other, share);
    return best > kExplained && best - best_other > kBetter;
}

}  // namespace

std::optional<NearCache> near_cache(const deduce::CacheFindings& findings) {
    if (findings.line.confidence <= 0 || findings.ways.confidence <= 0 || findings.sets.confidence <= 0) return std::nullopt;
    const auto line = static_cast<std::uint64_t>(findings.line.value), ways = static_cast<std::uint64_t>(findings.ways.value);
    // Other policies keep a line now and then for longer than there are ways.
    const std::uint64_t crowd = drops_in_order(findings.policy) ? ways : ways + ways / 2 + 2;
    return NearCache{line, line * static_cast<std::uint64_t>(findings.sets.value), crowd};
}

/// The loads of a tour and of their neighbours. A chase visits each word once.
struct UnhiddenLines::Tour {
    std::vector<std::uint64_t> offsets;
    std::unordered_set<std::uint64_t> words;   ///< taken
    std::unordered_set<std::uint64_t> blocks;  ///< ways that hold loads of the tour itself
};

UnhiddenLines::UnhiddenLines(deduce::Chase chase, std::vector<NearCache> near, std::uint64_t room, std::uint64_t word)
    : chase_(std::move(chase)), near_(std::move(near)), room_(room), word_(word), line_(room) {
    for (const auto& cache : near_) {
        step_ = std::lcm(step_, cache.way_bytes);
        line_ = std::min(line_, cache.line);
    }
}

void UnhiddenLines::append_neighbours(std::uint64_t offset, std::uint64_t count, Tour& tour) const {
    const auto try_line = [&](std::uint64_t near) {
        if (tour.blocks.contains(near / step_)) return;
        const std::uint64_t begin = near / line_ * line_;
        for (std::uint64_t word = begin; word < begin + line_; word += word_) {
            if (!tour.words.insert(word).second) continue;
            tour.offsets.push_back(word);
            --count;
            return;
        }
    };
    for (std::uint64_t distance = 3 * step_; count > 0 && distance < room_; distance += 2 * step_) {
        if (offset + distance + line_ <= room_) try_line(offset + distance);
        if (count > 0 && distance <= offset) try_line(offset - distance);
    }
}

deduce::ChaseTrace UnhiddenLines::operator()(const deduce::ChaseRequest& request) {
    std::vector<std::uint64_t> missing(request.offsets.size(), 0);
    for (const auto& cache : near_) {
        const auto until = lines_until_return(request.offsets, cache);
        for (std::size_t i = 0; i < until.size(); ++i) missing[i] = std::max(missing[i], cache.crowd - until[i]);
    }
    Tour tour;
    for (const auto offset : request.offsets) {
        tour.words.insert(offset);
        tour.blocks.insert(offset / step_);
    }
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < request.offsets.size(); ++i) {
        positions.push_back(tour.offsets.size());
        tour.offsets.push_back(request.offsets[i]);
        if (missing[i] > 0) append_neighbours(request.offsets[i], missing[i], tour);
    }
    const auto all = chase_({tour.offsets, request.warm_laps, request.recorded_laps}).latencies;
    deduce::ChaseTrace trace;
    for (std::size_t lap = 0; lap < all.size(); lap += tour.offsets.size())
        for (const auto position : positions) trace.latencies.push_back(all[lap + position]);
    return trace;
}

}  // namespace gputomo::experiments
