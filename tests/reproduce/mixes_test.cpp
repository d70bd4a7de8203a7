// Tests of functions of measured mixes: what they read and refuse, and their values on curves made by hand and on a
// small simulated GPU.
#include "reproduce/measured/mixes.hpp"
#include "fakes.hpp"
#include "measure/mix/mix_sweeps.hpp"
#include "measure/mix/mix_throughput.hpp"
#include "models/model.hpp"
#include "sim/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace gputomo::reproduce::of_mixes {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using testing::decided;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

/// Loads take 400 cycles, one every 20; adds take 10 cycles, one every cycle; an SM has two schedulers.
scan::Scan small_gpu() {
    return testing::scan_with(
        {decided("topology.sms", std::int64_t{10}), decided("topology.max_threads_per_sm", std::int64_t{2048}),
         decided("clock.sm_mhz", std::int64_t{1000}), decided("issue.schedulers_per_sm", std::int64_t{2}),
         decided("issue.issue_interval", 2.0), decided("operations[add.f32].latency", std::int64_t{10}),
         decided("operations[add.f32].throughput", 32.0), decided("paths.global.memory_latency", std::int64_t{400}),
         decided("memory.read_bandwidth", 64.0)});
}

void add_curve(scan::Scan& scan, const std::string& experiment, const std::string& name,
               const std::map<double, double>& rates) {
    scan::Record record{.id = experiment, .status = scan::Status::done};
    results::Trace trace{
        .name = name, .experiment = experiment, .columns = {{"warps", "warp/SM", {}}, {"rate", "", {}}}};
    for (const auto& [warps, rate] : rates)
        trace.columns[0].values.push_back(warps), trace.columns[1].values.push_back(rate);
    record.outcome.traces.push_back(trace);
    scan.records.push_back(record);
}

/// Instructions per cycle of the mix: `share` of what the latencies and limits above allow.
std::map<double, double> curve(double alpha, const std::function<double(double warps)>& share) {
    std::map<double, double> rates;
    for (const double warps : {2, 4, 8, 16, 24, 32, 48, 64}) {
        const double groups = std::min({warps / (400 + 10 * alpha), 0.05, 1 / (1 + alpha)});
        rates[warps] = share(warps) * groups * (1 + alpha);
    }
    return rates;
}

scan::Scan measured_gpu() {
    auto scan = small_gpu();
    add_curve(scan, "mixes", "mixes/global/19", curve(19, [](double warps) { return warps == 24 ? 0.8 : 0.95; }));
    add_curve(scan, "mixes", "mixes/global/100", curve(100, [](double) { return 0.95; }));
    // rates in operations per cycle; two schedulers cannot share 3 or 19 warps equally
    add_curve(scan, "occupancy", "occupancy/stream", {{2, 0.16}, {3, 32}, {20, 1.6}, {64, 1.6}});
    add_curve(scan, "occupancy", "occupancy/add", {{2, 6.4}, {10, 31.9}, {19, 32}, {64, 32}});
    return scan;
}

Value value(const std::string& text, const scan::Scan& scan) { return Expression(text).evaluate({{"G", scan}}, "G"); }

std::string refusal(const std::string& text) {
    try {
        (void)Expression(text);
    } catch (const InputError& e) {
        return e.what();
    }
    return "nothing";
}

std::string missing(const std::string& text, const scan::Scan& scan) {
    try {
        (void)value(text, scan);
    } catch (const NotMeasured& e) {
        return e.what();
    }
    return "nothing";
}

TEST(Mixes, EstimatesAreAtTheMeasuredOccupancies) {
    const auto scan = measured_gpu();
    EXPECT_EQ(text_of(value("mix_warps('global', 19)", scan)), "[2, 4, 8, 16, 24, 32, 48, 64]");
    EXPECT_NEAR(
        std::get<double>(value("max(mix_estimate('volkov-basic', 'global', 19) / mix_rate('global', 19))", scan)),
        1 / 0.8, 1e-9);
    EXPECT_NEAR(
        std::get<double>(value("min(mix_estimate('volkov-basic', 'global', 19) / mix_rate('global', 19))", scan)),
        1 / 0.95, 1e-9);
    EXPECT_NEAR(std::get<double>(value("at(mix_warps('global', 19), mix_estimate('roofline', 'global', 19), 2)", scan)),
                1, 1e-9);
    EXPECT_NEAR(std::get<double>(value("mix_peak('global', 1)", scan)), 0.1, 1e-9);
}

