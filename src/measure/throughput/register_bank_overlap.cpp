#include "measure/throughput/register_bank_overlap.hpp"

#include <array>

namespace gputomo::measure {
namespace {

constexpr int kNone = 255;  ///< RZ, which occupies no bank
constexpr int kWord = 4;    ///< bytes of a register

/// Number of operands in the even and in the odd bank.
using Banks = std::array<double, 2>;

int field(const sass::MachineInstruction& instruction, int bit) {
    return static_cast<int>(instruction.low >> bit & 0xff);
}
int destination(const sass::MachineInstruction& instruction) { return field(instruction, 16); }
/// The first source, of arithmetic and of addresses. MUFU has its source in the second field.
int source(const sass::MachineInstruction& instruction) { return field(instruction, instruction.is("MUFU") ? 32 : 24); }

void count(Banks& banks, int reg, bool wide) {
    if (reg == kNone) return;
    for (const int bank : {0, 1})
        if (wide || reg % 2 == bank) ++banks[static_cast<std::size_t>(bank)];
}

struct Operands {
    Banks read{}, written{};
    double instructions = 0;

    void add(const sass::MachineInstruction& instruction) {
        ++instructions;
        count(read, source(instruction), instruction.is("LDG"));  // an address of 64 bits
        count(written, destination(instruction), instruction.access_bytes() > kWord);
    }
};

double meeting(const Banks& a, double of_a, const Banks& b, double of_b) {
    return (a[0] * b[0] + a[1] * b[1]) / (of_a * of_b);
}

}  // namespace

std::optional<double> register_bank_overlap(const sass::KernelCode& code, std::string_view arithmetic,
                                            std::string_view other) {
    Operands adds, others;
    for (const auto loop : code.loops())
        for (const auto& instruction : code.instructions().subspan(loop.first, loop.size())) {
            if (instruction.is(arithmetic)) adds.add(instruction);
            if (instruction.is(other)) others.add(instruction);
        }
    if (adds.instructions == 0 || others.instructions == 0) return std::nullopt;
    return (meeting(adds.read, adds.instructions, others.read, others.instructions) +
            meeting(adds.written, adds.instructions, others.written, others.instructions)) /
           2;
}

}  // namespace gputomo::measure
