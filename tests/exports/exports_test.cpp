// Reads exports back and compares them with the description that they come from.
#include "exports/exports.hpp"

#include "machine/json.hpp"
#include "machine/paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

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

/// The options and their values as the simulator reads the file: what follows # is a comment, and all words of a line
/// after its option are its value.
std::map<std::string, std::string> options(const std::string& text) {
    std::map<std::string, std::string> found;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        line = line.substr(0, line.find('#'));
        if (line.empty()) continue;
        const auto space = line.find(' ');
        EXPECT_EQ(line[0], '-') << line;
        EXPECT_NE(space, std::string::npos) << line;
        EXPECT_EQ(line.find(' ', space + 1), std::string::npos) << "a second value: " << line;
        EXPECT_TRUE(found.emplace(line.substr(0, space), line.substr(space + 1)).second) << "twice: " << line;
    }
    return found;
}

std::vector<int> numbers(const std::string& list) {
    std::vector<int> found;
    std::istringstream in(list);
    for (std::string number; std::getline(in, number, ',');) found.push_back(std::stoi(number));
    return found;
}

std::vector<std::string> shipped() {
    std::vector<std::string> files;
    for (const auto& file : std::filesystem::directory_iterator(GPUTOMO_SOURCE_DIR "/machines"))
        files.push_back(file.path());
    return files;
}

TEST(AccelSim, LatenciesAreDifferencesBetweenLevelsLessWhatTheSimulatorAdds) {
    const auto found = options(accel_sim(made_up()));
    EXPECT_EQ(found.at("-gpgpu_l1_latency"), "33");       // 37 - 4
    EXPECT_EQ(found.at("-gpgpu_l2_rop_latency"), "209");  // 251 - 37 - 5
    EXPECT_EQ(found.at("-dram_latency"), "364");          // 617 - 251 - 2
}

TEST(AccelSim, WritesCachesInTheSimulatorsFormat) {
    const auto found = options(accel_sim(made_up()));
    EXPECT_EQ(found.at("-gpgpu_cache:dl1"), "S:8:128:12,F:T:m:L:X,A:77:5,16:0,32");
    EXPECT_EQ(found.at("-gpgpu_cache:dl2"), "N:128:64:10,L:B:m:L:L,A:90:3,32:0,32") << "of one of 12 slices";
    EXPECT_EQ(found.at("-gpgpu_n_mem"), "6");
    EXPECT_EQ(found.at("-gpgpu_memory_partition_indexing"), "0") << "12 slices have no polynomial";
}

TEST(AccelSim, AnUnsupportedPolicyHasAComment) {
    EXPECT_THAT(accel_sim(made_up()),
                HasSubstr("# assumed: the simulator has no policy 'tree-plru'; LRU stands in its place"));
}

TEST(AccelSim, InitiationIntervalIsWarpSizeOverLanesOfAScheduler) {
    EXPECT_EQ(options(accel_sim(made_up())).at("-ptx_opcode_initiation_sfu"), "8");
}

TEST(AccelSim, AnOptionWithAMissingLeafIsLeftOutWithAComment) {
    auto machine = made_up();
    machine.caches["near"].latency = {};
    const auto text = accel_sim(machine);
    EXPECT_FALSE(options(text).contains("-gpgpu_l1_latency"));
    EXPECT_THAT(text, HasSubstr("# -gpgpu_l1_latency is left out, so that the simulator's own value holds: "
                                "caches.near.latency not known"));
}

TEST(AccelSim, TheGtx280ComesWithItsSources) {
    const auto text = accel_sim(gtx280());
    const auto found = options(text);
    EXPECT_EQ(found.at("-gpgpu_n_clusters"), "30");
    EXPECT_EQ(found.at("-gpgpu_n_cores_per_cluster"), "1") << "or the simulator has three SMs for each";
    EXPECT_EQ(found.at("-gpgpu_shader_core_pipeline"), "1024:32");
    EXPECT_EQ(found.at("-trace_opcode_latency_initiation_dp"), "43,32");
    EXPECT_EQ(found.at("-gpgpu_cache:dl1"), "none");
    EXPECT_EQ(found.at("-gpgpu_cache:dl2"), "none");
    EXPECT_FALSE(found.contains("-gpgpu_l1_latency"));
    EXPECT_THAT(text, HasSubstr("# cited: shared.latency = 38: Wong 2010, IV-F\n"
                                "# deduced: less the 5 cycles that the simulator adds, but at least 1\n"
                                "-gpgpu_smem_latency 33\n"));
    EXPECT_THAT(text, HasSubstr("# cited: topology.warp_size = 32: Wong 2010, Table I\n"));
}

