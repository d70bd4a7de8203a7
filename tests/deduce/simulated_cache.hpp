// A cache of known geometry and policy behind a chase, and the trace of a known policy on one set.
#pragma once

#include "deduce/cache/chase/chase.hpp"
#include "deduce/cache/geometry/geometry.hpp"
#include "deduce/cache/policy/eviction_trace.hpp"
#include "deduce/cache/policy/policy_model.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace gputomo::deduce::testing {

/// Draws a victim with the model's odds.
inline std::uint32_t draw_victim(const PolicyModel& model, std::uint32_t ways, std::mt19937_64& random) {
    double left = static_cast<double>(random() >> 11) * 0x1p-53;
    for (std::uint32_t way = 0; way + 1 < ways; ++way) {
        left -= model.odds(way);
        if (left < 0) return way;
    }
    return ways - 1;
}

inline std::unique_ptr<PolicyModel> policy_model(const std::string& policy, std::uint32_t ways) {
    return policy == "tree-plru" ? make_tree_model(binary_tree(ways)) : make_model(policy, ways);
}

struct CacheTruth {
    std::uint64_t line = 64, sector = 64, sets = 16;
    std::uint32_t ways = 4;
    std::string policy = "lru";
    std::function<std::uint64_t(std::uint64_t line_number)> set_of = {};  ///< empty: modulo the number of sets
    std::vector<std::uint32_t> set_ways = {};                             ///< empty: all sets have `ways`
    std::uint64_t data_lines = 0;  ///< lines whose data is kept, the latest ones; 0: all
    double hit = 100, miss = 300;  ///< cycles

    [[nodiscard]] std::uint64_t capacity() const { return line * sets * ways; }
    [[nodiscard]] std::uint64_t index_of(std::uint64_t address) const {
        return set_of ? set_of(address / line) : address / line % sets;
    }
    [[nodiscard]] CacheQuestion question() const {
        return {.threshold = (hit + miss) / 2,
                .fits = capacity() / 2,
                .overflows = 2 * capacity(),
                .buffer_bytes = 32 * capacity()};
    }
};

/// Keeps its state from one request to the next, as a GPU's cache does.
class SimulatedCache {
public:
    explicit SimulatedCache(CacheTruth truth) : truth_(std::move(truth)) {
        for (std::uint64_t s = 0; s < truth_.sets; ++s) {
            const std::uint32_t ways = truth_.set_ways.empty() ? truth_.ways : truth_.set_ways[s];
            sets_.push_back({std::vector<Line>(), policy_model(truth_.policy, ways), ways});
        }
    }

    [[nodiscard]] Chase chase() {
        return [this](const ChaseRequest& request) { return (*this)(request); };
    }
    ChaseTrace operator()(const ChaseRequest& request) {
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
    std::uint64_t loads = 0, requests = 0;

private:
    struct Line {
        std::uint64_t number = 0, sectors = 0;
    };
    struct Set {
        std::vector<Line> lines;
        std::unique_ptr<PolicyModel> model;
        std::uint32_t ways = 0;
    };
    bool load(std::uint64_t address) {
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
    [[nodiscard]] bool has_data(std::uint64_t number) const {
        return truth_.data_lines == 0 || std::ranges::find(data_, number) != data_.end();
    }
    void keep_data(std::uint64_t number) {
        if (truth_.data_lines == 0) return;
        std::erase(data_, number);
        data_.push_back(number);
        if (data_.size() > truth_.data_lines) data_.erase(data_.begin());
    }

    CacheTruth truth_;
    std::vector<Set> sets_;
    std::vector<std::uint64_t> data_;  ///< line numbers, the latest last
    std::mt19937_64 random_{1};
};

/// The trace of one full set that holds lines 0 to ways - 1, while `lines` are loaded.
inline cache::TraceSegment trace_of(PolicyModel& model, std::uint32_t ways, const std::vector<std::uint32_t>& lines,
                                    std::uint64_t seed = 1) {
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

/// `count` random line numbers, 0 to ways.
inline std::vector<std::uint32_t> random_lines(std::uint32_t ways, std::size_t count, std::uint64_t seed = 7) {
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> lines(count);
    for (auto& line : lines) line = static_cast<std::uint32_t>(random() % (ways + 1));
    return lines;
}

}  // namespace gputomo::deduce::testing
