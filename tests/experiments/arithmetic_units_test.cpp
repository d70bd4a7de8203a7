// Units found by pairs, on simulated SMs that no real GPU has.
#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

machine::Machine gtx280() { return machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx280.json"); }

/// The arithmetic experiments, one after the other, of the basic operations.
class Scanned {
public:
    explicit Scanned(const machine::Machine& machine, bool quick = true) {
        const auto device = sim::make_device(machine, {.id = "sim:units"});
        Context context = quiet_context(*device, findings, quick);
        for (const auto* id : {"arithmetic_latency", "arithmetic_throughput", "arithmetic_units"}) {
            const auto experiment = std::ranges::find(catalogue(), std::string_view(id), &Experiment::id);
            for (auto& estimate : experiment->run(context).estimates) findings.add(estimate);
        }
    }
    std::vector<std::string> units(const std::string& operation) const {
        const auto* found = findings.find("operations[" + operation + "].units");
        if (found == nullptr || found->knowledge != results::Knowledge::known) return {"not decided"};
        return std::get<std::vector<std::string>>(found->value);
    }
    std::optional<double> number(const std::string& path) const { return findings.number(path); }
    Findings findings;
};

/// Describes an operation anew: latency, rate, units.
void describe(machine::Machine& machine, const std::string& key, std::int64_t latency, double rate,
              std::vector<std::string> units) {
    auto& row = machine.operations[key];
    row.latency.value = latency;
    row.throughput.value = rate;
    row.instructions.value = 1;
    row.units.set(std::move(units), {.source = "this test"});
}

machine::Machine with_integer_unit() {
    auto machine = gtx280();
    machine.pipelines["int"] = machine.pipelines["sp"];
    machine.pipelines["int"].lanes.value = 4;
    for (const auto* key : {"add.s32", "add.u32", "mul.lo.s32", "mad.lo.s32"}) describe(machine, key, 20, 4, {"int"});
    return machine;
}

TEST(ArithmeticUnits, OfTheGtx280AreThoseOfTables3And4) {
    const Scanned scan(gtx280(), false);
    for (const auto* key :
         {"add.s32", "min.u32", "mul.lo.s32", "mad.lo.u32", "fma.rn.f32", "mul24.lo.u32", "sad.s32", "add.rz.f32"})
        EXPECT_THAT(scan.units(key), ElementsAre("sp")) << key;
    for (const auto* key : {"mul.f32", "mul.rn.f32", "mul.rz.f32"})
        EXPECT_THAT(scan.units(key), ElementsAre("sp", "sfu")) << key;
    for (const auto* key : {"rsqrt.approx.f32", "sin.approx.f32", "ex2.approx.f32", "lg2.approx.f32"})
        EXPECT_THAT(scan.units(key), ElementsAre("sfu")) << key;
    for (const auto* key : {"add.f64", "fma.rn.f64", "max.f64"})
        EXPECT_THAT(scan.units(key), ElementsAre("dpu")) << key;
    EXPECT_EQ(scan.number("operations[add.s32].instructions"), 1);
}

TEST(ArithmeticUnits, ASeparateIntegerUnitIsFoundAndMeasured) {
    const Scanned scan(with_integer_unit());
    for (const auto* key : {"add.s32", "mul.lo.s32", "mad.lo.s32"})
        EXPECT_THAT(scan.units(key), ElementsAre("int")) << key;
    for (const auto* key : {"add.f32", "fma.rn.f32"}) EXPECT_THAT(scan.units(key), ElementsAre("sp")) << key;
    EXPECT_EQ(scan.number("pipelines.int.lanes"), 4);
    EXPECT_EQ(scan.number("pipelines.int.latency"), 20);
}

TEST(ArithmeticUnits, AMultiplicationOnTwoUnitsThatAreNoSfu) {
    auto machine = with_integer_unit();
    describe(machine, "mul.f32", 24, 12, {"sp", "int"});
    const Scanned scan(machine);
    EXPECT_THAT(scan.units("mul.f32"), ElementsAre("sp", "int"));
    EXPECT_THAT(scan.findings.find("operations[mul.f32].units")->note, HasSubstr("either unit takes it"));
}

TEST(ArithmeticUnits, AnOperationAtHalfRateIsNoUnitOfItsOwn) {
    auto machine = gtx280();
    describe(machine, "mad.lo.s32", 24, 4, {"sp"});
    const Scanned scan(machine);
    EXPECT_THAT(scan.units("mad.lo.s32"), ElementsAre("sp"));
    // One latency but two turns: one slow instruction or two independent ones.
    const auto* instructions = scan.findings.find("operations[mad.lo.s32].instructions");
    ASSERT_NE(instructions, nullptr);
    EXPECT_EQ(instructions->knowledge, results::Knowledge::undecided);
    EXPECT_THAT(instructions->candidates,
                ElementsAre(results::Value(std::int64_t{1}), results::Value(std::int64_t{2})));
}

TEST(ArithmeticUnits, ASharedUnitBelowTheIssueLimitIsReportedAsNotMeasurable) {
    auto machine = gtx280();
    machine.issue.issue_interval.value = 4;  // as long as the SPs take for a warp
    machine.pipelines["fp"] = machine.pipelines["sp"];
    describe(machine, "fma.rn.f32", 24, 8, {"fp"});
    const Scanned scan(machine);
    EXPECT_THAT(scan.units("fma.rn.f32"), ElementsAre("sp"));
    const auto* units = scan.findings.find("operations[fma.rn.f32].units");
    EXPECT_LT(units->confidence, 0.9);
    EXPECT_THAT(units->note, HasSubstr("not measurable below the issue limit"));
}

}  // namespace
}  // namespace gputomo::experiments
