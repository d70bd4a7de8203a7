// Whether operands of one instruction conflict, and which registers share a bank.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "measure/throughput/operand_loops.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::experiments {
namespace operand_banks {
namespace {

/// Leaves of the description.
constexpr auto kBanks = "topology.operand_banks", kPorts = "topology.operand_ports",
               kReadCycles = "topology.operand_read_cycles", kSchedulers = "issue.schedulers_per_sm";
constexpr auto kMethod =
    "operand_banks: loops of multiply-adds with one, two and three different registers at all distances from each "
    "other";
/// Share of the variance that a model of banks must explain to be reported.
constexpr double kExplained = 0.9;
/// Relative error of the cycles of a read: the end of the shortest loop.
constexpr double kReadError = 0.03;
/// A model that explains less than this share is no candidate either.
constexpr double kCandidate = 0.5;

/// A row for each instruction of each loop.
results::Trace trace_of(const std::vector<deduce::OperandLoop>& loops) {
    results::Trace trace{.name = "operand_banks/loops", .experiment = "operand_banks"};
    trace.columns = {{"loop", "", {}},  {"operands", "count", {}}, {"first", "", {}},       {"second", "", {}},
                     {"third", "", {}}, {"kept", "", {}},          {"cycles", "cycles", {}}};
    for (std::size_t i = 0; i < loops.size(); ++i)
        for (const auto& reads : loops[i].instructions) {
            double row[] = {
                static_cast<double>(i), static_cast<double>(deduce::different_registers(reads)), -1, -1, -1, 0,
                loops[i].cycles};
            for (const auto& read : reads) {
                row[2 + read.slot] = read.number;
                row[5] += read.reuse ? 1 << read.slot : 0;
            }
            trace.add_row(row);
        }
    trace.plot = {.title = "Cycles of a multiply-add, by the registers that it reads",
                  .x = "loop",
                  .y = {"cycles"},
                  .split = "operands"};
    return trace;
}

std::string_view text_of(const deduce::RegisterFileModel& file) {
    if (file.averaged)
        return file.reuse_cache
                   ? "conflicts of neighbouring instructions even out, and marked operands come from a reuse cache"
                   : "conflicts of neighbouring instructions even out";
    return file.reuse_cache ? "each instruction waits for its own operands, and marked operands come from a reuse cache"
                            : "each instruction waits for its own operands";
}

/// Decided if all models that explain the times agree on it.
results::Estimate estimate(const std::string& path, const deduce::OperandBankFit& found,
                           int deduce::RegisterFileModel::*member, const Evidence& evidence) {
    std::vector<results::Value> values;
    if (found.explained >= kCandidate)
        for (const auto& file : found.models)
            if (const results::Value value{std::int64_t{file.*member}};
                std::ranges::find(values, value) == values.end())
                values.push_back(value);
    if (found.explained >= kExplained && values.size() == 1)
        return decided(path, std::get<std::int64_t>(values.front()), evidence);
    return undecided(path, std::move(values), evidence);
}

/// All schedulers read at once, each in its own part of the register file.
void report_read_cycles(const deduce::OperandBankFit& found, const Context& context, const Evidence& evidence,
                        Outcome& outcome) {
    const auto schedulers = context.findings.number(kSchedulers);
    if (!schedulers || found.read_cycles == 0 || found.explained < kExplained) return;
    const double cycles = found.read_cycles * *schedulers;
    outcome.estimates.push_back(
        decided_real(kReadCycles, {cycles, cycles * (1 - kReadError), cycles * (1 + kReadError)}, evidence));
}

void report(const deduce::OperandBankFit& found, const Context& context, Outcome& outcome) {
    if (found.no_conflicts) {
        const Evidence evidence{kMethod, 0.95, "no choice of registers takes longer than another"};
        outcome.estimates.push_back(absent(kBanks, evidence));
        outcome.estimates.push_back(absent(kPorts, evidence));
        return;
    }
    const Evidence evidence{
        kMethod, found.explained,
        fmt::format("the model explains {:.0f}% of the variance, the next best {:.0f}%; {}; each further access to a "
                    "bank takes {:.2f} cycles",
                    100 * found.explained, 100 * found.runner_up, text_of(found.models.front()),
                    found.conflict_cycles)};
    outcome.estimates.push_back(estimate(kBanks, found, &deduce::RegisterFileModel::banks, evidence));
    outcome.estimates.push_back(estimate(kPorts, found, &deduce::RegisterFileModel::ports, evidence));
    report_read_cycles(found, context, evidence, outcome);
}

Outcome measure(Context& context) {
    Outcome outcome;
    context.progress(0, "pairs and triples of registers");
    OperandLoops kernel(context.device);
    add_code_checks(kernel.compiled(), outcome);
    const auto loops = kernel.run();
    if (loops.empty()) {
        outcome.warnings.emplace_back(
            "operand_banks: nothing was measured, because the machine code does not show which registers each loop "
            "reads");
        return outcome;
    }
    outcome.traces.push_back(trace_of(loops));
    report(deduce::operand_banks(loops), context, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace operand_banks

Experiment operand_banks_experiment() {
    return {.id = "operand_banks",
            .title = "registers whose operands wait for each other",
            .source = "Wong 2010, IV-E",
            .method = "registers-and-launch",
            .explanation =
                "All warps run multiply-adds that read the same two or three of a dozen registers. Where some "
                "choices of registers take longer than others, those registers lie in the same bank of the "
                "register file.",
            .needs = {},
            .after = {"issue"},
            .provides = {operand_banks::kBanks, operand_banks::kPorts, operand_banks::kReadCycles},
            .run = operand_banks::run};
}

}  // namespace gputomo::experiments
