#include "machine/json.hpp"
#include "machine/diff.hpp"
#include "machine/paths.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
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

TEST(MachineJson, ReadsAndWritesShippedMachinesWithoutLoss) {
    for (const char* name :
         {"machines/gtx280.json", "tests/data/machines/fermi_like.json", "tests/data/machines/kepler_like.json"}) {
        const Machine machine = load(kSource / name);
        const auto result = diff(machine, from_json(to_json(machine)));
        EXPECT_TRUE(result.differing.empty() && result.only_a.empty() && result.only_b.empty()) << name;
        EXPECT_GT(result.equal, 80U) << name;
    }
}

std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// With GPUTOMO_UPDATE_GOLDEN set, the test rewrites the file instead of comparing it.
void expect_golden(const std::filesystem::path& file, const std::string& expected) {
    if (std::getenv("GPUTOMO_UPDATE_GOLDEN") != nullptr) std::ofstream(file) << expected;
    EXPECT_TRUE(text_of(file) == expected)
        << file << " is out of date; run this test with GPUTOMO_UPDATE_GOLDEN=1 to write it anew";
}

TEST(MachineJson, MakesTheSchemaFileFromTheStructs) {
    expect_golden(kSource / "docs/machine.schema.json", json_schema());
}

TEST(MachineJson, FormatsMachineFilesAsToJsonDoes) {
    for (const char* folder : {"machines", "tests/data/machines"})
        for (const auto& entry : std::filesystem::directory_iterator(kSource / folder))
            expect_golden(entry.path(), to_json(load(entry.path())));
}

TEST(MachineJson, NamesFileFieldAndExpectationInErrors) {
    EXPECT_THAT(error_of("{"), HasSubstr("card.json: line 1, column 2: not JSON"));
    EXPECT_THAT(error_of("{}"), HasSubstr("schema: found none; expected \"gputomo-machine-1\""));
    EXPECT_THAT(error_of(with(R"("caches":{"l1":{"linee":{}}})")), HasSubstr("caches.l1.linee: unknown field"));
    EXPECT_THAT(error_of(with(R"("cachez":{})")), HasSubstr("cachez: unknown section"));
    EXPECT_THAT(error_of(with(R"("caches":{"l1":{"line":{"value":64,"unit":"KB","source":"x"}}})")),
                HasSubstr("caches.l1.line: unit: found \"KB\"; expected \"bytes\""));
    EXPECT_THAT(error_of(with(R"("caches":{"l1":{"line":{"value":64,"unit":"bytes"}}})")),
                HasSubstr("caches.l1.line: found no provenance; expected either \"source\""));
    EXPECT_THAT(error_of(with(R"("operations":{"add.s32":{"latency":{"value":"24","unit":"cycles","source":"x"}}})")),
                HasSubstr("operations[add.s32].latency: value: found \"24\"; expected an integer"));
    EXPECT_THAT(error_of(with(R"("clock":{"scope":{"value":"die","source":"x"}})")),
                HasSubstr("expected one of sm, tpc, gpc, gpu"));
    EXPECT_THAT(error_of(with(R"("clock":{"read_cost":{"value":-1,"unit":"cycles","source":"x"}})")),
                HasSubstr("no negative number"));
    EXPECT_THAT(error_of(with(R"("clock":{"read_cost":{"value":1,"unit":"cycles","method":"m","confidence":1.5}})")),
                HasSubstr("clock.read_cost: confidence: found 1.5"));
    EXPECT_THAT(error_of(std::string(5000, '[')), HasSubstr("card.json"));
}

TEST(MachineJson, RefusesSizesThatDoNotMultiply) {
    Machine machine;
    machine.caches["l1"].capacity.set(4096, {.source = "test"});
    machine.caches["l1"].line.set(64, {.source = "test"});
    machine.caches["l1"].ways.set(4, {.source = "test"});
    machine.caches["l1"].sets.set(8, {.source = "test"});
    EXPECT_THAT(error_of(to_json(machine)),
                HasSubstr("caches.l1.capacity: found 4096; expected at most 32 lines of 64 bytes, 2048"));
    machine.caches["l1"].sets.set(16);
    EXPECT_EQ(error_of(to_json(machine)), "no error");
    machine.paths["global"].caches.set({"l1", "l9"}, {.source = "test"});
    EXPECT_THAT(error_of(to_json(machine)), HasSubstr("paths.global.caches: found \"l9\""));
}

