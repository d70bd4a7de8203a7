// Reads exports back and compares them with the description that they come from.
#include "exports/exports.hpp"

#include "machine/json.hpp"
#include "machine/paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <set>
#include <sstream>
#include <string>

namespace gputomo::exports {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

machine::Machine gtx280() { return machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx280.json"); }

/// An invented sectored two-level hierarchy whose numbers are all different.
machine::Machine made_up() {
    machine::Machine m;
    m.identity.name.set("Made Up");
    m.topology.warp_size.set(32);
    m.issue.schedulers_per_sm.set(4);
    m.memory.channels.set(6);
    m.paths["global"].caches.set({"near", "far"});
    m.paths["global"].memory_latency.set(617);
    auto& near = m.caches["near"];
    near.latency.set(37), near.sets.set(8), near.line.set(128), near.sector.set(32), near.ways.set(12),
        near.policy.set("fifo");
    near.outstanding_entries.set(77), near.outstanding_merge.set(5), near.write_policy.set("write-through"),
        near.index.set("hash");
    auto& far = m.caches["far"];
    far.latency.set(251), far.sets.set(1536), far.line.set(64), far.sector.set(64), far.ways.set(10),
        far.policy.set("tree-plru");
    far.outstanding_entries.set(90), far.outstanding_merge.set(3);
    m.pipelines["sfu"].latency.set(19), m.pipelines["sfu"].lanes.set(16);
    return m;
}

/// The options and their values as the simulator reads the file, without comments and the device's name.
std::map<std::string, std::string> options(const std::string& text) {
    std::map<std::string, std::string> found;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#' || line.starts_with("Device Name = ")) continue;
        const auto space = line.find(' ');
        EXPECT_EQ(line[0], '-') << line;
        EXPECT_NE(space, std::string::npos) << line;
        EXPECT_TRUE(found.emplace(line.substr(0, space), line.substr(space + 1)).second) << "twice: " << line;
    }
    return found;
}

TEST(AccelSim, LatenciesAreDifferencesBetweenLevels) {
    const auto found = options(accel_sim(made_up()));
    EXPECT_EQ(found.at("-gpgpu_l1_latency"), "37");
    EXPECT_EQ(found.at("-gpgpu_l2_rop_latency"), "214");
    EXPECT_EQ(found.at("-dram_latency"), "366");
}

TEST(AccelSim, WritesCachesInTheSimulatorsFormat) {
    const auto found = options(accel_sim(made_up()));
    EXPECT_EQ(found.at("-gpgpu_cache:dl1"), "S:8:128:12,F:T:m:L:X,A:77:5,16:0,32");
    EXPECT_EQ(found.at("-gpgpu_cache:dl2"), "N:256:64:10,L:B:m:L:L,A:90:3,16:0,32");
}

TEST(AccelSim, AnUnsupportedPolicyHasAComment) {
    EXPECT_THAT(accel_sim(made_up()), HasSubstr("# the simulator has no policy 'tree-plru'; LRU stands in its place"));
}

TEST(AccelSim, InitiationIntervalIsWarpSizeOverLanesOfAScheduler) {
    EXPECT_EQ(options(accel_sim(made_up())).at("-ptx_opcode_initiation_sfu"), "8");
}

TEST(AccelSim, AnOptionWithAMissingLeafIsLeftOutWithAComment) {
    auto machine = made_up();
    machine.caches["near"].outstanding_merge = {};
    const auto text = accel_sim(machine);
    EXPECT_FALSE(options(text).contains("-gpgpu_cache:dl1"));
    EXPECT_THAT(text, HasSubstr("# -gpgpu_cache:dl1 is left out: caches.near.outstanding_merge not known"));
}

TEST(AccelSim, TheGtx280ComesWithItsSources) {
    const auto text = accel_sim(gtx280());
    const auto found = options(text);
    EXPECT_TRUE(text.starts_with("Device Name = GeForce GTX 280\n"));
    EXPECT_EQ(found.at("-gpgpu_smem_latency"), "38");
    EXPECT_EQ(found.at("-dram_latency"), "440");
    EXPECT_EQ(found.at("-gpgpu_shader_core_pipeline"), "1024:32");
    EXPECT_EQ(found.at("-trace_opcode_latency_initiation_dp"), "48,32");
    EXPECT_FALSE(found.contains("-gpgpu_l1_latency"));
    EXPECT_THAT(text, HasSubstr("# shared.latency = 38: Wong 2010, IV-F\n-gpgpu_smem_latency 38\n"));
    EXPECT_THAT(text, Not(HasSubstr("\n-gpgpu_cache:dl1")));
    EXPECT_THAT(
        text,
        HasSubstr("# topology.warp_size = 32: Wong 2010, Table I\n# issue.schedulers_per_sm = 1: Volkov 2016, Table "
                  "2.6\n-trace_opcode_latency_initiation_sfu 28,16\n"));
}

TEST(Flat, HasEveryLeafOfTheDescription) {
    const auto machine = gtx280();
    const auto flat = json::parse(flat_json(machine));
    EXPECT_EQ(flat.at("schema"), "gputomo-flat-1");
    const auto leaves = machine::all_leaves(machine);
    EXPECT_EQ(flat.at("leaves").size(), leaves.size());
    EXPECT_GT(leaves.size(), 100U);
    for (const auto& named : leaves) {
        const auto& leaf = flat.at("leaves").at(named.path);
        EXPECT_EQ(leaf.at("source"), named.leaf.provenance.source);
        if (named.leaf.knowledge == machine::Knowledge::absent) {
            EXPECT_EQ(leaf.at("knowledge"), "absent") << named.path;
            continue;
        }
        ASSERT_EQ(leaf.at("knowledge"), "known") << named.path;
        std::visit(
            [&](const auto& value) {
                EXPECT_EQ(leaf.at("value").template get<std::remove_cvref_t<decltype(value)>>(), value) << named.path;
            },
            named.leaf.value);
    }
}

TEST(Flat, AbsentAndUndecidedLeavesHaveNoValue) {
    machine::Machine machine;
    machine.shared.banks.knowledge = machine::Knowledge::absent;
    machine.shared.latency.knowledge = machine::Knowledge::undecided;
    machine.shared.latency.candidates = {22, 23};
    const auto leaves = json::parse(flat_json(machine)).at("leaves");
    EXPECT_EQ(leaves.at("shared.banks"), json({{"knowledge", "absent"}, {"unit", "count"}}));
    EXPECT_EQ(leaves.at("shared.latency"),
              json({{"knowledge", "undecided"}, {"candidates", {22, 23}}, {"unit", "cycles"}}));
}

TEST(Csv, HasOneRowPerLeafAndQuotesWhereNeeded) {
    machine::Machine machine;
    machine.shared.latency.set(38, {.source = "Wong 2010, \"IV-F\""});
    machine.paths["global"].caches.set({"l1", "l2"}, {.method = "chase", .confidence = 0.5});
    machine.shared.banks.set(32, {.method = "m", .confidence = 0.9, .interval = {{31.5, 32}}});
    EXPECT_EQ(csv(machine),
              "path,knowledge,value,unit,low,high,confidence,provenance\n"
              "shared.banks,known,32,count,31.5,32,0.9,m\n"
              "shared.latency,known,38,cycles,,,,\"Wong 2010, \"\"IV-F\"\"\"\n"
              "paths.global.caches,known,\"[\"\"l1\"\",\"\"l2\"\"]\",,,,0.5,chase\n");
}

TEST(Exports, FormatNamesAreUnique) {
    std::set<std::string_view> names;
    for (const auto& format : catalogue()) {
        EXPECT_TRUE(names.insert(format.name).second);
        EXPECT_FALSE(format.text({}).empty()) << format.name;
    }
}

}  // namespace
}  // namespace gputomo::exports
