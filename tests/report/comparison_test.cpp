#include "report/compare/page.hpp"

#include "machine/paths.hpp"
#include "machines.hpp"
#include "report/compare/side_by_side.hpp"
#include "report/compare/trends.hpp"
#include "report/html.hpp"
#include "report/parts/quantities.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A GPU with easy numbers for Little's law: 400 cycles x 64 bytes per cycle and SM.
machine::Machine round_numbers(std::int64_t capability) {
    machine::Machine m;
    m.identity.compute_capability_major.set(capability);
    m.identity.compute_capability_minor.set(0);
    m.topology.sms.set(10);
    m.topology.warp_size.set(32);
    m.topology.max_threads_per_sm.set(1024);
    m.clock.sm_mhz.set(1000);
    m.operations["add.f32"].latency.set(20);
    m.operations["add.f32"].throughput.set(64);
    m.paths["global"].memory_latency.set(400);
    m.memory.read_bandwidth.set(640);
    return m;
}

TEST(Quantities, FollowLittlesLaw) {
    auto m = round_numbers(1);
    EXPECT_DOUBLE_EQ(*warps_for_memory(Facts(m)), 200);
    EXPECT_DOUBLE_EQ(*warps_for_arithmetic(Facts(m)), 40);
    EXPECT_DOUBLE_EQ(*bytes_per_add(Facts(m)), 1);
    EXPECT_DOUBLE_EQ(*memory_nanoseconds(Facts(m)), 400);
    m.memory.peak_bandwidth.set(1280);
    EXPECT_DOUBLE_EQ(*bytes_per_add(Facts(m)), 2) << "of the pins, as the thesis has it";
}

TEST(Quantities, DualIssueDoesNotHideTheLatencyOfDependentAdds) {
    auto m = round_numbers(3);
    m.operations["add.f32"].throughput.set(192);
    m.issue.schedulers_per_sm.set(4);
    m.issue.issue_interval.set(1);
    m.issue.dual_issue.set(2);
    EXPECT_DOUBLE_EQ(*warps_for_arithmetic(Facts(m)), 80)
        << "four instructions a cycle, though the units could take six";
}

TEST(Quantities, AreMissingWhereALeafIsUnknown) {
    for (const char* without : {"paths.global.memory_latency", "memory.read_bandwidth", "clock.sm_mhz", "topology.sms",
                                "topology.warp_size"}) {
        auto m = round_numbers(1);
        machine::set_leaf(m, without, {machine::Knowledge::undecided, {}, {}, {}});
        EXPECT_EQ(warps_for_memory(Facts(m)), std::nullopt) << without;
    }
}

TEST(Quantities, StreamingFitsTheWarpsThatAnSmHolds) {
    auto m = round_numbers(1);  // 200 warps by Little's law, and 32 fit
    auto found = *streaming(Facts(m));
    EXPECT_EQ(streaming_text(found), "32 warps with 7 loads of 4 bytes each");
    EXPECT_FALSE(found.measured);
    EXPECT_EQ(found.wide_warps, 0) << "50 warps with 16 bytes each do not fit either";
    m.topology.max_threads_per_sm.set(2048);
    found = *streaming(Facts(m));
    EXPECT_EQ(streaming_text(found), "64 warps with 4 loads of 4 bytes each");
    EXPECT_EQ(found.wide_warps, 50);
    m.topology.max_threads_per_sm.set(32 * 300);
    EXPECT_EQ(streaming_text(*streaming(Facts(m))), "200 warps with 1 load of 4 bytes each");
    m.memory.bytes_in_flight.set(17 * 1024);  // of an SM, as a scan measured it
    m.topology.max_threads_per_sm.set(2048);
    found = *streaming(Facts(m));
    EXPECT_EQ(streaming_text(found), "64 warps with 3 loads of 4 bytes each") << "136 words of a warp";
    EXPECT_TRUE(found.measured);
    EXPECT_EQ(streaming(Facts(machine::Machine{})), std::nullopt);
}

TEST(Quantities, TensorRatesAreOperationsOfProducts) {
    auto m = round_numbers(9);
    m.pipelines["tensor"].lanes.set(16);  // half an mma.m16n8k16 of 4096 operations in a cycle
    m.operations["wgmma.m64n256k16.f32.f16.f16"].throughput.set(1);
    m.operations["wgmma.m64n8k16.f32.f16.f16"].throughput.set(6.4);
    m.operations["wgmma.m64n256k32.s32.s8.s8"].throughput.set(1);
    m.operations["wgmma.sp.m64n256k32.f32.f16.f16"].throughput.set(1);
    m.operations["wgmma.odd"].throughput.set(9);
    const auto rates = tensor_rates(Facts(m));
    ASSERT_EQ(rates.size(), 3U);
    EXPECT_EQ(rates[0].type, "INT8");
    EXPECT_EQ(rates[0].unit(), "OP");
    EXPECT_DOUBLE_EQ(rates[0].per_cycle, 8192);
    EXPECT_EQ(rates[1].instruction, "wgmma.m64n256k16") << "the fastest of its type";
    EXPECT_DOUBLE_EQ(rates[1].per_cycle, 4096);
    EXPECT_DOUBLE_EQ(*rates[1].of_all, 4096 * 10 * 1e9);
    EXPECT_EQ(rates[2].instruction, "mma.m16n8k16");
    EXPECT_DOUBLE_EQ(rates[2].per_cycle, 2048);
    EXPECT_EQ(in_operations("pipelines.tensor.lanes", 16), "2048 FLOP/cycle, FP16, mma.m16n8k16");
    EXPECT_EQ(in_operations("operations[wgmma.m64n256k32.s32.s8.s8].throughput", 1), "8192 OP/cycle");
    EXPECT_EQ(in_operations("operations[wgmma.sp.m64n256k32.f32.f16.f16].throughput", 1),
              "8192 FLOP/cycle, zeros of A included");
    EXPECT_EQ(in_operations("operations[add.f32].throughput", 64), "");
}

