#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "results/estimates.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gputomo::experiments {
namespace {

machine::Machine fermi_like() { return machine::load(GPUTOMO_SOURCE_DIR "/tests/data/machines/fermi_like.json"); }

struct Mapped {
    Mapped(const machine::Machine& machine, const sim::Noise& noise, const std::vector<std::string>& caches) {
        const auto device = sim::make_device(machine, {.id = "sim:test", .seed = 5, .noise = noise});
        Findings before;
        before.add(decided("paths.global.caches", caches, {"test", 1}));
        Context context = quiet_context(*device, before);
        const auto rows = catalogue();
        outcome = std::ranges::find(rows, "latency_map", &Experiment::id)->run(context);
        for (const auto& estimate : outcome.estimates) findings.add(estimate);
    }
    Outcome outcome;
    Findings findings;
};

TEST(LatencyMap, ShowsTwoPartitionsAndTheLatencyOfTheFarOne) {
    auto machine = fermi_like();
    auto& l2 = machine.caches["l2"];
    l2.partitions.set(2);
    l2.far_latency.set(*l2.latency + 17);
    for (const auto& noise : {sim::Noise{}, sim::Noise{.jitter_cycles = 1, .outlier_fraction = 0.02}}) {
        const Mapped mapped(machine, noise, {"l1", "l2"});
        EXPECT_EQ(mapped.findings.number("caches.l2.partitions"), 2);
        EXPECT_NEAR(mapped.findings.number("caches.l2.far_latency").value_or(0), static_cast<double>(*l2.far_latency),
                    noise.jitter_cycles);
    }
}

TEST(LatencyMap, OfACacheWithoutPartitionsReportsOnePartition) {
    const Mapped mapped(fermi_like(), {.jitter_cycles = 2, .outlier_fraction = 0.02}, {"l1", "l2"});
    EXPECT_EQ(mapped.findings.number("caches.l2.partitions"), 1);
    const auto* far = mapped.findings.find("caches.l2.far_latency");
    ASSERT_NE(far, nullptr);
    EXPECT_EQ(far->knowledge, results::Knowledge::absent);
}

TEST(LatencyMap, WithoutACacheOfTheWholeGpuIsOnlyAMap) {
    const auto gtx280 = machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx280.json");
    const Mapped mapped(gtx280, {}, {});
    EXPECT_TRUE(mapped.outcome.estimates.empty());
    ASSERT_FALSE(mapped.outcome.traces.empty());
    const auto& latencies = mapped.outcome.traces.front().columns.back().values;
    EXPECT_EQ(latencies.size() % static_cast<std::size_t>(*gtx280.topology.sms), 0U);
    // By TPC, as described (Wong 2010, IV-G).
    EXPECT_EQ(*std::ranges::min_element(latencies), 436);
    EXPECT_EQ(*std::ranges::max_element(latencies), 443);
}

}  // namespace
}  // namespace gputomo::experiments
