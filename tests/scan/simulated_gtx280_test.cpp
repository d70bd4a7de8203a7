// A whole scan of the simulated GeForce GTX 280 finds what the description says, and with it the tables of Wong 2010.
#include "closed_loop.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace gputomo::validate {
namespace {

/// All tests of this suite look at one scan, which takes a minute. CMake runs the suite as one test.
const ClosedLoop& whole_scan() {
    static const ClosedLoop loop = close_loop(described("machines/gtx280.json"), whole_plan());
    return loop;
}

/// The findings of the scan, by path.
class Found {
public:
    [[nodiscard]] static const results::Estimate* estimate(std::string_view path) {
        return whole_scan().scan.findings.find(path);
    }
    double operator[](std::string_view path) const {
        const auto number = whole_scan().scan.findings.number(path);
        EXPECT_TRUE(number.has_value()) << path << " was not decided";
        return number.value_or(-1);
    }
};
constexpr Found found;

TEST(SimulatedGtx280, IsRecovered) {
    const auto& loop = whole_scan();
    EXPECT_EQ(loop.wrong, std::vector<std::string>{});
    // Routines of several machine instructions, whose number no timing shows without machine code.
    EXPECT_EQ(loop.undecided,
              (std::vector<std::string>{
                  "operations[cos.approx.f32].instructions", "operations[div.approx.f32].instructions",
                  "operations[ex2.approx.f32].instructions", "operations[mad.lo.s32].instructions",
                  "operations[mad.lo.u32].instructions", "operations[mul.hi.u32].instructions",
                  "operations[mul.lo.s32].instructions", "operations[mul.lo.u32].instructions",
                  "operations[sin.approx.f32].instructions", "operations[sqrt.approx.f32].instructions"}));
    EXPECT_GE(loop.exact.size(), 60U);
}

TEST(SimulatedGtx280, ConstantCachesAreThoseOfTable5) {
    const std::tuple<std::string, double, double, double, double> rows[] = {
        {"constant_l1", 2048, 64, 4, 8}, {"constant_l2", 8192, 256, 4, 81}, {"constant_l3", 32768, 256, 8, 220}};
    for (const auto& [name, capacity, line, ways, latency] : rows) {
        EXPECT_EQ(found["caches." + name + ".capacity"], capacity);
        EXPECT_EQ(found["caches." + name + ".line"], line);
        EXPECT_EQ(found["caches." + name + ".ways"], ways);
        EXPECT_NEAR(found["caches." + name + ".latency"], latency, 1);
    }
    EXPECT_NEAR(found["paths.constant.memory_latency"], 476, 1);
}

TEST(SimulatedGtx280, TextureCachesAreThoseOfTable5) {
    EXPECT_EQ(found["caches.texture_l1.capacity"], 5120);
    EXPECT_EQ(found["caches.texture_l1.ways"], 20);
    EXPECT_EQ(found["caches.texture_l2.capacity"], 262144);
    EXPECT_EQ(found["caches.texture_l2.line"], 256);
    EXPECT_NEAR(found["caches.texture_l1.latency"], 261, 1);
    EXPECT_NEAR(found["caches.texture_l2.latency"], 371, 1);
    EXPECT_NEAR(found["paths.texture.memory_latency"], 497, 1);
    // By SM, as Fig. 11 shows of the L2 and not of the L1.
    const auto* range = found.estimate("caches.texture_l2.latency_range");
    ASSERT_NE(range, nullptr);
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(range->value), (std::vector<std::int64_t>{367, 374}));
    EXPECT_EQ(found.estimate("caches.texture_l1.latency_range"), nullptr);
}

TEST(SimulatedGtx280, ClockReadsCost28CyclesAndStepBy2) {
    EXPECT_EQ(found["clock.read_cost"], 28);
    EXPECT_EQ(found["clock.resolution"], 2);
    EXPECT_NEAR(found["clock.sm_mhz"], 1296, 1);
    EXPECT_EQ(found["topology.sms_per_tpc"], 3);
    EXPECT_EQ(std::get<std::string>(found.estimate("clock.scope")->value), "tpc");
}

