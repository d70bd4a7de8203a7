// Descriptions whose SMs cannot be simulated: each error names the leaf.
#include "launching.hpp"
#include "machine/json.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::sim::test::of_descriptions {
namespace {

using machine::Machine;
using testing::AllOf;
using testing::HasSubstr;

struct Case {
    std::string name;
    std::function<void(Machine&)> spoil;
    std::string path;
    std::string rest;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string complaint(const Machine& machine) {
    try {
        (void)make_device(machine, {});
    } catch (const InputError& e) {
        return e.what();
    }
    return {};
}

class UnfitDescription : public testing::TestWithParam<Case> {};

TEST_P(UnfitDescription, IsRefusedByTheNameOfTheLeaf) {
    auto machine = small_machine();
    ASSERT_EQ(complaint(machine), "");
    GetParam().spoil(machine);
    EXPECT_THAT(complaint(machine),
                AllOf(HasSubstr(GetParam().path + ": "), HasSubstr(GetParam().rest), HasSubstr("expected")));
}

const std::vector<Case> kCases{
    {"ClockIsMissing", [](Machine& m) { m.clock.sm_mhz = {}; }, "clock.sm_mhz", "missing"},
    {"ClockCountsNothing", [](Machine& m) { m.clock.resolution.set(0); }, "clock.resolution", "found 0"},
    {"ClockReadsBackwards", [](Machine& m) { m.clock.read_cost.set(-1); }, "clock.read_cost", "found -1"},
    {"ClockScopeIsUnknown", [](Machine& m) { m.clock.scope.set("cluster"); }, "clock.scope", "\"cluster\""},
    {"ClockOfATpcOfUnknownSize",
     [](Machine& m) {
         m.clock.scope.set("tpc");
         m.topology.sms_per_tpc = {};
     },
     "topology.sms_per_tpc", "missing"},
    {"WarpsOfSixtyFour", [](Machine& m) { m.topology.warp_size.set(64); }, "topology.warp_size", "found 64"},
    {"NoThreads", [](Machine& m) { m.topology.max_threads_per_sm.set(0); }, "topology.max_threads_per_sm", "found 0"},
    {"NoSchedulers", [](Machine& m) { m.issue.schedulers_per_sm.set(0); }, "issue.schedulers_per_sm", "found 0"},
    {"IssueTakesNoTime", [](Machine& m) { m.issue.issue_interval.set(0); }, "issue.issue_interval", "found 0"},
    {"IssueOfNothing", [](Machine& m) { m.issue.dual_issue.set(0); }, "issue.dual_issue", "found 0"},
    {"UnitsOfAPairOfSchedulers", [](Machine& m) { m.pipelines.begin()->second.scope.set("pair"); }, "scope",
     "\"pair\""},
    {"ScoreboardOfNothing", [](Machine& m) { m.issue.scoreboard_loads.set(0); }, "issue.scoreboard_loads", "found 0"},
    {"ReissueOfNothing", [](Machine& m) { m.issue.reissue_transactions.set(0); }, "issue.reissue_transactions",
     "found 0"},
    {"BranchesGoBackInTime", [](Machine& m) { m.issue.branch_latency_taken.set(-2); }, "issue.branch_latency_taken",
     "found -2"},
    {"SplitsGoBackInTime", [](Machine& m) { m.issue.divergence_latency.set(-1); }, "issue.divergence_latency",
     "found -1"},
    {"OperandsInNoBank", [](Machine& m) { m.topology.operand_banks.set(0); }, "topology.operand_banks", "found 0"},
    {"OperandsWithoutPorts", [](Machine& m) { m.topology.operand_ports.set(0); }, "topology.operand_ports", "found 0"},
    {"DivergenceIsUnknown", [](Machine& m) { m.issue.divergence.set("magic"); }, "issue.divergence", "\"magic\""},
    {"FirstPathIsUnknown", [](Machine& m) { m.issue.first_path.set("shorter"); }, "issue.first_path", "\"shorter\""},
    {"WarpBarriersOfIndependentThreads", [](Machine& m) { m.issue.divergence.set("independent"); },
     "issue.barrier_granularity", "\"warp\""},
    {"NoOperations",
     [](Machine& m) {
         m.pipelines.clear();
         m.operations.clear();
     },
     "operations", "missing"},
    {"UnitWithoutLanes", [](Machine& m) { m.pipelines["sp"].lanes = {}; }, "pipelines.sp.lanes", "missing"},
    {"BanksAreMissing", [](Machine& m) { m.shared.banks = {}; }, "shared.banks", "missing"},
    {"BanksAreTooNarrow", [](Machine& m) { m.shared.bank_width.set(2); }, "shared.bank_width", "found 2"},
    {"SharedLatencyIsMissing", [](Machine& m) { m.shared.latency = {}; }, "shared.latency", "missing"},
    {"ThirdsOfAWarp", [](Machine& m) { m.shared.access_group.set(11); }, "shared.access_group", "found 11"},
    {"CoalescingOfTwentyThreads", [](Machine& m) { m.memory.coalescing_group.set(20); }, "memory.coalescing_group",
     "found 20"},
    {"TransactionsOfFortyBytes",
     [](Machine& m) {
         m.memory.transaction_sizes.set({32, 40});
     },
     "memory.transaction_sizes", "found 40"},
    {"NoTransactions", [](Machine& m) { m.memory.transaction_sizes.set({}); }, "memory.transaction_sizes", "empty"},
    {"MoreSmsThanAnyGpu", [](Machine& m) { m.topology.sms.set(65536); }, "topology.sms", "found 65536"},
    {"AccessesThatTakeNoSlot", [](Machine& m) { m.shared.issue_slots.set(0); }, "shared.issue_slots", "found 0"},
    {"LoadsThatTakeNoSlot", [](Machine& m) { m.paths["global"].issue_slots.set(0); }, "paths.global.issue_slots",
     "found 0"},
    {"FetchWithoutAPath", [](Machine& m) { m.instruction_supply.fetch_block.set(64); }, "paths.instruction",
     "instruction_supply.fetch_block"},
    {"PrefetchWithoutAPath", [](Machine& m) { m.instruction_supply.prefetch_lines.set(1); }, "paths.instruction",
     "instruction_supply.prefetch_lines"},
    {"InstructionsWithoutACache", [](Machine& m) { m.paths["instruction"].memory_latency.set(100); },
     "paths.instruction.caches", "no cache"},
    {"FetchOfPartOfALine",
     [](Machine& m) {
         m.caches["i1"] = small_cache(64, 2, 8, 10);
         m.paths["instruction"].memory_latency.set(100);
         m.paths["instruction"].caches.set({"i1"});
         m.instruction_supply.fetch_block.set(48);
     },
     "instruction_supply.fetch_block", "found 48"},
};

INSTANTIATE_TEST_SUITE_P(Cases, UnfitDescription, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

std::string load_complaint(const Machine& machine, const std::string& mnemonic) {
    const auto gpu = make_device(machine, {});
    KernelBuilder k("loads", kTarget);
    const Reg a = k.reg(Type::u32);
    k(mnemonic, a, 1, 2);
    return message_of([&] { (void)gpu->load(k.text())->kernel("loads"); });
}

TEST(TransactionSizes, RefuseAnEmptyListAndAcceptLargeSizes) {
    auto machine = machine::load(GPUTOMO_SOURCE_DIR
                                 "/machines/gtx280.json");  // describes latencies of one thread and of a whole warp
    machine.memory.transaction_sizes.set({});
    EXPECT_THAT(complaint(machine), HasSubstr("memory.transaction_sizes: found an empty list"));
    machine.memory.transaction_sizes.set({256});
    machine.memory.coalescing_group = {};
    EXPECT_EQ(complaint(machine), "");
}

TEST(OperationCosts, NameTheMissingLeafOfARow) {
    auto machine = small_machine();
    machine.operations["add.s32"].latency = {};
    EXPECT_THAT(load_complaint(machine, "sub.s32"), HasSubstr("operations[add.s32].latency: missing"));
    machine = small_machine();
    machine.operations["add.s32"].throughput.set(0);
    EXPECT_THAT(load_complaint(machine, "sub.s32"), HasSubstr("operations[add.s32].throughput: found 0"));
    machine = small_machine();
    machine.operations["add.s32"].units.set({"alu"});
    EXPECT_THAT(complaint(machine) + load_complaint(small_machine(), "add.s32"), "")
        << "units are looked up when an instruction needs them";
    EXPECT_THAT(load_complaint(machine, "add.s32"), HasSubstr("operations[add.s32].units: found \"alu\""));
}

TEST(OperationCosts, NameAnInstructionWithoutADescribedFamily) {
    auto machine = small_machine();
    for (const auto* key : {"add.s32", "add.f32"}) machine.operations.erase(key);
    EXPECT_THAT(load_complaint(machine, "xor.b32"), HasSubstr("operations[xor.b32]: missing"));
}

TEST(OperationCosts, AnOperationWithoutUnitsHasAUnitOfItsOwn) {
    auto machine = small_machine();
    machine.operations["mul.lo.s32"].units = {};
    machine.operations["mul.lo.s32"].instructions = {};
    const auto gpu = make_device(machine, {});
    const auto time = [&](int products) {
        return cycles_of(
            *gpu,
            [&](KernelBuilder& k, Reg r) {
                k.repeat(64, [&](int) {
                    k("add.u32", r, r, 1);
                    for (int i = 0; i < products; ++i) k("mul.lo.s32", k.reg(Type::s32), 3, 4);
                });
            },
            256);
    };
    EXPECT_NEAR(time(1), 64 * 16 * 8, 500) << "8 warps, 16 cycles for each product; the sums run beside them";
}

TEST(OperationCosts, PipelinesCanListTheOperationsTheyExecute) {
    auto machine = small_machine();
    machine.operations["mul.lo.s32"].units = {};
    machine.pipelines["alu"].lanes.set(2);
    machine.pipelines["alu"].executes.set({"mul.lo.s32"});
    EXPECT_EQ(load_complaint(machine, "mul.lo.s32"), "");
}

}  // namespace
}  // namespace gputomo::sim::test::of_descriptions