TEST(MachineJson, RefusesNegativeNumbersAndRatesOfZero) {
    const auto with_leaf = [](const std::string& path, const Value& value) {
        Machine machine;
        set_leaf(machine, path, {Knowledge::known, value, {}, {.source = "test"}});
        try {
            validate(machine, "--set");
        } catch (const InputError& e) {
            return std::string(e.what());
        }
        return std::string("no error");
    };
    EXPECT_THAT(with_leaf("topology.sms", std::int64_t{-132}),
                HasSubstr("topology.sms: found -132; expected 0 or more"));
    EXPECT_THAT(with_leaf("caches.l2.capacity", std::int64_t{-1}), HasSubstr("caches.l2.capacity: found -1"));
    EXPECT_THAT(with_leaf("caches.l2.latency", std::int64_t{-5}),
                HasSubstr("found -5 cycles; expected 0 to 1000000000"));
    EXPECT_THAT(with_leaf("accesses.l2_store.partial_cost", -2.2), HasSubstr("found -2.2; expected 0 or more"));
    EXPECT_THAT(with_leaf("accesses.l2_store.bytes_per_cycle", 0.0), HasSubstr("found 0 bytes/cycle; expected 1e-06"));
    // Each number of a list is checked.
    EXPECT_THAT(with_leaf("paths.global.memory_latency_range", std::vector<std::int64_t>{-700, 700}),
                HasSubstr("memory_latency_range: found -700 cycles"));
    EXPECT_THAT(with_leaf("caches.l1.capacity_options", std::vector<std::int64_t>{65536, -1}), HasSubstr("found -1"));
    EXPECT_THAT(with_leaf("memory.contention_limits", std::vector<double>{5349, 0}), HasSubstr("found 0 GB/s"));
    EXPECT_EQ(with_leaf("caches.l2.latency", std::int64_t{0}), "no error");
}

TEST(MachineJson, KeepsAbsentAndUndecidedLeaves) {
    Machine machine;
    set_leaf(machine, "caches.l1.capacity", {Knowledge::absent, {}, {}, {.method = "chase"}});
    set_leaf(machine, "caches.l2.ways",
             {Knowledge::undecided, {}, {std::int64_t{8}, std::int64_t{16}}, {.method = "chase"}});
    const Machine back = from_json(to_json(machine));
    EXPECT_EQ(back.caches.at("l1").capacity.knowledge, Knowledge::absent);
    EXPECT_EQ(back.caches.at("l2").ways.candidates, (std::vector<std::int64_t>{8, 16}));
}

TEST(MachineJson, RefusesALeafWithTwoKindsOfKnowledgeOrProvenance) {
    const auto leaf = [](const std::string& members) {
        return error_of(with(R"("clock":{"resolution":{"unit":"cycles",)" + members + "}}"));
    };
    EXPECT_EQ(leaf(R"("value":2,"source":"s")"), "no error");
    EXPECT_EQ(leaf(R"("value":2,"method":"m","confidence":0.9,"interval":[1,3],"note":"n")"), "no error");
    EXPECT_EQ(leaf(R"("absent":true,"method":"m")"), "no error");
    EXPECT_EQ(leaf(R"("candidates":[],"method":"m")"), "no error");
    EXPECT_THAT(leaf(R"("value":2,"absent":true,"source":"s")"),
                HasSubstr("clock.resolution: found 2 of \"value\", \"absent\" and \"candidates\"; expected one"));
    EXPECT_THAT(leaf(R"("source":"s")"), HasSubstr("found 0 of"));
    EXPECT_THAT(leaf(R"("value":2,"source":"s","method":"m")"),
                HasSubstr("found \"source\" and \"method\"; expected either"));
    EXPECT_THAT(leaf(R"("value":2,"source":"s","confidence":1)"), HasSubstr("expected them with \"method\" only"));
    EXPECT_THAT(leaf(R"("value":2,"method":"m","interval":[3,1])"),
                HasSubstr("interval: found [3,1]; expected [low, high]"));
    EXPECT_THAT(leaf(R"("value":2.5,"source":"s")"), HasSubstr("value: found 2.5; expected an integer"));
    EXPECT_THAT(leaf(R"("value":2,"source":"s","values":1)"), HasSubstr("unknown member \"values\""));
    EXPECT_THAT(leaf(R"("absent":false,"method":"m")"), HasSubstr("absent: found false; expected true"));
}

