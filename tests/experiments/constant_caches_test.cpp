// Constant caches behind others, as random machines had them that once came back wrong or not at all.
#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gputomo::experiments {
namespace {

struct Constants {
    std::int64_t capacity, line, ways, latency;
    const char* policy;
    const char* scope;
};

machine::Machine with(const std::vector<Constants>& caches) {
    auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx280.json");
    std::vector<std::string> names;
    for (std::size_t i = 0; i < caches.size(); ++i) {
        names.push_back("constant_l" + std::to_string(i + 1));
        auto& cache = machine.caches[names.back()] = {};
        cache.capacity.set(caches[i].capacity);
        cache.line.set(caches[i].line);
        cache.sector.set(caches[i].line);
        cache.ways.set(caches[i].ways);
        cache.sets.set(caches[i].capacity / caches[i].line / caches[i].ways);
        cache.index.set("modulo");
        cache.policy.set(caches[i].policy);
        cache.scope.set(caches[i].scope);
        cache.latency.set(caches[i].latency);
    }
    for (std::size_t i = caches.size() + 1; i < 4; ++i) machine.caches.erase("constant_l" + std::to_string(i));
    machine.paths["constant"].caches.set(names);
    // Instructions have a cache of their own, which no other path shares.
    machine.paths["instruction"].caches.set({"instruction_l1"});
    return machine;
}

Findings found_in(const std::vector<Constants>& caches) {
    const auto device = sim::make_device(with(caches), {.id = "sim:test"});
    Findings findings;
    Context context = quiet_context(*device, findings);
    const auto rows = catalogue();
    const auto outcome = std::ranges::find(rows, "constant_caches", &Experiment::id)->run(context);
    for (const auto& estimate : outcome.estimates) findings.add(estimate);
    return findings;
}

TEST(ConstantCaches, OfTwentyFourWaysShowTheirGeometryAndTheNextLevel) {
    const auto found = found_in({{2048, 64, 2, 33, "random", "sm"},
                                 {9216, 128, 24, 86, "lru", "sm"},
                                 {32768, 128, 2, 189, "tree-plru", "gpu"}});
    EXPECT_EQ(found.number("caches.constant_l3.capacity"), 32768);
    EXPECT_EQ(found.number("caches.constant_l3.line"), 128);
    EXPECT_EQ(found.number("caches.constant_l3.ways"), 2);
    EXPECT_EQ(found.number("caches.constant_l2.capacity").value_or(9216), 9216);
}

TEST(ConstantCaches, AreNotReportedSmallerThanTheArraysTheyServe) {
    for (const Constants& second :
         {Constants{5120, 256, 20, 95, "random", "sm"}, Constants{4096, 256, 2, 116, "lru", "sm"}}) {
        const auto found = found_in({{2048, 128, 8, 40, "tree-plru", "sm"}, second});
        EXPECT_EQ(found.number("caches.constant_l1.capacity"), 2048);
        const auto capacity = found.number("caches.constant_l2.capacity");
        EXPECT_TRUE(!capacity || *capacity == static_cast<double>(second.capacity)) << *capacity;
    }
}

}  // namespace
}  // namespace gputomo::experiments
