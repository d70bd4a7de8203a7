#include "sim/sm/operands.hpp"

#include <fmt/format.h>

#include <array>

namespace gputomo::sim {
namespace {

/// check_description() refuses more.
constexpr std::size_t kMostOperandBanks = 64;

/// The number of each slot's first 32-bit register.
std::vector<std::uint32_t> register_numbers(const Program& program) {
    std::vector<std::uint32_t> numbers;
    std::uint32_t next = 0;
    for (const auto words : program.register_words) {
        if (words > 1) next += next % 2;
        numbers.push_back(next);
        next += words;
    }
    return numbers;
}

}  // namespace

OperandSpec operand_spec_of(const machine::Machine& machine) {
    const auto& topology = machine.topology;
    return {.file = {.banks = static_cast<std::uint32_t>(topology.operand_banks.value_or(0)),
                     .ports = static_cast<std::uint32_t>(topology.operand_ports.value_or(1))},
            .load_limit = static_cast<std::size_t>(machine.issue.scoreboard_loads.value_or(0))};
}

std::uint32_t bank_conflict_slots(std::span<const std::uint32_t> registers, const OperandBanks& file) {
    if (file.banks == 0 || registers.empty()) return 0;
    std::array<std::uint32_t, kMostOperandBanks> reads{};
    for (const auto number : registers) ++reads[number % file.banks];
    const std::uint32_t reads_of_fullest = *std::max_element(reads.begin(), reads.end());
    return (reads_of_fullest + file.ports - 1) / file.ports - 1;
}

std::vector<std::uint8_t> bank_conflict_slots(const Program& program, const OperandBanks& file) {
    std::vector<std::uint8_t> slots(program.operations.size(), 0);
    if (file.banks == 0) return slots;
    const auto numbers = register_numbers(program);
    std::vector<std::uint32_t> registers;
    for (std::size_t at = 0; at < slots.size(); ++at) {
        registers.clear();
        const auto& sources = program.operations[at].source;
        for (auto source = sources.begin(); source != sources.end(); ++source) {
            if (*source == kNoSlot || *source >= program.register_slots ||
                std::find(sources.begin(), source, *source) != source)
                continue;
            for (std::uint32_t word = 0; word < program.register_words[*source]; ++word)
                registers.push_back(numbers[*source] + word);
        }
        slots[at] = static_cast<std::uint8_t>(bank_conflict_slots(registers, file));
    }
    return slots;
}

double load_allowed(Scoreboard& scoreboard, std::size_t limit, double when) {
    auto& loads = scoreboard.loads;
    if (loads.size() < limit) return when;
    std::erase_if(loads, [&](double done) { return done <= when; });
    return loads.size() < limit ? when : std::max(when, *std::min_element(loads.begin(), loads.end()));
}

std::string describe(const Scoreboard& scoreboard) {
    const auto last = std::max_element(scoreboard.ready.begin(), scoreboard.ready.end());
    return fmt::format("operands: all ready at cycle {:.0f}; memory accesses done at cycle {:.0f}",
                       last == scoreboard.ready.end() ? 0.0 : *last, scoreboard.memory_done);
}

}  // namespace gputomo::sim
