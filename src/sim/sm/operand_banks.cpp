#include "sim/sm/operand_banks.hpp"

#include <algorithm>

namespace gputomo::sim {
namespace {

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

std::vector<std::uint8_t> operand_waits(const Program& program, const OperandBanks& file) {
    std::vector<std::uint8_t> waits(program.operations.size(), 0);
    if (file.banks == 0) return waits;
    const auto numbers = register_numbers(program);
    std::vector<std::uint32_t> reads(file.banks);
    for (std::size_t at = 0; at < waits.size(); ++at) {
        std::ranges::fill(reads, 0U);
        const auto& sources = program.operations[at].source;
        for (auto source = sources.begin(); source != sources.end(); ++source) {
            if (*source == kNoSlot || *source >= program.register_slots ||
                std::find(sources.begin(), source, *source) != source)
                continue;
            for (std::uint32_t word = 0; word < program.register_words[*source]; ++word)
                ++reads[(numbers[*source] + word) % file.banks];
        }
        const std::uint32_t turns = (std::ranges::max(reads) + file.ports - 1) / file.ports;
        waits[at] = static_cast<std::uint8_t>(turns > 0 ? turns - 1 : 0);
    }
    return waits;
}

}  // namespace gputomo::sim