TEST(SimulatedGtx280, LatenciesAreThoseOfTables2To4) {
    for (const auto* path : {"operations[add.s32].latency", "operations[add.f32].latency",
                             "operations[mul.f32].latency", "operations[fma.rn.f32].latency", "pipelines.sp.latency"})
        EXPECT_EQ(found[path], 24) << path;
    for (const auto* path : {"operations[add.f64].latency", "operations[mul.f64].latency",
                             "operations[fma.rn.f64].latency", "pipelines.dpu.latency"})
        EXPECT_EQ(found[path], 48) << path;
    EXPECT_EQ(found["operations[mul.lo.s32].latency"], 96);
    EXPECT_EQ(found["operations[mad.lo.s32].latency"], 120);
    EXPECT_EQ(found["operations[rsqrt.approx.f32].latency"], 28);
    EXPECT_EQ(found["pipelines.sfu.latency"], 28);
}

TEST(SimulatedGtx280, LanesAreThoseOfTable2) {
    EXPECT_EQ(found["pipelines.sp.lanes"], 8);
    EXPECT_EQ(found["pipelines.sfu.lanes"], 2);
    EXPECT_EQ(found["pipelines.dpu.lanes"], 1);
    EXPECT_NEAR(found["operations[add.s32].throughput"], 8, 0.08);
    EXPECT_NEAR(found["operations[add.f64].throughput"], 1, 0.01);
    EXPECT_NEAR(found["operations[mul.f32].throughput"], 11.2, 0.15);
}

TEST(SimulatedGtx280, SharedMemoryTakes38CyclesAndGives32BytesPerCycle) {
    EXPECT_EQ(found["shared.latency"], 38);
    EXPECT_EQ(found["shared.banks"], 16);
    EXPECT_EQ(found["shared.bank_width"], 4);
    EXPECT_EQ(found["shared.access_group"], 16);
    EXPECT_EQ(found["shared.conflict_cost"], 16);
    EXPECT_EQ(found["shared.bytes_per_cycle"], 32);
}

TEST(SimulatedGtx280, GlobalMemoryIsUncachedAndTakes436To443Cycles) {
    EXPECT_EQ(found["paths.global.memory_latency"], 440);
    const auto* caches = found.estimate("paths.global.caches");
    ASSERT_NE(caches, nullptr);
    EXPECT_TRUE(std::get<std::vector<std::string>>(caches->value).empty());
    const auto* range = found.estimate("paths.global.memory_latency_range");
    ASSERT_NE(range, nullptr);
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(range->value), (std::vector<std::int64_t>{436, 443}));
}

TEST(SimulatedGtx280, TlbsAreThoseOfTable5) {
    const std::pair<std::string_view, double> truth[] = {
        {"tlbs.global_l1.reach", 8 << 20},    {"tlbs.global_l1.span", 512 << 10},  {"tlbs.global_l1.ways", 16},
        {"tlbs.global_l1.entries", 16},       {"tlbs.global_l1.miss_penalty", 47}, {"tlbs.global_l2.reach", 32 << 20},
        {"tlbs.global_l2.span", 4096},        {"tlbs.global_l2.ways", 8},          {"tlbs.global_l2.entries", 8192},
        {"tlbs.global_l2.miss_penalty", 211},
    };
    for (const auto& [path, value] : truth) EXPECT_EQ(found[path], value) << path;
}

TEST(SimulatedGtx280, TextureTlbsAreThoseOfTable5AndFig16) {
    const std::pair<std::string_view, double> truth[] = {
        {"tlbs.texture_l1.reach", 8 << 20}, {"tlbs.texture_l1.span", 512 << 10}, {"tlbs.texture_l1.ways", 16},
        {"tlbs.texture_l1.entries", 16},    {"tlbs.texture_l2.reach", 16 << 20}, {"tlbs.texture_l2.span", 4096},
        {"tlbs.texture_l2.ways", 8},        {"tlbs.texture_l2.entries", 4096},
    };
    for (const auto& [path, value] : truth) EXPECT_EQ(found[path], value) << path;
    EXPECT_NEAR(found["tlbs.texture_l1.miss_penalty"], 47, 1);
    EXPECT_NEAR(found["tlbs.texture_l2.miss_penalty"], 209, 1);
}

TEST(SimulatedGtx280, ReadsComeNearTheBandwidthOfTheChannels) {
    EXPECT_GT(found["memory.read_bandwidth"], 0.9 * 141.7);
    EXPECT_LE(found["memory.read_bandwidth"], 141.8);
}

TEST(SimulatedGtx280, BlocksAreReplacedAfter225Cycles) {
    EXPECT_NEAR(found["launch.block_replacement"], 225, 60);
}

}  // namespace
}  // namespace gputomo::validate
