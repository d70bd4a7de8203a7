#include "costs/register_ports.hpp"

#include <algorithm>

namespace gputomo::costs {
namespace {

/// Reads after the issue within which an instruction has all its operands. With 2, loops of instructions that read
/// three registers of one bank would be too slow. With 4, loops with two conflicts in a row would be too fast.
constexpr double kWindow = 3;
/// Reads from an instruction with a conflict to the next one that may have one at the same bank.
constexpr double kBetweenConflicts = 2;

}  // namespace

RegisterFile register_file_of(const machine::Machine& machine) {
    const auto& topology = machine.topology;
    return {.banks = static_cast<std::uint32_t>(topology.operand_banks.value_or(0)),
            .ports = static_cast<std::uint32_t>(topology.operand_ports.value_or(1)),
            .read_cycles = topology.operand_read_cycles.value_or(machine.issue.issue_interval.value_or(1))};
}

void RegisterPorts::count_reads(const OperandReads& reads) {
    for (Bank& bank : banks_) bank.reads = 0;
    for (std::size_t i = 0; i < reads.count; ++i) {
        const auto& operand = reads.operands[i];
        if (is_kept(operand)) continue;
        const auto* const begin = reads.operands.data();
        const bool read_before = std::any_of(begin, begin + i, [&](const OperandReads::Operand& other) {
            return other.number == operand.number && !is_kept(other);
        });
        if (read_before) continue;
        for (std::uint32_t word = 0; word < operand.words; ++word)
            ++banks_[(operand.number + word) % file_.banks].reads;
    }
}

void RegisterPorts::keep(const OperandReads& reads) {
    for (std::size_t i = 0; i < reads.count; ++i) {
        const auto& operand = reads.operands[i];
        kept(operand) = operand.reuse ? operand.number : kNothing;
    }
}

double RegisterPorts::read_banks(const OperandReads& reads, std::uint32_t warp, double now) {
    if (warp != last_warp_) std::ranges::fill(kept_, kNothing);
    last_warp_ = warp;
    if (reads.count == 0) return now;
    count_reads(reads);
    double when = now;
    for (Bank& bank : banks_) {
        if (bank.reads == 0) continue;
        const auto turns = static_cast<double>((bank.reads + file_.ports - 1) / file_.ports);
        double earliest = bank.free - (kWindow - turns) * file_.read_cycles;
        if (turns > 1) earliest = std::max(earliest, bank.conflict + kBetweenConflicts * file_.read_cycles);
        when = std::max(when, std::min(earliest, bank.free));
    }
    for (Bank& bank : banks_) {
        if (bank.reads == 0) continue;
        const std::uint32_t turns = (bank.reads + file_.ports - 1) / file_.ports;
        bank.free = std::max(bank.free, when) + turns * file_.read_cycles;
        bank.busy += turns * file_.read_cycles;
        if (turns > 1) bank.conflict = when;
    }
    keep(reads);
    return when;
}

double RegisterPorts::busy() const {
    double most = 0;
    for (const Bank& bank : banks_) most = std::max(most, bank.busy);
    return most;
}

}  // namespace gputomo::costs
