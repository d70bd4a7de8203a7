// Ports of the register file: when an instruction can read its operands beside those of the instructions before it.
#pragma once

#include "machine/machine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::costs {

/// The register file of a scheduler. Registers are dealt to banks by number.
struct RegisterFile {
    std::uint32_t banks = 0;  ///< 0: operands never conflict
    std::uint32_t ports = 1;  ///< different registers that a bank gives at once
    double read_cycles = 1;   ///< for which a read occupies its port
};
[[nodiscard]] RegisterFile register_file_of(const machine::Machine& machine);

/// Source registers of an instruction.
struct OperandReads {
    struct Operand {
        std::uint8_t slot = 0;   ///< place in the reuse cache, 0 to 2
        std::uint8_t number = 0;
        std::uint8_t words = 1;  ///< registers from `number` on
        bool reuse = false;      ///< marked: the operand stays in the reuse cache
    };
    /// Machine instructions have three source slots.
    static constexpr std::size_t kMost = 3;
    std::array<Operand, kMost> operands{};
    std::uint8_t count = 0;

    void add(const Operand& operand) {
        if (count < kMost) operands[count++] = operand;
    }
};

/// The ports of one scheduler and its reuse cache, as loops of machine code showed them on an H100
/// (docs/notes/2026-11-25-register-ports.md). A bank reads one operand after the other. An instruction may issue while
/// earlier reads are left, if its own end within a window of three reads (Huerta et al. 2025). So conflicts of
/// neighbouring instructions even out. An instruction that reads a bank twice cannot directly follow another one that
/// does. The reuse cache has an entry for each operand slot and bank. It holds a marked operand until the slot reads
/// another register of that bank, or another warp issues.
class RegisterPorts {
public:
    explicit RegisterPorts(const RegisterFile& file)
        : file_(file), banks_(file.banks), kept_(OperandReads::kMost * file.banks) {}

    /// An instruction of `warp` that its scheduler has chosen at `now`. Returns when it issues, after bubbles.
    double issue(const OperandReads& reads, std::uint32_t warp, double now) {
        return file_.banks == 0 ? now : read_banks(reads, warp, now);
    }
    /// Cycles for which the busiest bank has read.
    [[nodiscard]] double busy() const;

private:
    struct Bank {
        double free = 0;          ///< when the reads before are done
        double conflict = -1e30;  ///< issue of the last instruction that read the bank more than once
        double busy = 0;
        std::uint32_t reads = 0;  ///< of the instruction that issues
    };
    static constexpr std::uint16_t kNothing = 0xFFFF;

    double read_banks(const OperandReads& reads, std::uint32_t warp, double now);
    void count_reads(const OperandReads& reads);
    void keep(const OperandReads& reads);
    [[nodiscard]] std::uint16_t& kept(const OperandReads::Operand& operand) {
        return kept_[operand.slot * file_.banks + operand.number % file_.banks];
    }
    [[nodiscard]] bool is_kept(const OperandReads::Operand& operand) { return kept(operand) == operand.number; }

    RegisterFile file_;
    std::vector<Bank> banks_;
    std::vector<std::uint16_t> kept_;  ///< by slot and bank: the register in the reuse cache
    std::uint32_t last_warp_ = 0xFFFFFFFF;
};

}  // namespace gputomo::costs