TEST(Mixes, InstructionsAloneAreReadAtEqualWarpsPerScheduler) {
    const auto scan = measured_gpu();
    EXPECT_EQ(text_of(value("mix_warps('global', 0)", scan)), "[2, 20, 64]");
    EXPECT_EQ(text_of(value("mix_rate('global', 0)", scan)), "[0.005, 0.05, 0.05]");
    EXPECT_EQ(text_of(value("mix_warps('global', 'adds')", scan)), "[2, 10, 64]");
    // The model of Zhang and Owens interpolates linearly between the measured points of each.
    EXPECT_NEAR(
        std::get<double>(value("at(mix_warps('global', 19), mix_estimate('zhang-owens-add', 'global', 19), 2)", scan)),
        20 / (1 / 0.005 + 19 / 0.2), 1e-9);
}

TEST(Mixes, NeededWarpsReach90PercentOfThePeak) {
    const auto scan = measured_gpu();
    EXPECT_EQ(text_of(value("mix_needed('volkov-basic', 'global', 19)", scan)), "27");  // 0.9 x 0.05 x 590 = 26.55
    EXPECT_EQ(text_of(value("mix_needed('volkov-basic', 'global', 4 / 2)", scan)), "19");
    EXPECT_EQ(text_of(value("mix_needed('volkov-basic', 'global', 'adds')", scan)), "9");
    EXPECT_THAT(missing("mix_needed('baghsorkhi', 'global', 1 / 4)", scan), HasSubstr("baghsorkhi does not reach 90"));
}

TEST(Mixes, ACuspNeedsMoreWarpsThanEitherEnd) {
    auto scan = measured_gpu();
    EXPECT_EQ(value("mix_cusp('global', list(19, 100))", scan), Value(true));
    EXPECT_EQ(value("mix_cusp('global', list(100))", scan), Value(false));
    // If loads alone need all warps, no mix can need more.
    std::erase_if(scan.records,
                  [](const auto& record) { return record.outcome.traces.front().name == "occupancy/stream"; });
    add_curve(scan, "occupancy", "occupancy/stream", {{2, 0.16}, {48, 1.2}, {64, 1.2}});
    EXPECT_EQ(value("mix_cusp('global', list(19, 100))", scan), Value(false));
}

TEST(Mixes, MissingMeasurementsAreNamed) {
    const auto scan = measured_gpu();
    EXPECT_THAT(missing("mix_rate('global', 20)", scan), HasSubstr("the mix of global with alpha 20"));
    EXPECT_THAT(missing("mix_rate('shared', 19)", scan), HasSubstr("shared.latency"));
    auto few = testing::scan_with({decided("topology.sms", std::int64_t{10})});
    EXPECT_THAT(missing("mix_peak('global', 1)", few), HasSubstr("clock.sm_mhz"));
    auto alone = small_gpu();
    add_curve(alone, "mixes", "mixes/global/19", curve(19, [](double) { return 1; }));
    EXPECT_THAT(missing("mix_cusp('global', list(19))", alone), HasSubstr("accesses and adds alone"));
}

TEST(Mixes, AlphasThatAreNoLiteralsAreRefused) {
    EXPECT_THAT(refusal("mix_rate('l2', 1)"),
                HasSubstr("expected 'global', 'shared' or 'sfu' in mix_rate('ACCESS', ALPHA)"));
    EXPECT_THAT(refusal("mix_rate('global')"), HasSubstr("expected mix_rate('ACCESS', ALPHA)"));
    for (const auto* text :
         {"mix_rate('global', 1.5)", "mix_rate('global', shared.latency)", "mix_rate('global', 4 / 2)",
          "mix_rate('global', 'all')", "mix_rate('global', 513)", "mix_warps('global', 1000000000000000000000)"})
        EXPECT_THAT(refusal(text), HasSubstr("expected 0 to 512 adds, or 'adds', as ALPHA in")) << text;
    EXPECT_THAT(refusal("mix_estimate('nobody', 'global', 1)"), HasSubstr("expected the id of a model"));
    EXPECT_THAT(refusal("mix_estimate('sim', clock.scope, 1)"),
                HasSubstr("expected mix_estimate('MODEL', 'ACCESS', ALPHA)"));
    EXPECT_THAT(refusal("mix_cusp('global', 8)"), HasSubstr("expected mix_cusp('ACCESS', list(ALPHA, ...))"));
    EXPECT_THAT(refusal("mix_cusp('global', list(8, 'adds'))"), HasSubstr("expected 0 to 512 adds as ALPHA"));
}