TEST(MachineJson, RefusesANameThatIsGivenTwice) {
    EXPECT_THAT(error_of(R"({"schema":"gputomo-machine-1","caches":{"l1":{},"l1":{}}})"),
                HasSubstr("card.json: found \"l1\" twice in one object"));
    EXPECT_EQ(error_of(R"({"schema":"gputomo-machine-1","caches":{"l1":{}},"tlbs":{"l1":{}}})"), "no error");
}

TEST(MachineJson, RefusesKeysThatBreakPaths) {
    for (const char* key : {"", "l 1", "l[1]", "l\u0131"})
        EXPECT_THAT(error_of(with(R"("caches":{")" + std::string(key) + R"(":{}})")),
                    HasSubstr("caches: found the name"))
            << key;
}

TEST(MachineJson, ChecksTheLargestNumbersWithoutOverflow) {
    const std::string big = R"({"value":9223372036854775807,"unit":"count","source":"s"})";
    EXPECT_THAT(error_of(with(R"("caches":{"l1":{"ways":)" + big + R"(,"sets":)" + big + "}}")),
                HasSubstr("caches.l1.sets: found 9223372036854775807 sets"));
    EXPECT_THAT(
        error_of(with(R"("tlbs":{"t":{"set_ways":{"value":[9223372036854775807,1],"unit":"count","source":"s"}}})")),
        HasSubstr("tlbs.t.set_ways"));
    EXPECT_THAT(error_of(with(R"("clock":{"resolution":{"value":9223372036854775808,"unit":"cycles","source":"s"}})")),
                HasSubstr("expected an integer"));
    EXPECT_THAT(error_of(with(R"("clock":{"sm_mhz":{"value":1e999,"unit":"MHz","source":"s"}})")),
                HasSubstr("not JSON"));
}

TEST(MachineJson, RefusesReplacementAndIndexLeavesThatDoNotFitTheGeometry) {
    const auto cited = Provenance{.source = "test"};
    Machine machine;
    auto& cache = machine.caches["l1"];
    cache.ways.set(4, cited);
    cache.sets.set(4, cited);
    cache.policy.set("way-odds", cited);
    EXPECT_THAT(error_of(to_json(machine)), HasSubstr("caches.l1.way_odds: missing"));
    cache.way_odds.set({0.5, 0.5}, cited);
    EXPECT_THAT(error_of(to_json(machine)), HasSubstr("caches.l1.way_odds: found 2 probabilities; expected 4"));
    cache.way_odds.set({0.5, 0.5, 0.5, 0.5}, cited);
    EXPECT_THAT(error_of(to_json(machine)), HasSubstr("caches.l1.way_odds: found a sum of 2"));
    cache.way_odds.set({1. / 6, 0.5, 1. / 6, 1. / 6}, cited);
    cache.index.set("bits", cited);
    EXPECT_THAT(error_of(to_json(machine)), HasSubstr("caches.l1.index_bits: missing"));
    cache.index_bits.set({7}, cited);
    EXPECT_THAT(error_of(to_json(machine)), HasSubstr("caches.l1.sets: found 4; expected 2"));
    cache.index_bits.set({7, 8}, cited);
    EXPECT_EQ(error_of(to_json(machine)), "no error");
    cache.sector.set(48, cited);
    cache.line.set(128, cited);
    EXPECT_THAT(error_of(to_json(machine)),
                HasSubstr("caches.l1.sector: found 48; expected a divisor of the line, 128"));
}

