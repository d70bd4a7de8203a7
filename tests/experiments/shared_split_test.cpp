// Splits of storage between shared memory and the first cache, found beside blocks with more and more shared memory.
#include "experiments/experiments.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "results/estimates.hpp"
#include "sim/simulator.hpp"
#include "units/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gputomo::experiments {
namespace {

using Whole = std::vector<std::int64_t>;

/// A GTX 560 Ti that splits its storage as it never did.
machine::Machine splitting(const Whole& shared, const Whole& cache) {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/gtx560ti.json");
    const auto set = [](auto& leaf, auto value) {
        leaf.value = std::move(value), leaf.knowledge = machine::Knowledge::known;
    };
    set(machine.shared.unified_cache, std::string("l1"));
    set(machine.shared.capacity_options, shared);
    set(machine.caches.at("l1").capacity_options, cache);
    return machine;
}

Outcome run_on(const machine::Machine& machine, std::int64_t overhead = 0) {
    const auto gpu = sim::make_device(machine, {.id = "sim", .seed = 1});
    Findings findings;
    const auto& l1 = machine.caches.at("l1");
    findings.add(decided("paths.global.caches", std::vector<std::string>{"l1"}, {"test", 1}));
    findings.add(decided("caches.l1.capacity", *l1.capacity, {"test", 1}));
    findings.add(decided("caches.l1.line", *l1.line, {"test", 1}));
    findings.add(decided("shared.block_overhead", overhead, {"test", 1}));
    Context context = quiet_context(*gpu, findings);
    return shared_split_experiment().run(context);
}

const results::Estimate* find(const Outcome& outcome, std::string_view path) {
    for (const auto& estimate : outcome.estimates)
        if (estimate.path == path) return &estimate;
    return nullptr;
}

TEST(SharedSplit, FindsEveryStepAndWhatIsLeftOfTheCache) {
    for (const auto& [shared, cache] : {std::pair{Whole{8192, 20480, 49152}, Whole{16384, 11264, 2048}},
                                        std::pair{Whole{16384, 49152}, Whole{16384, 5120}}}) {
        const auto outcome = run_on(splitting(shared, cache));
        ASSERT_NE(find(outcome, "shared.capacity_options"), nullptr);
        EXPECT_EQ(std::get<std::string>(find(outcome, "shared.unified_cache")->value), "l1");
        EXPECT_EQ(std::get<Whole>(find(outcome, "caches.l1.capacity_options")->value), cache);
        const auto& options = std::get<Whole>(find(outcome, "shared.capacity_options")->value);
        ASSERT_EQ(options.size(), shared.size());
        for (std::size_t i = 0; i < shared.size(); ++i)
            EXPECT_NEAR(static_cast<double>(options[i]), static_cast<double>(shared[i]), 256) << i;
    }
}

TEST(SharedSplit, StaysOpenForACacheThatKeepsItsLines) {
    const auto outcome = run_on(machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/gtx560ti.json"));
    EXPECT_TRUE(outcome.estimates.empty());
    ASSERT_EQ(outcome.traces.size(), 1U);
    EXPECT_EQ(outcome.traces.front().columns[1].values, (std::vector<double>{128}));
}

TEST(SharedSplit, RefusesUnorderedAndOversizedSplits) {
    const auto message = [](const machine::Machine& machine) -> std::string {
        try {
            (void)sim::make_device(machine, {.id = "sim", .seed = 1});
        } catch (const InputError& e) {
            return e.what();
        }
        return "accepted";
    };
    EXPECT_EQ(message(splitting({16384, 8192}, {16384, 2048})),
              "shared.capacity_options: not in rising order; expected rising order");
    EXPECT_EQ(message(splitting({8192, 16384}, {65536, 2048})),
              "caches.l1.capacity_options: found 65536; expected 16384 at most, its capacity");
    EXPECT_EQ(message(splitting({8192, 16384, 49152}, {16384, 2048})), "accepted")
        << "options of a driver's setting, which no launch chooses";
}

}  // namespace
}  // namespace gputomo::experiments
