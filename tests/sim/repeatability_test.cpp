// Runs repeat: one seed gives the same run again, and noise has the requested distribution.
#include "launching.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gputomo::sim::test {
namespace {

constexpr int kLoads = 400;

/// A machine whose L1 replaces lines at random.
machine::Machine dicing_machine() {
    auto machine = small_machine();
    machine.caches["l1"] = small_cache(64, 4, 4, 100, "random");
    machine.paths["global"].caches.set({"l1"});
    return machine;
}

/// Latency of each of 400 loads of a pointer chase through `bytes`, by one thread.
std::vector<double> latencies(const machine::Machine& machine, const Options& options, int bytes) {
    const auto gpu = make_device(machine, options);
    device::Buffer ring(*gpu, Bytes(bytes));
    std::vector<std::uint64_t> words(static_cast<std::size_t>(bytes) / 8);
    for (int at = 0; at < bytes; at += 64)
        words[static_cast<std::size_t>(at) / 8] = ring.address() + static_cast<std::uint64_t>((at + 64) % bytes);
    ring.write(words);
    KernelBuilder k("chase", kTarget);
    const Reg out = k.param(Type::u64, "out"), p = k.param(Type::u64, "ring");
    k.loop(kLoads, [&](Reg iteration) {
        const Reg start = k.clock_after(p);
        k("ld.global.u64", p, Mem(p));
        const Reg end = k.clock_after(p);
        k("sub.u32", end, end, start);
        k("st.global.u32", Mem(k.element(out, iteration, Bytes(4))), end);
    });
    const auto cycles = run(*gpu, k, kLoads, {}, {1}, ring.address());
    return {cycles.begin(), cycles.end()};
}

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
    double sum = 0;
    for (const double v : values) sum += (v - mean(values)) * (v - mean(values));
    return std::sqrt(sum / static_cast<double>(values.size()));
}

TEST(Repeatability, TheSameSeedGivesTheSameRunAndAnotherSeedAnother) {
    const auto with = [](std::uint64_t seed) {
        return latencies(dicing_machine(), {.seed = seed, .noise = {.jitter_cycles = 3}}, 2048);
    };
    EXPECT_EQ(with(7), with(7));
    EXPECT_NE(with(7), with(8));
}

TEST(Repeatability, WithoutNoiseTheSeedChangesRandomPoliciesOnly) {
    EXPECT_EQ(latencies(small_machine(), {.seed = 1}, 2048), latencies(small_machine(), {.seed = 2}, 2048));
    EXPECT_NE(latencies(dicing_machine(), {.seed = 1}, 2048), latencies(dicing_machine(), {.seed = 2}, 2048));
}

TEST(Noise, JitterHasTheRequestedDeviationAndNoBias) {
    const auto quiet = latencies(small_machine(), {}, 512);
    const auto noisy = latencies(small_machine(), {.noise = {.jitter_cycles = 8}}, 512);
    EXPECT_LT(deviation(quiet), 1.0);
    EXPECT_NEAR(deviation(noisy), 8, 1.5);
    EXPECT_NEAR(mean(noisy), mean(quiet), 2);
}

TEST(Noise, OutliersHaveTheRequestedRateAndSize) {
    const auto found = latencies(small_machine(), {.noise = {.outlier_fraction = 0.1, .outlier_cycles = 5000}}, 512);
    const auto outliers = std::count_if(found.begin(), found.end(), [](double c) { return c > 4000; });
    EXPECT_NEAR(static_cast<double>(outliers), 40, 20);
    EXPECT_THAT(found, testing::Each(testing::Lt(6000.0)));
}

TEST(Noise, ClockDriftChangesTheTimeOfALaunchButNotItsCycles) {
    const auto gpu = make_device(small_machine(), {.noise = {.clock_drift = 0.05}});
    KernelBuilder k("drift", kTarget);
    const Reg r = k.reg(Type::u32);
    k("mov.u32", r, 0);
    k.repeat(1000, [&](int) { k("add.u32", r, r, 1); });
    const auto module = gpu->load(k.text());
    std::vector<double> times;
    for (int i = 0; i < 20; ++i) {
        times.push_back(module->kernel("drift").launch({}).elapsed.count());
        EXPECT_NEAR(static_cast<double>(gpu->counters().cycles), 24'000, 100);
    }
    EXPECT_GT(deviation(times), 100);
    EXPECT_NEAR(mean(times), 24'000, 24'000 * 0.05);
}

TEST(Repeatability, AGpuIsIdentifiedByTheValuesOfItsDescription) {
    const auto hash = [](const machine::Machine& machine, const Options& options = {}) {
        const auto found = make_device(machine, options)->identification();
        EXPECT_EQ(found.driver + found.cuda + found.pci_bus_id, "") << "it has no driver and no bus";
        return found.description;
    };
    const auto machine = small_machine();
    EXPECT_EQ(hash(machine).size(), 64U);
    EXPECT_EQ(hash(machine, {.id = "sim:other", .seed = 2, .noise = {.jitter_cycles = 3}}), hash(machine));
    auto measured = machine;
    measured.origin = results::Origin{.date = "2026-11-23T10:40:00Z"};
    EXPECT_EQ(hash(measured), hash(machine)) << "when it was measured changes nothing";
    auto other = machine;
    other.clock.sm_mhz.set(1001);
    EXPECT_NE(hash(other), hash(machine));
}

}  // namespace
}  // namespace gputomo::sim::test
