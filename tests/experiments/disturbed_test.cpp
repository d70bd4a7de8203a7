// Experiments on a simulated GPU whose loads jitter and have outliers find what they find on a quiet one.
#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "measure/chase/pointer_chase.hpp"
#include "quiet_context.hpp"
#include "results/estimates.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::experiments::of_disturbed {
namespace {

constexpr sim::Noise kNoise{.jitter_cycles = 6, .outlier_fraction = 0.02, .clock_drift = 0.002};

std::unique_ptr<sim::SimulatedDevice> gpu(const std::string& name, std::uint64_t seed, const sim::Noise& noise) {
    return sim::make_device(machine::load(GPUTOMO_SOURCE_DIR "/machines/" + name + ".json"),
                            {.id = "sim:" + name, .seed = seed, .noise = noise});
}

/// Returns the record overhead of a chase over 16 lines.
double record_overhead(device::Device& device, bool start_to_start) {
    const device::Buffer memory(device, Bytes{4096});
    std::vector<device::Address> ring;
    for (int i = 0; i < 16; ++i) ring.push_back(memory.address() + static_cast<device::Address>(256 * i));
    PointerChase chase(device, {.hint = LoadHint::l2_only, .records = 1200, .start_to_start = start_to_start});
    chase.write_cycle(ring);
    chase.calibrate(ring.front(), 16);
    return chase.record_overhead();
}

TEST(Disturbed, RecordingCostsWhatItDoesOnAQuietGpu) {
    for (const auto& [name, start_to_start] : {std::pair("gtx280", true), std::pair("k20", false)}) {
        const double quiet = record_overhead(*gpu(name, 1, {}), start_to_start);
        EXPECT_NEAR(record_overhead(*gpu(name, 5, kNoise), start_to_start), quiet, 0.25) << name;
    }
}

TEST(Disturbed, RecordingCostsAsMuchWhereJitterCanOnlyDelayALoad) {
    auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx280.json");
    machine.caches.at("constant_l1").latency.set(2);
    const auto overhead = [&](double jitter) {
        const auto device =
            sim::make_device(machine, {.id = "sim:test",
                                       .seed = 3,
                                       .noise = {.jitter_cycles = jitter, .outlier_fraction = jitter > 0 ? 0.002 : 0}});
        std::vector<device::Address> ring;
        for (int i = 0; i < 16; ++i) ring.push_back(static_cast<device::Address>(64 * i));
        PointerChase chase(*device, {.hint = LoadHint::constant});
        chase.write_cycle(ring);
        chase.calibrate(ring.front(), 16);
        return chase.record_overhead();
    };
    EXPECT_NEAR(overhead(2), overhead(0), 0.25);
}

TEST(Disturbed, TheBandwidthOfSharedConstantsIsBracketed) {
    const auto device = gpu("gtx280", 9, kNoise);
    const Evidence evidence{"given", 1};
    Findings findings;
    findings.add(decided("topology.sms_per_tpc", std::int64_t{3}, evidence));
    findings.add(decided("paths.constant.caches", std::vector<std::string>{"constant_l1", "constant_l2", "constant_l3"},
                         evidence));
    findings.add(decided("caches.constant_l2.scope", std::string("tpc"), evidence));
    findings.add(decided("caches.constant_l3.scope", std::string("gpu"), evidence));
    for (const auto& [path, value] :
         {std::pair("caches.constant_l3.capacity", 32768), std::pair("caches.constant_l2.capacity", 8192),
          std::pair("caches.constant_l3.line", 256), std::pair("caches.constant_l2.sector", 256),
          std::pair("caches.constant_l3.latency", 220)})
        findings.add(decided(path, std::int64_t{value}, evidence));
    Context context = quiet_context(*device, findings);
    const auto rows = catalogue();
    const auto outcome = std::ranges::find(rows, "constant_bandwidth", &Experiment::id)->run(context);
    for (const auto& estimate : outcome.estimates) findings.add(estimate);
    EXPECT_NEAR(findings.number("caches.constant_l3.bytes_per_cycle").value_or(0), 9.75, 0.1);
    EXPECT_EQ(findings.number("caches.constant_l1.outstanding_entries"), 1);
    const auto* found = findings.find("caches.constant_l3.bytes_per_cycle");
    ASSERT_NE(found, nullptr);
    EXPECT_LE(found->interval.value()[0], 9.75);
    EXPECT_GE(found->interval.value()[1], 9.75);
}

TEST(Disturbed, TheClocksRateLiesWithinItsInterval) {
    for (const std::uint64_t seed : {5, 6, 7}) {
        const auto device = gpu("gtx280", seed, kNoise);
        const Findings none;
        Context context = quiet_context(*device, none, false, seed);
        const auto rows = catalogue();
        const auto outcome = std::ranges::find(rows, "clock", &Experiment::id)->run(context);
        const auto rate = std::ranges::find(outcome.estimates, "clock.sm_mhz", &results::Estimate::path);
        ASSERT_NE(rate, outcome.estimates.end());
        EXPECT_LE(rate->interval.value()[0], 1296);
        EXPECT_GE(rate->interval.value()[1], 1296);
    }
}

}  // namespace
}  // namespace gputomo::experiments::of_disturbed
