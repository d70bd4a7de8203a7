#include "simulated_cache.hpp"

#include <algorithm>
#include <utility>

namespace gputomo::deduce::testing {

std::uint32_t draw_victim(const PolicyModel& model, std::uint32_t ways, std::mt19937_64& random) {
    double left = static_cast<double>(random() >> 11) * 0x1p-53;
    for (std::uint32_t way = 0; way + 1 < ways; ++way) {
        left -= model.odds(way);
        if (left < 0) return way;
    }
    return ways - 1;
}

std::unique_ptr<PolicyModel> policy_model(const std::string& policy, std::uint32_t ways) {
    return policy == "tree-plru" ? make_tree_model(binary_tree(ways)) : make_model(policy, ways);
}

SimulatedCache::SimulatedCache(CacheTruth truth) : truth_(std::move(truth)) {
    for (std::uint64_t s = 0; s < truth_.sets; ++s) {
        const std::uint32_t ways = truth_.set_ways.empty() ? truth_.ways : truth_.set_ways[s];
        sets_.push_back({std::vector<Line>(), policy_model(truth_.policy, ways), ways});
    }
}

ChaseTrace SimulatedCache::operator()(const ChaseRequest& request) {
    ChaseTrace trace;
    ++requests;
    for (std::uint32_t pass = 0; pass < request.warm_passes + request.recorded_passes; ++pass)
        for (const auto offset : request.offsets) {
            const bool hit = load(offset);
            ++loads;
            if (pass >= request.warm_passes) trace.latencies.push_back(hit ? truth_.hit : truth_.miss);
        }
    return trace;
}

bool SimulatedCache::load(std::uint64_t address) {
    const std::uint64_t number = address / truth_.line;
    const std::uint64_t sector = std::uint64_t{1} << address % truth_.line / truth_.sector;
    auto& set = sets_[truth_.index_of(address)];
    auto at = std::ranges::find(set.lines, number, &Line::number);
    if (at != set.lines.end()) {
        set.model->touch(static_cast<std::uint32_t>(at - set.lines.begin()));
    } else if (set.lines.size() < set.ways) {
        at = set.lines.insert(set.lines.end(), {number, 0});
        set.model->fill(static_cast<std::uint32_t>(set.lines.size() - 1));
    } else {
        const auto way = draw_victim(*set.model, set.ways, random_);
        at = set.lines.begin() + way;
        *at = {number, 0};
        set.model->fill(way);
    }
    const bool hit = (at->sectors & sector) != 0 && has_data(number);
    at->sectors |= sector;
    keep_data(number);
    return hit;
}

bool SimulatedCache::has_data(std::uint64_t number) const {
    return truth_.data_lines == 0 || std::ranges::find(data_, number) != data_.end();
}

void SimulatedCache::keep_data(std::uint64_t number) {
    if (truth_.data_lines == 0) return;
    std::erase(data_, number);
    data_.push_back(number);
    if (data_.size() > truth_.data_lines) data_.erase(data_.begin());
}

cache::TraceSegment trace_of(PolicyModel& model, std::uint32_t ways, const std::vector<std::uint32_t>& lines,
                             std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> held(ways);
    for (std::uint32_t way = 0; way < ways; ++way) {
        held[way] = way;
        model.touch(way);
    }
    cache::TraceSegment segment;
    for (const auto line : lines) {
        const auto at = std::ranges::find(held, line);
        segment.lines.push_back(line);
        segment.missed.push_back(at == held.end());
        segment.outlier.push_back(false);
        if (at != held.end()) {
            model.touch(static_cast<std::uint32_t>(at - held.begin()));
            continue;
        }
        const auto way = draw_victim(model, ways, random);
        held[way] = line;
        model.fill(way);
    }
    return segment;
}

std::vector<std::uint32_t> random_lines(std::uint32_t ways, std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> lines(count);
    for (auto& line : lines) line = static_cast<std::uint32_t>(random() % (ways + 1));
    return lines;
}

}  // namespace gputomo::deduce::testing