TEST(Quantities, RatesHaveThePrefixesOfTheSi) {
    EXPECT_EQ(with_prefix(1.0706e15, "FLOP"), "1071 TFLOP/s");
    EXPECT_EQ(with_prefix(6.697e13, "FLOP"), "67 TFLOP/s");
    EXPECT_EQ(with_prefix(2.5e16, "OP"), "25 POP/s");
    EXPECT_EQ(with_prefix(640e9, "FLOP"), "640 GFLOP/s");
}

TEST(SideBySide, KeepsTheOrderOfTheDescriptionAndMarksWhatDiffers) {
    machine::Machine a, b, c;
    a.caches["l1"].capacity.set(16384);
    a.caches["l1"].latency.set(80, {.interval = {{79, 82}}});
    b.caches["l1"].latency.set(82);
    b.caches["l2"].ways.set(8);
    c.caches["l1"].capacity.set(32768);
    c.caches["l1"].line.set(128);
    const std::vector<Described> columns{{"a", Facts(a)}, {"b", Facts(b)}, {"c", Facts(c)}};
    const auto rows = side_by_side(columns);
    std::vector<std::string> paths;
    for (const auto& row : rows) paths.push_back(row.any->path);
    EXPECT_THAT(paths,
                ::testing::ElementsAre("caches.l1.capacity", "caches.l1.line", "caches.l1.latency", "caches.l2.ways"));
    EXPECT_TRUE(rows[0].differs);
    EXPECT_FALSE(rows[2].differs) << "within the interval";
    EXPECT_FALSE(rows[3].differs) << "known of one only";
    EXPECT_EQ(rows[3].leaves[0], nullptr);
}

TEST(SideBySide, AbsentDiffersFromPresentAndUndecidedFromExcludedValues) {
    machine::Machine a, b;
    a.caches["l1"].capacity.knowledge = machine::Knowledge::absent;
    b.caches["l1"].capacity.set(16384);
    a.caches["l1"].ways.knowledge = b.caches["l1"].ways.knowledge = machine::Knowledge::undecided;
    a.caches["l1"].ways.candidates = {2, 4};
    b.caches["l1"].ways.candidates = {4, 8};
    const std::vector<Described> columns{{"a", Facts(a)}, {"b", Facts(b)}};
    const auto rows = side_by_side(columns);
    EXPECT_TRUE(rows[0].differs);
    EXPECT_FALSE(rows[1].differs) << "both may have 4";
}

TEST(Trends, AreInTheOrderOfComputeCapability) {
    const std::vector<Described> columns{{"new one", Facts(round_numbers(7))}, {"old one", Facts(round_numbers(2))}};
    const auto text = trends(columns);
    EXPECT_LT(text.find("old one"), text.find("new one"));
    EXPECT_THAT(text, AllOf(HasSubstr("<span>200</span>"), HasSubstr("<span>40</span>"), HasSubstr("<span>5</span>")));
    EXPECT_EQ(trends(std::vector<Described>{{"a", Facts(machine::Machine{})}, {"b", Facts(machine::Machine{})}}), "");
}

TEST(Comparison, IsOnePageWithAColumnForEachGpu) {
    const auto text =
        comparison({{"GPU <a>", testing::described()}, {"twin", round_numbers(2)}, {"twin", round_numbers(3)}});
    EXPECT_THAT(text, AllOf(HasSubstr("GPU &lt;a&gt;"), HasSubstr("<th>twin (1)<th>twin (2)"),
                            HasSubstr("<h2 id=trends>"), Not(HasSubstr("<script"))));
    for (const char* outside : {"http:", "https:", "src=", "<link"}) EXPECT_THAT(text, Not(HasSubstr(outside)));
}

TEST(Html, ListsDifferencesFromTheGenerationBefore) {
    auto now = round_numbers(5);
    now.operations["add.f32"].latency.set(4);
    Page page{.device = "new"};
    page.earlier = Earlier{"old", round_numbers(2)};
    const auto text = html(now, page);
    EXPECT_THAT(text, AllOf(HasSubstr("<b>4 cycles</b><span>FP32 add latency</span><small>was 20 cycles</small>"),
                            HasSubstr("<small>was 32 warps with 7 loads of 4 bytes each</small>"),
                            HasSubstr("<a href='#earlier' title='since old'>Changes</a>"),
                            HasSubstr("<h2>Changes since old</h2>")));
    EXPECT_THAT(text, HasSubstr("2 of 10 values that are known of both differ")) << "the latency and the capability";
    EXPECT_THAT(text, AllOf(HasSubstr("<b>32 warps with 7 loads of 4 bytes each</b>"), Not(HasSubstr("200 warps"))))
        << "an SM holds 32 warps";
    EXPECT_THAT(html(now, {.device = "new"}), AllOf(Not(HasSubstr("was ")), Not(HasSubstr("id=earlier"))));
}

}  // namespace
}  // namespace gputomo::report
