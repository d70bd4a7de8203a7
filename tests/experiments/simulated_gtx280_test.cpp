// Experiments on the simulated GeForce GTX 280 of Wong 2010: what they find is what went in.
#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "measure/chase/pointer_chase.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>

namespace gputomo::experiments {
namespace {

std::unique_ptr<sim::SimulatedDevice> gtx280() {
    return sim::make_device(machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx280.json"), {.id = "sim:gtx280"});
}

/// Runs one experiment and keeps what it found.
class Scanned {
public:
    explicit Scanned(std::string_view id) {
        const auto device = gtx280();
        const Findings none;
        Context context = quiet_context(*device, none);
        const auto rows = catalogue();
        const auto experiment = std::ranges::find(rows, id, &Experiment::id);
        outcome = experiment->run(context);
        for (auto& estimate : outcome.estimates) findings.add(estimate);
    }
    double operator[](std::string_view path) const {
        const auto number = findings.number(path);
        EXPECT_TRUE(number.has_value()) << path << " was not decided";
        return number.value_or(-1);
    }
    Outcome outcome;
    Findings findings;
};

TEST(SimulatedGtx280Test, ConstantCachesAreThoseOfTable5) {
    const Scanned scan("constant_caches");
    const std::tuple<std::string, double, double, double, double> rows[] = {
        {"constant_l1", 2048, 64, 4, 8}, {"constant_l2", 8192, 256, 4, 81}, {"constant_l3", 32768, 256, 8, 220}};
    for (const auto& [name, capacity, line, ways, latency] : rows) {
        EXPECT_EQ(scan["caches." + name + ".capacity"], capacity);
        EXPECT_EQ(scan["caches." + name + ".line"], line);
        EXPECT_EQ(scan["caches." + name + ".ways"], ways);
        EXPECT_NEAR(scan["caches." + name + ".latency"], latency, 1);
    }
    EXPECT_NEAR(scan["paths.constant.memory_latency"], 476, 1);
}

TEST(SimulatedGtx280Test, TextureCachesAreThoseOfTable5) {
    const Scanned scan("texture_caches");
    EXPECT_EQ(scan["caches.texture_l1.capacity"], 5120);
    EXPECT_EQ(scan["caches.texture_l1.ways"], 20);
    EXPECT_EQ(scan["caches.texture_l2.capacity"], 262144);
    EXPECT_EQ(scan["caches.texture_l2.line"], 256);
    EXPECT_NEAR(scan["caches.texture_l1.latency"], 261, 1);
    EXPECT_NEAR(scan["caches.texture_l2.latency"], 371, 1);
    EXPECT_NEAR(scan["paths.texture.memory_latency"], 497, 1);
    // By SM, as Fig. 11 shows of the L2 and not of the L1.
    const auto* range = scan.findings.find("caches.texture_l2.latency_range");
    ASSERT_NE(range, nullptr);
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(range->value), (std::vector<std::int64_t>{367, 374}));
    EXPECT_EQ(scan.findings.find("caches.texture_l1.latency_range"), nullptr);
}

TEST(SimulatedGtx280Test, InstructionCachesBeyondTheFirstHaveTheGeometryOfTable5) {
    const Scanned scan("instruction_caches");
    const std::tuple<std::string, double, double, std::string> rows[] = {
        {"instruction_l1", 4096, 4, "sm"}, {"instruction_l2", 8192, 4, "tpc"}, {"instruction_l3", 32768, 8, "gpu"}};
    for (const auto& [name, capacity, ways, scope] : rows) {
        const auto* found = scan.findings.find("caches." + name + ".scope");
        ASSERT_NE(found, nullptr) << name;
        EXPECT_EQ(found->value, results::Value(scope)) << name;
        EXPECT_EQ(scan["caches." + name + ".capacity"], capacity);
        EXPECT_EQ(scan["caches." + name + ".line"], 256);
        EXPECT_EQ(scan["caches." + name + ".ways"], ways);
    }
}

TEST(SimulatedGtx280Test, ClockReadsCost28CyclesAndStepBy2) {
    const Scanned scan("clock");
    EXPECT_EQ(scan["clock.read_cost"], 28);
    EXPECT_EQ(scan["clock.resolution"], 2);
    EXPECT_NEAR(scan["clock.sm_mhz"], 1296, 1);
    EXPECT_EQ(scan["topology.sms_per_tpc"], 3);
    EXPECT_EQ(std::get<std::string>(scan.findings.find("clock.scope")->value), "tpc");
}

TEST(SimulatedGtx280Test, LatenciesAreThoseOfTables2To4) {
    const Scanned scan("arithmetic_latency");
    for (const auto* path : {"operations[add.s32].latency", "operations[add.f32].latency",
                             "operations[mul.f32].latency", "operations[fma.rn.f32].latency", "pipelines.sp.latency"})
        EXPECT_EQ(scan[path], 24) << path;
    for (const auto* path : {"operations[add.f64].latency", "operations[mul.f64].latency",
                             "operations[fma.rn.f64].latency", "pipelines.dpu.latency"})
        EXPECT_EQ(scan[path], 48) << path;
    EXPECT_EQ(scan["operations[mul.lo.s32].latency"], 96);
    EXPECT_EQ(scan["operations[mad.lo.s32].latency"], 120);
    EXPECT_EQ(scan["operations[rsqrt.approx.f32].latency"], 28);
    EXPECT_EQ(scan["pipelines.sfu.latency"], 28);
}

TEST(SimulatedGtx280Test, LanesAreThoseOfTable2) {
    const Scanned scan("arithmetic_throughput");
    EXPECT_EQ(scan["pipelines.sp.lanes"], 8);
    EXPECT_EQ(scan["pipelines.sfu.lanes"], 2);
    EXPECT_EQ(scan["pipelines.dpu.lanes"], 1);
    EXPECT_NEAR(scan["operations[add.s32].throughput"], 8, 0.08);
    EXPECT_NEAR(scan["operations[add.f64].throughput"], 1, 0.01);
    EXPECT_NEAR(scan["operations[mul.f32].throughput"], 11.2, 0.15);
}

TEST(SimulatedGtx280Test, SharedMemoryTakes38CyclesAndGives32BytesPerCycle) {
    const Scanned scan("shared_latency");
    EXPECT_EQ(scan["shared.latency"], 38);
    EXPECT_EQ(scan["shared.banks"], 16);
    EXPECT_EQ(scan["shared.bank_width"], 4);
    EXPECT_EQ(scan["shared.access_group"], 16);
    EXPECT_EQ(scan["shared.conflict_cost"], 16);
    EXPECT_EQ(Scanned("shared_throughput")["shared.bytes_per_cycle"], 32);
}

TEST(SimulatedGtx280Test, GlobalMemoryIsUncachedAndTakes436To443Cycles) {
    const Scanned scan("caches");
    EXPECT_EQ(scan["paths.global.memory_latency"], 440);
    const auto* caches = scan.findings.find("paths.global.caches");
    ASSERT_NE(caches, nullptr);
    EXPECT_TRUE(std::get<std::vector<std::string>>(caches->value).empty());
    const auto* range = scan.findings.find("paths.global.memory_latency_range");
    ASSERT_NE(range, nullptr);
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(range->value), (std::vector<std::int64_t>{436, 443}));
}

TEST(SimulatedGtx280Test, TlbsAreThoseOfTable5) {
    const Scanned scan("tlb");
    const std::pair<std::string_view, double> truth[] = {
        {"tlbs.global_l1.reach", 8 << 20},    {"tlbs.global_l1.span", 512 << 10},  {"tlbs.global_l1.ways", 16},
        {"tlbs.global_l1.entries", 16},       {"tlbs.global_l1.miss_penalty", 47}, {"tlbs.global_l2.reach", 32 << 20},
        {"tlbs.global_l2.span", 4096},        {"tlbs.global_l2.ways", 8},          {"tlbs.global_l2.entries", 8192},
        {"tlbs.global_l2.miss_penalty", 211},
    };
    for (const auto& [path, value] : truth) EXPECT_EQ(scan[path], value) << path;
}

TEST(SimulatedGtx280Test, TextureTlbsAreThoseOfTable5AndFig16) {
    const Scanned scan("texture_tlb");
    const std::pair<std::string_view, double> truth[] = {
        {"tlbs.texture_l1.reach", 8 << 20}, {"tlbs.texture_l1.span", 512 << 10}, {"tlbs.texture_l1.ways", 16},
        {"tlbs.texture_l1.entries", 16},    {"tlbs.texture_l2.reach", 16 << 20}, {"tlbs.texture_l2.span", 4096},
        {"tlbs.texture_l2.ways", 8},        {"tlbs.texture_l2.entries", 4096},
    };
    for (const auto& [path, value] : truth) EXPECT_EQ(scan[path], value) << path;
    EXPECT_NEAR(scan["tlbs.texture_l1.miss_penalty"], 47, 1);
    EXPECT_NEAR(scan["tlbs.texture_l2.miss_penalty"], 209, 1);
}

TEST(SimulatedGtx280Test, ReadsComeNearTheBandwidthOfTheChannels) {
    const Scanned scan("dram_bandwidth");
    EXPECT_GT(scan["memory.read_bandwidth"], 0.9 * 141.7);
    EXPECT_LE(scan["memory.read_bandwidth"], 141.8);
}

TEST(SimulatedGtx280Test, BlocksAreReplacedAfter225Cycles) {
    EXPECT_NEAR(Scanned("launch")["launch.block_replacement"], 225, 60);
}

TEST(SimulatedGtx280Test, ChaseLatencyDependsNeitherOnUnrollingNorOnRecording) {
    const auto device = gtx280();
    const device::Buffer memory(*device, Bytes{65536});
    LinkWriter writer(*device);
    std::vector<device::Address> order;
    for (int i = 0; i < 64; ++i) order.push_back(memory.address() + static_cast<device::Address>(1024 * i));
    for (const int unroll : {1, 8}) {
        PointerChase chase(*device, {.hint = LoadHint::all, .unroll = unroll});
        writer.write_cycle(std::vector{memory.address()});
        chase.calibrate(memory.address());
        writer.write_cycle(order);
        double sum = 0;
        const ChaseRun run{.start = order[0], .warm = 64, .loads = 384};
        for (const double latency : chase.latencies(run)) sum += latency;
        const double average = chase.average(run).value();
        EXPECT_NEAR(average, sum / 384, 1) << "unroll factor " << unroll;
        EXPECT_NEAR(average, 440, 5) << "unroll factor " << unroll;
    }
}

}  // namespace
}  // namespace gputomo::experiments
