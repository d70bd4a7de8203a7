// Fetch blocks and operand banks of the simulated GeForce GTX 280 (Wong 2010, IV-E, IV-K4), and of GPUs that differ
// from it.
#include "deduce/pipeline/fetch_blocks.hpp"
#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "measure/code_fetch/fetch_entries.hpp"
#include "measure/code_fetch/fetch_steps.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::experiments::of_supply {
namespace {

machine::Machine gtx280() { return machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx280.json"); }

Outcome outcome_of(std::string_view id, const machine::Machine& machine, const sim::Noise& noise = {}) {
    const auto device = sim::make_device(machine, {.id = "sim:test", .seed = 11, .noise = noise});
    const Findings none;
    Context context = quiet_context(*device, none);
    const auto rows = catalogue();
    return std::ranges::find(rows, id, &Experiment::id)->run(context);
}

const results::Estimate* find(const Outcome& outcome, std::string_view path) {
    const auto found = std::ranges::find(outcome.estimates, path, &results::Estimate::path);
    return found == outcome.estimates.end() ? nullptr : &*found;
}

std::int64_t number(const Outcome& outcome, std::string_view path) {
    const auto* found = find(outcome, path);
    const bool known = found != nullptr && found->knowledge == results::Knowledge::known;
    EXPECT_TRUE(known) << path << " was not decided";
    return known ? std::get<std::int64_t>(found->value) : -1;
}

TEST(FetchBlock, OfAGtx280Is64Bytes) {
    EXPECT_EQ(number(outcome_of("fetch_block", gtx280(), {.jitter_cycles = 6, .outlier_fraction = 0.02}),
                     "instruction_supply.fetch_block"),
              64);
}

TEST(FetchBlock, OfOtherMachinesIsFoundAsWell) {
    for (const int block : {32, 128, 256}) {
        auto machine = gtx280();
        machine.instruction_supply.fetch_block.set(block);
        EXPECT_EQ(number(outcome_of("fetch_block", machine), "instruction_supply.fetch_block"), block);
    }
    auto machine = gtx280();
    machine.identity.compute_capability_major.set(7);
    machine.instruction_supply.instruction_bytes.set(16);
    machine.instruction_supply.fetch_block.set(128);
    machine.caches.at("instruction_l1").capacity.set(8192);
    machine.caches.at("instruction_l1").ways.set(8);
    EXPECT_EQ(number(outcome_of("fetch_block", machine), "instruction_supply.fetch_block"), 128);
}

std::uint64_t block_waited_for(const machine::Machine& machine) {
    const auto device = sim::make_device(machine, {.id = "sim:test", .seed = 11});
    std::vector<deduce::FetchSample> waits;
    for (const auto& place : FetchEntries(*device).run(1, 2))
        waits.push_back({place.offset, std::ranges::max(place.cycles) > 40});
    EXPECT_EQ(waits.size(), FetchEntries::kEntries * 9U);
    return deduce::largest_block_of_waits(waits, bytes_of_instruction(*device));
}

TEST(FetchEntries, WaitWhereALineOfTheFirstCacheBegins) {
    auto machine = gtx280();
    EXPECT_EQ(block_waited_for(machine), 256U);
    machine.caches.at("instruction_l1").line.set(128);
    machine.caches.at("instruction_l1").sector.set(128);
    machine.caches.at("instruction_l1").ways.set(8);
    EXPECT_EQ(block_waited_for(machine), 128U);
}

TEST(FetchEntries, AreEmptyWhereInstructionsNeverWait) {
    auto machine = gtx280();
    machine.paths.erase("instruction");
    machine.instruction_supply = {};
    EXPECT_EQ(block_waited_for(machine), 0U);
}

TEST(FetchBlock, IsNotReportedWhereInstructionsNeverWait) {
    auto machine = gtx280();
    machine.paths.erase("instruction");
    machine.instruction_supply = {};
    const auto outcome = outcome_of("fetch_block", machine);
    EXPECT_EQ(find(outcome, "instruction_supply.fetch_block"), nullptr);
    EXPECT_EQ(outcome.warnings.size(), 1U);
}

TEST(OperandBanks, OfAGtx280AreReportedAsAbsent) {
    const auto outcome = outcome_of("operand_banks", gtx280());
    for (const auto* path : {"topology.operand_banks", "topology.operand_ports"}) {
        const auto* found = find(outcome, path);
        ASSERT_NE(found, nullptr);
        EXPECT_EQ(found->knowledge, results::Knowledge::absent);
    }
}

TEST(OperandBanks, OfOtherMachinesAreFound) {
    for (const auto& [banks, ports] : {std::pair{2, 1}, {4, 1}, {2, 2}, {3, 1}, {1, 1}, {16, 1}}) {
        auto machine = gtx280();
        machine.issue.issue_interval.set(4);
        machine.topology.operand_banks.set(banks);
        machine.topology.operand_ports.set(ports);
        const auto outcome = outcome_of("operand_banks", machine, {.jitter_cycles = 2, .outlier_fraction = 0.02});
        EXPECT_EQ(number(outcome, "topology.operand_banks"), banks);
        EXPECT_EQ(number(outcome, "topology.operand_ports"), ports);
    }
}

}  // namespace
}  // namespace gputomo::experiments::of_supply