TEST(MachineJson, AddsUpUnequalSets) {
    const auto cited = Provenance{.source = "Mei 2014, 4.2"};
    Machine machine;
    auto& tlb = machine.tlbs["global_l2"];
    tlb.set_ways.set({17, 8, 8, 8, 8, 8, 8}, cited);
    tlb.sets.set(7, cited);
    tlb.ways.set(17, cited);
    tlb.span.set(2 << 20, cited);
    tlb.entries.set(65, cited);
    tlb.reach.set(std::int64_t{130} << 20, cited);
    EXPECT_EQ(error_of(to_json(machine)), "no error");
    tlb.entries.set(64, cited);
    tlb.reach.set(std::int64_t{128} << 20, cited);
    EXPECT_THAT(error_of(to_json(machine)), HasSubstr("tlbs.global_l2.entries: found 64; expected ways x sets, 65"));
}

TEST(MachineJson, RefusesZeroForSizesAndRates) {
    EXPECT_THAT(error_of(with(R"("topology":{"sms":{"value":0,"unit":"count","source":"s"}})")),
                HasSubstr("topology.sms: found 0; expected a positive number"));
    EXPECT_EQ(error_of(with(R"("instruction_supply":{"prefetch_lines":{"value":0,"unit":"count","source":"s"}})")),
              "no error");
}

TEST(MachineJson, NamesFilesThatCannotBeRead) {
    try {
        (void)load("no/such/card.json");
        FAIL();
    } catch (const InputError& e) {
        EXPECT_THAT(e.what(), HasSubstr("no/such/card.json: cannot be opened"));
    }
    EXPECT_THROW((void)load(kSource), InputError);
}

TEST(MachineJson, LoadsWhatItWrote) {
    const auto file = std::filesystem::path(::testing::TempDir()) / "saved_card.json";
    const Machine machine = load(kSource / "machines/gtx280.json");
    std::ofstream(file) << to_json(machine);
    EXPECT_EQ(to_json(load(file)), to_json(machine));
    std::filesystem::remove(file);
}

TEST(MachineJson, RefusesEveryPrefixOfAFile) {
    std::string text = text_of(kSource / "machines/gtx280.json");
    while (text.back() != '}') text.pop_back();
    ASSERT_EQ(error_of(text), "no error");
    for (std::size_t length = 0; length < text.size(); length += length + 20 < text.size() ? text.size() / 100 : 1)
        EXPECT_THAT(error_of(text.substr(0, length)), HasSubstr("card.json")) << length;
}

TEST(Validation, RefusesValuesOutOfRangeAndNamesTheRange) {
    const auto complaint = [](const std::string& section) {
        try {
            (void)from_json(R"({"schema":"gputomo-machine-1",)" + section + "}", "x");
        } catch (const InputError& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_THAT(complaint(R"("clock":{"sm_mhz":{"value":1e18,"unit":"MHz","source":"s"}})"),
                ::testing::HasSubstr("clock.sm_mhz: found 1e+18 MHz; expected 0.01 to 1000000"));
    EXPECT_THAT(complaint(R"("memory":{"read_bandwidth":{"value":5e-324,"unit":"GB/s","source":"s"}})"),
                ::testing::HasSubstr("memory.read_bandwidth: found 5e-324"));
    EXPECT_THAT(complaint(R"("shared":{"latency":{"value":1000000000000,"unit":"cycles","source":"s"}})"),
                ::testing::HasSubstr("shared.latency"));
    EXPECT_THAT(complaint(R"("tlbs":{"t":{"page":{"value":0,"unit":"bytes","source":"s"}}})"),
                ::testing::HasSubstr("tlbs.t.page: found 0"));
    EXPECT_THAT(
        complaint(
            R"("caches":{"c":{"index":{"value":"bits","source":"s"},"index_bits":{"value":[7,7],"source":"s"}}})"),
        ::testing::HasSubstr("index_bits: found [7, 7]; expected different"));
}

}  // namespace
}  // namespace gputomo::machine
