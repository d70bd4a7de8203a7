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
[[nodiscard]] std::uint32_t draw_victim(const PolicyModel& model, std::uint32_t ways, std::mt19937_64& random);

[[nodiscard]] std::unique_ptr<PolicyModel> policy_model(const std::string& policy, std::uint32_t ways);

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
    explicit SimulatedCache(CacheTruth truth);

    [[nodiscard]] Chase chase() {
        return [this](const ChaseRequest& request) { return (*this)(request); };
    }
    ChaseTrace operator()(const ChaseRequest& request);
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
    bool load(std::uint64_t address);
    [[nodiscard]] bool has_data(std::uint64_t number) const;
    void keep_data(std::uint64_t number);

    CacheTruth truth_;
    std::vector<Set> sets_;
    std::vector<std::uint64_t> data_;  ///< line numbers, the latest last
    std::mt19937_64 random_{1};
};

/// The trace of one full set that holds lines 0 to ways - 1, while `lines` are loaded.
[[nodiscard]] cache::TraceSegment trace_of(PolicyModel& model, std::uint32_t ways,
                                           const std::vector<std::uint32_t>& lines, std::uint64_t seed = 1);

/// `count` random line numbers, 0 to ways.
[[nodiscard]] std::vector<std::uint32_t> random_lines(std::uint32_t ways, std::size_t count, std::uint64_t seed = 7);

}  // namespace gputomo::deduce::testing
