// What charts say in their titles, and where they mark it.
#include "report/findings/chart_finding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

namespace gputomo::report {
namespace {

using ::testing::HasSubstr;

results::Trace chart(std::string name, results::Trace::Column x, results::Trace::Column y, std::string title = "T") {
    results::Trace trace{.name = std::move(name)};
    trace.experiment = trace.name.substr(0, trace.name.find('/'));
    trace.plot = {std::move(title), x.name, {y.name}, false, false};
    trace.columns = {std::move(x), std::move(y)};
    return trace;
}

Finding found(const results::Trace& trace, const machine::Machine& machine = {}) {
    return finding_of(trace, Facts(machine));
}

/// An L1 of 16 KiB before an L2 of 1 MiB.
machine::Machine two_levels() {
    machine::Machine m;
    m.caches["l1"].capacity.set(16 * 1024);
    m.caches["l1"].latency.set(30);
    m.caches["l2"].capacity.set(1 << 20);
    m.caches["l2"].latency.set(200);
    m.paths["global"].caches.set({"l1", "l2"});
    m.paths["global"].memory_latency.set(500);
    return m;
}

TEST(Findings, LevelsAreMarkedAtTheirCapacities) {
    const auto near = chart("caches/near", {"size", "bytes", {4096, 65536}}, {"median", "cycles", {30, 200}});
    const auto finding = found(near, two_levels());
    EXPECT_EQ(finding.title, "L1: 30 cycles up to 16 KiB; L2: 200 cycles");
    ASSERT_EQ(finding.marks.size(), 1U);
    EXPECT_EQ(finding.marks[0].at, 16 * 1024);
    EXPECT_EQ(finding.marks[0].label, "L1 16 KiB");
    const auto far = chart("caches/far", {"size", "bytes", {65536, 8 << 20}}, {"median", "cycles", {200, 500}});
    EXPECT_EQ(found(far, two_levels()).title, "L2: 200 cycles up to 1 MiB; memory: 500 cycles");
}

TEST(Findings, WithoutTheLeafTheShapeIsSaid) {
    const auto near = chart("caches/near", {"size", "bytes", {4096, 65536}}, {"median", "cycles", {30, 200}});
    EXPECT_EQ(found(near).title, "median: 30 cycles at 4 KiB, 200 cycles at 64 KiB");
}

TEST(Findings, RatesAreSaidByTheirPeakAndWhereTheyReachIt) {
    auto rate = chart("memory_parallelism/l2_load_all_sms", {"in_flight", "bytes", {1024, 2048, 4096, 8192}},
                      {"rate", "bytes/cycle", {10, 20, 38, 40}});
    rate.columns.push_back({"little", "bytes/cycle", {10, 20, 40, 40}});
    rate.plot.y.emplace_back("little");
    const auto finding = found(rate);
    EXPECT_EQ(finding.title, "Loads from the L2, each of all SMs: 40 bytes/cycle; 90% from 4 KiB in flight");
    ASSERT_EQ(finding.marks.size(), 2U);
    EXPECT_EQ(finding.marks[0].at, 4096);
    EXPECT_EQ(finding.marks[1].at, 40);
}

TEST(Findings, TheEndOfAllPartitionsIsMarked) {
    auto overfill = chart("caches/l2_overfill", {"size", "bytes", {1 << 20, 2 << 20, 4 << 20, 5 << 20, 7 << 20}},
                          {"misses", "percent", {0, 0, 100, 100, 100}});
    overfill.columns.push_back({"served_nearer_than_memory", "percent", {0, 0, 50, 50, 0}});
    const auto finding = found(overfill);
    EXPECT_EQ(finding.title,
              "L2: half of the loads miss at 3 MiB, none at 2 MiB; another partition serves misses up to 5 "
              "MiB");
    ASSERT_EQ(finding.marks.size(), 2U);
    EXPECT_EQ(finding.marks[1].at, 5 << 20);
}

TEST(Findings, OneWarpIsSingular) {
    const auto finding = found(chart("outstanding/memory_loads_of_1_warps", {"loads", "count", {1, 64}},
                                     {"complete", "cycles", {300, 700}}, "Loads of each of 1 warps"));
    EXPECT_EQ(finding.title, "64 loads of one warp from memory are complete after 700 cycles, a single one after 300");
    EXPECT_THAT(finding.what, HasSubstr("all loads of one warp"));
    EXPECT_THAT(
        found(chart("outstanding/loads_of_8_warps", {"loads", "count", {1, 64}}, {"complete", "cycles", {300, 700}}))
            .title,
        HasSubstr("64 loads of each of 8 warps from the L2"));
}

TEST(Findings, ChartsOfOneKindHaveDifferentTitles) {
    std::set<std::string> titles;
    for (const char* name : {"many", "many_far", "many_sectors_of_lines", "many_far_apart", "many_with_shared"})
        titles.insert(found(chart(std::string("outstanding/") + name, {"threads", "count", {64, 1024}},
                                  {"latency", "cycles", {500, 2000}}))
                          .title);
    EXPECT_EQ(titles.size(), 5U);
}

TEST(Findings, AnUnknownChartSaysItsShape) {
    EXPECT_EQ(found(chart("new/one", {"warps", "count", {1, 2}}, {"time_taken", "cycles", {5, 5}})).title,
              "time taken: 5 cycles throughout");
    EXPECT_EQ(found(chart("new/one", {"warps", "count", {1, 2, 3}}, {"lost", "cycles", {5, 9, 6}})).title,
              "lost: 5 cycles at 1, 6 cycles at 3, at most 9 cycles at 2");
    auto split = chart("new/two", {"warps", "count", {1, 2, 1, 2}}, {"interval", "cycles", {4, 2, 8, 8}});
    split.columns.push_back({"kind", "0 integer, 1 float", {0, 0, 1, 1}});
    split.plot.split = "kind";
    EXPECT_EQ(found(split).title, "integer: 2 to 4 cycles; float: 8 cycles");
}

TEST(Findings, AChartWithNothingToDrawHasNone) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(found(chart("caches/near", {"size", "bytes", {}}, {"median", "cycles", {}})).title, "");
    EXPECT_EQ(found(chart("issue/warps", {"warps", "count", {kNan}}, {"cycles", "cycles", {kNan}})).title, "");
    EXPECT_EQ(found({.name = "outstanding/many"}).title, "");
}

TEST(Findings, KnownChartsBearMissingColumns) {
    for (const char* name :
         {"shared_throughput/warps", "load_intervals/warps", "atomic_contention/cycles", "control_flow/cost",
          "issue/one_warp", "caches/l2_overfill", "caches/l1_trace", "write_delay/occupancy", "random_access/size",
          "warpgroup_products/products", "constant_caches/by_sm", "arithmetic_throughput/add.f32"})
        EXPECT_NO_THROW((void)found(chart(name, {"x", "count", {1, 2}}, {"y", "cycles", {3, 4}}))) << name;
}

}  // namespace
}  // namespace gputomo::report
