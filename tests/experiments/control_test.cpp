// Control flow, barriers and the register file of the simulated GeForce GTX 280 (Wong 2010, IV-C to IV-E), and of GPUs
// that differ from it.
#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "measure/control/barrier_kernels.hpp"
#include "measure/residency/resident_blocks.hpp"
#include "ptx/parser.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace gputomo::experiments::of_control {
namespace {

constexpr sim::Noise kNoise{.jitter_cycles = 1, .outlier_fraction = 0.02, .clock_drift = 0.002};

machine::Machine gtx280() { return machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx280.json"); }

/// Threads on their own, as since compute capability 7.0.
machine::Machine independent(const char* first_path) {
    auto machine = gtx280();
    machine.identity.compute_capability_major.set(7);
    machine.issue.divergence.set("independent");
    machine.issue.first_path.set(first_path);
    machine.issue.spin_within_warp.set("completes");
    machine.issue.barrier_granularity.set("thread");
    machine.issue.warp_barrier_latency.set(14);
    return machine;
}

class Found {
public:
    Found(std::string_view id, const machine::Machine& machine, const sim::Noise& noise = {}) {
        const auto device = sim::make_device(machine, {.id = "sim:test", .seed = 5, .noise = noise});
        const Findings none;
        Context context = quiet_context(*device, none);
        const auto rows = catalogue();
        outcome = std::ranges::find(rows, id, &Experiment::id)->run(context);
        for (const auto& estimate : outcome.estimates) findings.add(estimate);
    }
    [[nodiscard]] double number(std::string_view path) const {
        const auto found = findings.number(path);
        EXPECT_TRUE(found.has_value()) << path << " was not decided";
        return found.value_or(-1);
    }
    [[nodiscard]] std::string text(std::string_view path) const {
        const auto* found = findings.find(path);
        EXPECT_TRUE(found != nullptr && found->knowledge == results::Knowledge::known) << path << " was not decided";
        return found == nullptr || found->knowledge != results::Knowledge::known ? ""
                                                                                 : std::get<std::string>(found->value);
    }
    [[nodiscard]] const std::vector<double>& column(std::string_view trace, std::string_view name) const {
        const auto found = std::ranges::find(outcome.traces, trace, &results::Trace::name);
        return std::ranges::find(found->columns, name, &results::Trace::Column::name)->values;
    }
    Outcome outcome;
    Findings findings;
};

TEST(ControlFlow, OfAGtx280IsThatOfAStackWhoseTakenPathRunsFirst) {
    for (const auto& noise : {sim::Noise{}, kNoise}) {
        const Found found("control_flow", gtx280(), noise);
        EXPECT_EQ(found.text("issue.divergence"), "stack");
        EXPECT_EQ(found.text("issue.first_path"), "taken");
        EXPECT_EQ(found.text("issue.reconvergence"), "post-dominator");
        EXPECT_EQ(found.text("issue.spin_within_warp"), "deadlocks");
        EXPECT_TRUE(found.outcome.warnings.empty()) << found.outcome.warnings.front();
    }
}

/// Wong 2010, Figs. 7 and 8: the last clause begins first, and so on down to the first one, in each of two warps.
TEST(ControlFlow, OfAGtx280RunsTheClausesOfAnElseIfBackwards) {
    const Found found("control_flow", gtx280());
    const auto& begin = found.column("control_flow/timeline", "begin");
    ASSERT_EQ(begin.size(), 64U);
    for (std::size_t warp = 0; warp < 2; ++warp)
        EXPECT_TRUE(std::is_sorted(begin.rbegin() + 32 * static_cast<std::ptrdiff_t>(1 - warp),
                                   begin.rbegin() + 32 * static_cast<std::ptrdiff_t>(2 - warp)));
}

TEST(ControlFlow, CostsAWarpAsMuchMoreForEachFurtherPath) {
    const Found found("control_flow", gtx280());
    const auto& cycles = found.column("control_flow/cost", "cycles");
    ASSERT_EQ(cycles.size(), 32U);
    for (std::size_t i = 2; i < 16; ++i)
        EXPECT_NEAR(cycles[i] - cycles[i - 1], cycles[1] - cycles[0], 2) << i + 1 << " paths";
    for (std::size_t i = 16; i < 32; ++i)
        EXPECT_GE(cycles[i] - cycles[i - 1], cycles[1] - cycles[0] - 24)
            << "and the code leaves the L1 instruction cache";
}

TEST(ControlFlow, CostsAGtx280NothingForABranchThatSplitsItsWarpHoweverDeepItLies) {
    const Found found("control_flow", gtx280(), kNoise);
    EXPECT_EQ(found.number("issue.divergence_latency"), 0);
    EXPECT_EQ(found.column("control_flow/depth", "splits").size(), 17U);
}

TEST(ControlFlow, CostsAStackAsMuchAtEachDepth) {
    auto machine = gtx280();
    machine.issue.divergence_latency.set(33);
    const Found found("control_flow", machine);
    EXPECT_EQ(found.number("issue.divergence_latency"), 33);
    const auto& cycles = found.column("control_flow/depth", "cycles");
    for (std::size_t i = 1; i < cycles.size(); ++i) EXPECT_NEAR(cycles[i] - cycles[i - 1], 33, 2) << i << " splits";
}

TEST(ControlFlow, OfOtherMachinesIsFoundAsWell) {
    for (const auto* first : {"taken", "fall-through"}) {
        auto machine = independent(first);
        machine.issue.branch_latency_taken.set(31);
        machine.issue.branch_latency_untaken.set(9);
        machine.issue.divergence_latency.set(17);
        const Found found("control_flow", machine, kNoise);
        EXPECT_EQ(found.text("issue.divergence"), "independent");
        EXPECT_EQ(found.text("issue.first_path"), first);
        EXPECT_EQ(found.text("issue.spin_within_warp"), "completes");
        EXPECT_EQ(found.text("issue.reconvergence"), "post-dominator");
        EXPECT_EQ(found.number("issue.branch_latency_taken"), 31);
        EXPECT_EQ(found.number("issue.branch_latency_untaken"), 9);
        EXPECT_EQ(found.number("issue.divergence_latency"), 17);
    }
    auto machine = gtx280();
    machine.issue.first_path.set("fall-through");
    EXPECT_EQ(Found("control_flow", machine).text("issue.first_path"), "fall-through");
}

TEST(Barriers, OfAGtx280CountWarpsAndTake20Cycles) {
    for (const auto& noise : {sim::Noise{}, kNoise}) {
        const Found found("barriers", gtx280(), noise);
        EXPECT_EQ(found.number("issue.barrier_latency"), 20);
        EXPECT_EQ(found.text("issue.barrier_granularity"), "warp");
        const auto* granularity = found.findings.find("issue.barrier_granularity");
        EXPECT_EQ(granularity->note,
                  "Listing 5: no deadlock, 16 of 16 threads read old values; Listing 7: 1 with 4, 2 with 3; Listing 6: "
                  "deadlocks; the barrier does not wait for warps and threads that ended");
        EXPECT_EQ(found.findings.find("issue.warp_barrier_latency")->knowledge, results::Knowledge::absent);
    }
}

TEST(Barriers, OfIndependentThreadsCountThem) {
    for (const auto* first : {"taken", "fall-through"}) {
        const Found found("barriers", independent(first), kNoise);
        EXPECT_EQ(found.text("issue.barrier_granularity"), "thread");
        EXPECT_EQ(found.number("issue.warp_barrier_latency"), 14);
        EXPECT_TRUE(found.findings.find("issue.barrier_granularity")
                        ->note.starts_with("Listing 5: no deadlock, 0 of 16 threads read old values"))
            << found.findings.find("issue.barrier_granularity")->note;
    }
}

/// No GPU was built so: each half of a warp would keep the other one from coming.
TEST(Barriers, OfAStackThatCountsThreadsAreFoundWithoutADeadlock) {
    auto machine = gtx280();
    machine.issue.barrier_granularity.set("thread");
    EXPECT_EQ(Found("barriers", machine).text("issue.barrier_granularity"), "thread");
}

TEST(RegisterFile, OfAGtx280IsHandedOutIn4RegistersAnd64Threads) {
    const Found found("register_file", gtx280(), kNoise);
    EXPECT_EQ(found.number("topology.max_registers_per_thread"), 128);
    EXPECT_EQ(found.number("topology.register_allocation_unit"), 4);
    EXPECT_EQ(found.number("topology.thread_allocation_unit"), 64);
    EXPECT_TRUE(found.outcome.warnings.empty());
    const auto& registers = found.column("register_file/largest_block", "registers");
    const auto at = std::ranges::find(registers, 88.0) - registers.begin();
    ASSERT_LT(at, std::ssize(registers));
    EXPECT_EQ(found.column("register_file/largest_block", "threads")[static_cast<std::size_t>(at)], 128);
    EXPECT_EQ(found.column("register_file/largest_block", "used")[static_cast<std::size_t>(at)], 11264);
}

TEST(RegisterFile, OfOtherMachinesIsFoundAsWell) {
    struct Rule {
        int file, unit, threads, parts, most;
    };
    for (const Rule rule : {Rule{65536, 8, 32, 4, 255}, Rule{32768, 2, 64, 1, 63}, Rule{65536, 8, 128, 1, 255},
                            Rule{16384, 8, 32, 4, 255}}) {
        auto machine = gtx280();
        auto& topology = machine.topology;
        topology.registers_per_sm.set(rule.file);
        topology.register_allocation_unit.set(rule.unit);
        topology.thread_allocation_unit.set(rule.threads);
        topology.register_partitions.set(rule.parts);
        topology.max_registers_per_thread.set(rule.most);
        topology.max_blocks_per_sm.set(32);
        topology.max_threads_per_block.set(1024);
        topology.max_threads_per_sm.set(2048);
        const Found found("register_file", machine);
        EXPECT_EQ(found.number("topology.max_registers_per_thread"), rule.most);
        EXPECT_EQ(found.number("topology.register_allocation_unit"), rule.unit);
        EXPECT_EQ(found.number("topology.thread_allocation_unit"), rule.threads);
        if (rule.threads == 32) {
            EXPECT_EQ(found.number("topology.register_partitions"), rule.parts);
        }
    }
}

TEST(RegisterFile, IsFoundWhereSharedMemoryLimitsTheBlocksOfAnSm) {
    auto machine = gtx280();
    auto& topology = machine.topology;
    topology.registers_per_sm.set(32768);
    topology.register_allocation_unit.set(8);
    topology.register_partitions.set(4);
    topology.max_registers_per_thread.set(63);
    topology.max_blocks_per_sm.set(32);
    topology.max_threads_per_sm.set(1536);
    machine.shared.capacity.set(16384);
    machine.shared.block_overhead.set(1024);
    machine.shared.argument_overhead.set(0);
    const Found found("register_file", machine);
    EXPECT_EQ(found.number("topology.register_allocation_unit"), 8);
    EXPECT_TRUE(found.outcome.warnings.empty());
}

TEST(SharedAllocation, OfAGtx280TakesUnitsOf512BytesAnd16And4ForEachArgument) {
    const Found found("shared_allocation", gtx280(), kNoise);
    EXPECT_EQ(found.number("shared.allocation_unit"), 512);
    EXPECT_EQ(found.number("shared.block_overhead"), 16);
    EXPECT_EQ(found.number("shared.argument_overhead"), 4);
}

TEST(SharedAllocation, OfAHopperLikeSmIsFoundAsWell) {
    auto machine = gtx280();
    auto& shared = machine.shared;
    shared.capacity.set(233472);
    shared.max_per_block.set(232448);
    shared.allocation_unit.set(128);
    shared.block_overhead.set(1024);
    shared.argument_overhead.set(0);
    machine.topology.max_blocks_per_sm.set(32);
    const Found found("shared_allocation", machine);
    EXPECT_EQ(found.number("shared.allocation_unit"), 128);
    EXPECT_EQ(found.number("shared.block_overhead"), 1024);
    EXPECT_EQ(found.number("shared.argument_overhead"), 0);
}

}  // namespace
}  // namespace gputomo::experiments::of_control
