#include "machine/paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace gputomo::machine {
namespace {

using ::testing::HasSubstr;

TEST(MachinePaths, PutKeysWithDotsInBrackets) {
    Machine machine;
    set_leaf(machine, "operations[add.s32].latency", {Knowledge::known, std::int64_t{24}, {}, {.method = "m"}});
    EXPECT_EQ(*machine.operations.at("add.s32").latency, 24);
    EXPECT_EQ(all_leaves(machine).front().path, "operations[add.s32].latency");
    EXPECT_THROW(set_leaf(machine, "operations[add.s32].speed", {}), std::logic_error);
    EXPECT_THROW(set_leaf(machine, "clock.scope", {Knowledge::known, std::int64_t{1}, {}, {}}), std::logic_error);
    EXPECT_FALSE(get_leaf(machine, "caches.l1.line"));
}

TEST(MachinePaths, JoinKeysWithoutDotsByDots) {
    Machine machine;
    set_leaf(machine, "caches.l1.capacity", {Knowledge::known, std::int64_t{16384}, {}, {.method = "m"}});
    EXPECT_EQ(*machine.caches.at("l1").capacity, 16384);
    EXPECT_EQ(std::get<std::int64_t>(get_leaf(machine, "caches.l1.capacity")->value), 16384);
    EXPECT_EQ(join_path("caches", "l1", "capacity"), "caches.l1.capacity");
    EXPECT_EQ(join_path("clock", "", "scope"), "clock.scope");
}

TEST(MachinePaths, AcceptBothSpellingsOfAKeyWithoutDots) {
    Machine machine;
    set_leaf(machine, "caches[l1].capacity", {Knowledge::known, std::int64_t{1}, {}, {.method = "m"}});
    EXPECT_EQ(std::get<std::int64_t>(get_leaf(machine, "caches.l1.capacity")->value), 1);
}

TEST(MachinePaths, ConvertNumbersOnlyWithoutLoss) {
    Machine machine;
    const auto set = [&](const char* path, Value value) {
        set_leaf(machine, path, {Knowledge::known, std::move(value), {}, {.method = "m"}});
    };
    set("clock.sm_mhz", std::int64_t{1296});
    EXPECT_EQ(*machine.clock.sm_mhz, 1296.0);
    set("clock.read_cost", 28.0);
    EXPECT_EQ(*machine.clock.read_cost, 28);
    EXPECT_THROW(set("clock.read_cost", 28.5), std::logic_error);
    EXPECT_THROW(set("clock.read_cost", 1e300), std::logic_error);
    EXPECT_THROW(set("clock.read_cost", std::string("28")), std::logic_error);
}

TEST(MachinePaths, NameAMalformedPathInTheError) {
    Machine machine;
    for (const char* path : {"", "clock", "caches[l1", "caches.l1", "clocks.scope", "caches..capacity"}) {
        try {
            set_leaf(machine, path, {});
            ADD_FAILURE() << path;
        } catch (const std::logic_error& e) {
            EXPECT_THAT(e.what(), HasSubstr(std::string("'") + path + "'"));
        }
    }
    EXPECT_TRUE(all_leaves(machine).empty());
}

TEST(MachinePaths, VisitEveryLeafOnceAndSetEachByItsPath) {
    Machine machine;
    machine.pipelines["sp"];
    machine.operations["add.s32"];
    machine.caches["l1"];
    machine.tlbs["global_l1"];
    machine.paths["global"];
    std::set<std::string> paths;
    visit_leaves(machine, [&](const std::string& path, const FieldInfo& info, const auto& field) {
        EXPECT_TRUE(paths.insert(path).second) << path;
        EXPECT_FALSE(info.doc.empty()) << path;
        EXPECT_EQ(field.knowledge, Knowledge::unknown) << path;
    });
    EXPECT_GT(paths.size(), 100U);
    Machine filled;
    for (const auto& path : paths) set_leaf(filled, path, {Knowledge::absent, {}, {}, {.method = "m"}});
    EXPECT_EQ(all_leaves(filled).size(), paths.size());
}

}  // namespace
}  // namespace gputomo::machine
