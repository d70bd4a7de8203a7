#include "sim/sm/units/operands.hpp"

#include <fmt/format.h>

#include <array>

namespace gputomo::sim {
namespace {

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
    return {.file = costs::register_file_of(machine),
            .load_limit = static_cast<std::size_t>(machine.issue.scoreboard_loads.value_or(0))};
}

std::vector<costs::OperandReads> operand_reads(const Program& program) {
    const auto numbers = register_numbers(program);
    std::vector<costs::OperandReads> reads(program.operations.size());
    for (std::size_t at = 0; at < reads.size(); ++at) {
        std::uint8_t slot = 0;
        for (const auto source : program.operations[at].source) {
            if (source == kNoSlot || source >= program.register_slots) continue;
            reads[at].add({.slot = slot++,
                           .number = static_cast<std::uint8_t>(numbers[source]),
                           .words = static_cast<std::uint8_t>(program.register_words[source])});
        }
    }
    return reads;
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