TEST(Mixes, RowsListTheMixesToMeasure) {
    const Expression expression(
        "max(mix_estimate('sim', 'global', 32) / mix_rate('global', 32)) + of('H', length(mix_warps('sfu', 4))) + "
        "mix_needed('sim', 'global', 7)");
    EXPECT_THAT(expression.reads_of("G", "G").mixes, ElementsAre(Mix{"global", 32}));
    EXPECT_THAT(expression.reads_of("H", "G").mixes, ElementsAre(Mix{"sfu", 4}));
    const auto paper =
        paper_from_json(testing::paper_text(R"x("value":1,"reproduce":"max(mix_rate('global', 32))")x"), "test");
    EXPECT_THAT(mixes_for({&paper.entries.front()}, "G"), ElementsAre(Mix{"global", 32}));
    EXPECT_THAT(experiments_for({&paper.entries.front()}, "G"),
                AllOf(Contains("occupancy"), Contains("dram_bandwidth"), Contains("arithmetic_latency"),
                      Contains("issue"), Not(Contains("shared_latency"))));
}

/// An invented GPU: two SMs with two schedulers each, slow adds and a memory of low latency.
std::unique_ptr<device::Device> unknown_gpu() {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/gtx480.json");
    machine.topology.sms.set(2);
    machine.operations.at("add.f32").latency.set(23);
    machine.paths.at("global").memory_latency.set(211);
    machine.memory.read_bandwidth.set(14.0);
    machine.memory.peak_bandwidth.set(17.0);
    return sim::make_device(machine, {.id = "sim:unknown", .seed = 5});
}

TEST(Mixes, AreMeasuredAtOccupanciesOfASimulatedGpu) {
    const auto device = unknown_gpu();
    const auto scan = testing::scan_with({decided("issue.schedulers_per_sm", std::int64_t{2})});
    double last = 0;
    const auto record =
        measure_mixes(*device, scan, {{"global", 6}, {"sfu", 8}}, [&](double fraction, std::string_view) {
            EXPECT_GE(fraction, last);
            last = fraction;
        });
    ASSERT_EQ(record.status, scan::Status::done) << record.error;
    ASSERT_EQ(record.outcome.traces.size(), 2U);
    EXPECT_EQ(record.outcome.traces[0].name, "mixes/global/6");
    for (const auto& trace : record.outcome.traces) {
        const auto &warps = trace.columns[0].values, &rate = trace.columns[1].values;
        const auto wanted = measure::mix_occupancies(2, 48);
        EXPECT_THAT(warps, ::testing::ElementsAreArray(std::vector<double>(wanted.begin(), wanted.end())));
        const bool global = trace.name == "mixes/global/6";
        const double latency = global ? 211 + 6 * 23 : 22 + 8 * 23, group = global ? 7 : 9;
        EXPECT_NEAR(rate.front(), 2 * group / latency, 0.02 * rate.front())
            << trace.name;  // one warp a scheduler: latencies and nothing else
        EXPECT_NEAR(rate.back(), global ? 7 * 14 / (128 * 2 * 1.4) : 1, 0.12 * rate.back())
            << trace.name;  // the memory's rate, or the schedulers'
    }
}

TEST(Mixes, AnInterruptLeavesARecord) {
    const auto device = unknown_gpu();
    const auto record =
        measure_mixes(*device, {}, {{"sfu", 8}}, [](double, std::string_view) { throw Interrupted("by the test"); });
    EXPECT_EQ(record.status, scan::Status::interrupted);
    EXPECT_EQ(record.error, "by the test");
}

TEST(Mixes, WhatWasMeasuredBeforeAnInterruptIsKept) {
    const auto device = unknown_gpu();
    const auto record = measure_mixes(*device, {}, {{"sfu", 8}, {"sfu", 16}}, [](double fraction, std::string_view) {
        if (fraction >= 0.5) throw Interrupted("by the test");
    });
    EXPECT_EQ(record.status, scan::Status::interrupted);
    ASSERT_EQ(record.outcome.traces.size(), 1U);
    EXPECT_EQ(record.outcome.traces.front().name, mix_trace_name({"sfu", 8}));
}

}  // namespace
}  // namespace gputomo::reproduce::of_mixes
