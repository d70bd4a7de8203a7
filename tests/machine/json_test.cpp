#include "machine/json.hpp"
#include "machine/diff.hpp"
#include "machine/paths.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace gputomo::machine {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kSource = GPUTOMO_SOURCE_DIR;

std::string error_of(const std::string& text) {
    try {
        (void)from_json(text, "card.json");
    } catch (const InputError& e) {
        return e.what();
    }
    return "no error";
}

std::string with(const std::string& body) { return R"({"schema":"gputomo-machine-1",)" + body + "}"; }

TEST(MachineJson, ShippedMachinesAreReadAndWrittenWithoutLoss) {
    int machines = 0;
    for (const auto& entry : std::filesystem::directory_iterator(kSource / "machines")) {
        const Machine machine = load(entry.path());
        EXPECT_EQ(to_json(from_json(to_json(machine))), to_json(machine)) << entry.path();
        EXPECT_EQ(diff(machine, from_json(to_json(machine))).differing.size(), 0U);
        ++machines;
    }
    EXPECT_GE(machines, 1);
}

TEST(MachineJson, EveryValueOfTheGtx280CitesAPaper) {
    const Machine machine = load(kSource / "machines/gtx280.json");
    for (const auto& leaf : all_leaves(machine))
        EXPECT_THAT(leaf.leaf.provenance.source,
                    ::testing::AnyOf(HasSubstr("Wong 2010"), HasSubstr("Volkov 2016"))) << leaf.path;
}

TEST(MachineJson, TheSchemaFileIsWhatTheStructsSay) {
    std::ifstream in(kSource / "docs/machine.schema.json");
    std::ostringstream text;
    text << in.rdbuf();
    EXPECT_EQ(text.str(), json_schema());
}

TEST(MachineJson, ErrorsNameFileFieldAndWhatWasExpected) {
    EXPECT_THAT(error_of("{"), HasSubstr("card.json: not valid JSON"));
    EXPECT_THAT(error_of("{}"), HasSubstr("schema: found none; expected \"gputomo-machine-1\""));
    EXPECT_THAT(error_of(with(R"("caches":{"l1":{"linee":{}}})")), HasSubstr("caches.l1.linee: unknown field"));
    EXPECT_THAT(error_of(with(R"("cachez":{})")), HasSubstr("cachez: unknown section"));
    EXPECT_THAT(error_of(with(R"("caches":{"l1":{"line":{"value":64,"unit":"KB","source":"x"}}})")),
                HasSubstr("caches.l1.line: unit: found \"KB\"; expected \"bytes\""));
    EXPECT_THAT(error_of(with(R"("caches":{"l1":{"line":{"value":64,"unit":"bytes"}}})")),
                HasSubstr("caches.l1.line: expected either \"source\""));
    EXPECT_THAT(error_of(with(R"("operations":{"add.s32":{"latency":{"value":"24","unit":"cycles","source":"x"}}})")),
                HasSubstr("operations[add.s32].latency: value: found \"24\"; expected an integer"));
    EXPECT_THAT(error_of(with(R"("clock":{"scope":{"value":"gpc","source":"x"}})")), HasSubstr("expected one of sm, tpc, gpu"));
    EXPECT_THAT(error_of(with(R"("clock":{"read_cost":{"value":-1,"unit":"cycles","source":"x"}})")), HasSubstr("nothing negative"));
    EXPECT_THAT(error_of(with(R"("clock":{"read_cost":{"value":1,"unit":"cycles","method":"m","confidence":1.5}})")),
                HasSubstr("clock.read_cost: confidence: found 1.5"));
    EXPECT_THAT(error_of(std::string(5000, '[')), HasSubstr("card.json"));
}

TEST(MachineJson, SizesThatDoNotMultiplyAreErrors) {
    Machine machine;
    machine.caches["l1"].capacity.set(4096, {.source = "test"});
    machine.caches["l1"].line.set(64, {.source = "test"});
    machine.caches["l1"].ways.set(4, {.source = "test"});
    machine.caches["l1"].sets.set(8, {.source = "test"});
    EXPECT_THAT(error_of(to_json(machine)), HasSubstr("caches.l1.capacity: found 4096; expected 32 lines of 64 bytes, 2048"));
    machine.caches["l1"].sets.set(16);
    EXPECT_EQ(error_of(to_json(machine)), "no error");
    machine.paths["global"].caches.set({"l1", "l9"}, {.source = "test"});
    EXPECT_THAT(error_of(to_json(machine)), HasSubstr("paths.global.caches: found \"l9\""));
}

TEST(MachineJson, AbsentAndUndecidedLeavesSurvive) {
    Machine machine;
    set_leaf(machine, "caches.l1.capacity", {Knowledge::absent, {}, {}, {.method = "chase"}});
    set_leaf(machine, "caches.l2.ways", {Knowledge::undecided, {}, {std::int64_t{8}, std::int64_t{16}}, {.method = "chase"}});
    const Machine back = from_json(to_json(machine));
    EXPECT_EQ(back.caches.at("l1").capacity.knowledge, Knowledge::absent);
    EXPECT_EQ(back.caches.at("l2").ways.candidates, (std::vector<std::int64_t>{8, 16}));
}

TEST(MachinePaths, KeysWithDotsAreBracketed) {
    Machine machine;
    set_leaf(machine, "operations[add.s32].latency", {Knowledge::known, std::int64_t{24}, {}, {.method = "m"}});
    EXPECT_EQ(*machine.operations.at("add.s32").latency, 24);
    EXPECT_EQ(all_leaves(machine).front().path, "operations[add.s32].latency");
    EXPECT_THROW(set_leaf(machine, "operations[add.s32].speed", {}), std::logic_error);
    EXPECT_THROW(set_leaf(machine, "clock.scope", {Knowledge::known, std::int64_t{1}, {}, {}}), std::logic_error);
    EXPECT_FALSE(get_leaf(machine, "caches.l1.line"));
}

TEST(MachineDiff, ComparesByIntervalToleranceAndCandidates) {
    Machine a, b;
    set_leaf(a, "paths.global.memory_latency", {Knowledge::known, std::int64_t{440}, {}, {.method = "m", .interval = {{438, 442}}}});
    set_leaf(b, "paths.global.memory_latency", {Knowledge::known, std::int64_t{443}, {}, {.method = "m"}});
    EXPECT_EQ(diff(a, b).differing.size(), 1U);
    EXPECT_EQ(diff(a, b, {.tolerance = 0.01}).differing.size(), 0U);
    set_leaf(b, "paths.global.memory_latency", {Knowledge::known, std::int64_t{441}, {}, {.method = "m"}});
    EXPECT_EQ(diff(a, b).equal, 1U);
    set_leaf(b, "paths.global.memory_latency", {Knowledge::undecided, {}, {std::int64_t{400}, std::int64_t{439}}, {.method = "m"}});
    EXPECT_EQ(diff(a, b).undecided.size(), 1U);
    set_leaf(b, "clock.scope", {Knowledge::known, std::string("sm"), {}, {.method = "m"}});
    EXPECT_EQ(diff(a, b).only_b, std::vector<std::string>{"clock.scope"});
}

TEST(MachineDiff, SkipsInternalLeaves) {
    Machine a, b;
    set_leaf(a, "memory.channels", {Knowledge::known, std::int64_t{8}, {}, {.source = "s"}});
    set_leaf(b, "memory.channels", {Knowledge::known, std::int64_t{4}, {}, {.source = "s"}});
    EXPECT_TRUE(diff(a, b).differing.empty());
}

}  // namespace
}  // namespace gputomo::machine
