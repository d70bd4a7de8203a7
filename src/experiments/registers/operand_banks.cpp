// Whether operands of one instruction wait for each other, and which registers share a bank.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "experiments/estimates.hpp"
#include "experiments/registers/operand_loops.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::experiments {
namespace {

constexpr auto kBanks = "topology.operand_banks", kPorts = "topology.operand_ports";
constexpr auto kMethod = "operand_banks: loops of multiply-adds with each two and three of a dozen registers";
/// Part of the variance that banks explain at least where they are the cause.
constexpr double kExplained = 0.9;

deduce::Trace trace_of(const std::vector<deduce::OperandLoop>& loops) {
    deduce::Trace trace{.name = "operand_banks/loops", .experiment = "operand_banks"};
    trace.columns = {{"loop", "", {}}, {"operands", "count", {}}, {"first", "", {}}, {"second", "", {}}, {"third", "", {}}, {"cycles", "cycles", {}}};
    for (std::size_t i = 0; i < loops.size(); ++i) {
        const auto& operands = loops[i].operands.front();
        const auto number = [&](std::size_t which) { return which < operands.size() ? static_cast<double>(operands[which]) : -1.0; };
        const double row[] = {static_cast<double>(i), static_cast<double>(operands.size()), number(0), number(1), number(2), loops[i].cycles};
        for (std::size_t c = 0; c < std::size(row); ++c) trace.columns[c].values.push_back(row[c]);
    }
    trace.plot = {.title = "Cycles of a multiply-add, by the registers that it reads", .x = "loop", .y = {"cycles"}, .split = "operands"};
    return trace;
}

void report(const deduce::OperandFindings& found, Outcome& outcome) {
    if (found.alike) {
        const Evidence evidence{kMethod, 0.95, "none takes longer than another"};
        outcome.estimates.push_back(absent(kBanks, evidence));
        outcome.estimates.push_back(absent(kPorts, evidence));
        return;
    }
    const Evidence evidence{kMethod, found.explained,
                            fmt::format("{:.0f}% of the differences are explained, {:.0f}% by the next best; a conflict takes {:.2f} cycles",
                                        100 * found.explained, 100 * found.runner_up, found.conflict)};
    if (found.explained >= kExplained && found.files.size() == 1) {
        outcome.estimates.push_back(decided(kBanks, std::int64_t{found.files.front().banks}, evidence));
        outcome.estimates.push_back(decided(kPorts, std::int64_t{found.files.front().ports}, evidence));
        return;
    }
    std::vector<deduce::Value> banks, ports;
    if (found.explained >= kExplained)
        for (const auto& file : found.files) {
            if (std::ranges::find(banks, deduce::Value{std::int64_t{file.banks}}) == banks.end()) banks.emplace_back(std::int64_t{file.banks});
            if (std::ranges::find(ports, deduce::Value{std::int64_t{file.ports}}) == ports.end()) ports.emplace_back(std::int64_t{file.ports});
        }
    outcome.estimates.push_back(undecided(kBanks, std::move(banks), evidence));
    outcome.estimates.push_back(undecided(kPorts, std::move(ports), evidence));
}

Outcome measure(Context& context) {
    Outcome outcome;
    context.progress(0, "pairs and triples of registers");
    OperandLoops kernel(context.device);
    add_code_checks(kernel.compiled(), outcome);
    const auto loops = kernel.run();
    if (loops.empty()) {
        outcome.warnings.emplace_back("operand_banks: the machine code does not show which registers each loop reads; nothing is said of them");
        return outcome;
    }
    outcome.traces.push_back(trace_of(loops));
    report(deduce::operand_banks(loops), outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

Experiment operand_banks_experiment() {
    return {.id = "operand_banks",
            .title = "registers whose operands wait for each other",
            .source = "Wong 2010, IV-E",
            .needs = {},
            .provides = {kBanks, kPorts},
            .run = run};
}

}  // namespace gputomo::experiments