/// Rules of the simulator's parser and of what it asserts: each was met in a run of it.
TEST(AccelSim, EveryShippedDescriptionKeepsToTheRulesOfTheSimulator) {
    for (const auto& file : shipped()) {
        SCOPED_TRACE(file);
        const auto text = accel_sim(machine::load(file));
        const auto found = options(text);
        for (const char* cache : {"-gpgpu_cache:il1", "-gpgpu_tex_cache:l1", "-gpgpu_const_cache:l1"})
            EXPECT_TRUE(found.contains(cache)) << "its default is in an older format, which the parser refuses";
        if (const auto list = found.find("-ptx_opcode_latency_int"); list != found.end()) {
            EXPECT_EQ(numbers(list->second).size(), 6U) << "ADD, MAX, MUL, MAD, DIV, SHFL";
        }
        for (const auto& [key, value] : found) {
            if (!key.starts_with("-trace_opcode_latency_initiation")) continue;
            const auto pair = numbers(value);
            ASSERT_EQ(pair.size(), 2U) << key;
            // The simulator takes their difference as the place in the pipeline where an instruction starts.
            EXPECT_GE(pair[0], pair[1]) << key;
            EXPECT_GE(pair[1], 1) << key;
        }
        EXPECT_EQ(found.at("-gpgpu_enable_specialized_operand_collector"), "0");
        EXPECT_TRUE(found.contains("-gpgpu_operand_collector_num_units_gen")) << "or integer units get no operands";
        // A pipeline has to be as long as the latency of any instruction in it.
        const auto longest = [&](const char* key, std::size_t at) {
            return found.contains(key) ? numbers(found.at(key)).at(at) : 0;
        };
        if (found.contains("-trace_opcode_latency_initiation_sp") && found.contains("-ptx_opcode_latency_fp")) {
            EXPECT_LE(numbers(found.at("-trace_opcode_latency_initiation_sp"))[0],
                      longest("-ptx_opcode_latency_fp", 1));
        }
        if (found.contains("-trace_opcode_latency_initiation_dp") && found.contains("-ptx_opcode_latency_dp")) {
            EXPECT_LE(numbers(found.at("-trace_opcode_latency_initiation_dp"))[0],
                      longest("-ptx_opcode_latency_dp", 1));
        }
        // Each line says from where its value is.
        std::istringstream in(text);
        std::string before;
        for (std::string line; std::getline(in, line); before = line) {
            if (!line.starts_with('-')) continue;
            const auto colon = before.find(':');
            EXPECT_THAT(before.substr(0, colon), testing::AnyOf("# measured", "# cited", "# deduced", "# assumed"))
                << line;
        }
    }
}

TEST(AccelSim, GpgpuSimKnowsNoOptionsOfTraces) {
    const auto of_traces = options(accel_sim(made_up())), without = options(gpgpu_sim(made_up()));
    for (const auto& [key, value] : without) {
        EXPECT_EQ(of_traces.at(key), value);
        EXPECT_FALSE(key.starts_with("-trace")) << key;
    }
    EXPECT_TRUE(of_traces.contains("-trace_opcode_latency_initiation_sfu"));
}

TEST(LlmCompass, HasTheFieldsOfItsTemplate) {
    const auto file = json::parse(llmcompass(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")));
    const auto& device = file.at("device");
    const auto& chiplet = device.at("compute_chiplet");
    EXPECT_EQ(chiplet.at("core_count"), 132);
    EXPECT_EQ(chiplet.at("core").at("sublane_count"), 4);
    // 128 multiply-adds of 32 bits a cycle, of four sublanes of 32 lanes.
    EXPECT_EQ(chiplet.at("core").at("vector_unit").at("flop_per_cycle"), 2);
    const auto& io = device.at("io");
    const double bytes = io.at("memory_channel_active_count").get<double>() *
                         io.at("pin_count_per_channel").get<double>() * io.at("bandwidth_per_pin_bit").get<double>() /
                         8;
    EXPECT_NEAR(bytes / 1e9, 4656, 1);
    EXPECT_NEAR(io.at("global_buffer_MB"), 55.3, 0.1) << "both partitions of the L2";
    for (const char* key : {"link", "link_count_per_device", "topology"})
        EXPECT_TRUE(file.at("interconnect").contains(key)) << key;
    EXPECT_THAT(file.at("_origin").at("frequency_Hz").at(0), HasSubstr("measured: clock.sm_mhz"));
}

TEST(LlmCompass, WhatIsNotKnownIsNull) {
    const auto file = json::parse(llmcompass(machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx980.json")));
    EXPECT_TRUE(file.at("device").at("memory").at("total_capacity_GB").is_null());
    EXPECT_TRUE(file.at("device").at("compute_chiplet").at("core").at("systolic_array").at("array_width").is_null())
        << "it has no tensor cores";
    EXPECT_THAT(file.at("_origin").at("memory.total_capacity_GB").at(0), HasSubstr("does not know memory.capacity"));
    EXPECT_EQ(file.at("device").at("compute_chiplet").at("core_count"), 16);
}

TEST(TileLang, HasTheFieldsOfItsCarver) {
    const auto file = json::parse(tilelang(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")));
    const auto& fields = file.at("fields");
    EXPECT_EQ(fields.at("compute_max_core"), 132);
    EXPECT_EQ(fields.at("smem_cap"), 232448);
    EXPECT_EQ(fields.at("compute_capability"), "90");
    EXPECT_EQ(fields.at("bandwidth"), json({4656, 33480}));
    EXPECT_THAT(file.at("origin").at("smem_cap").at(0), HasSubstr("measured: shared.max_per_block"));
}

TEST(Roofline, HasTheCeilingsThatAreKnown) {
    std::map<std::string, double> ceilings;
    const auto file = json::parse(roofline(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")));
    for (const auto& ceiling : file.at("ceilings")) {
        ceilings[ceiling.at("name")] = ceiling.at("value");
        EXPECT_FALSE(ceiling.at("origin").empty());
    }
    EXPECT_NEAR(ceilings.at("FP32 multiply-add"), 67e12, 1e12);
    EXPECT_NEAR(ceilings.at("DRAM, read"), 4.656e12, 1e9);
    EXPECT_NEAR(ceilings.at("products of halves by warps (mma.sync)"), 714e12, 2e12);
    EXPECT_TRUE(json::parse(roofline({})).at("ceilings").empty()) << "what is not known has no ceiling of 0";
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
