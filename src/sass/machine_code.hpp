// Decodes the machine code of a kernel far enough to check that the timed instructions are those that were written.
#pragma once

#include "sass/cubin.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::sass {

/// A general register that an instruction reads.
struct RegisterOperand {
    int slot = 0;  ///< 0 to 2, the position among the operands
    std::uint8_t number = 0;
    bool reuse = false;  ///< the compiler marked it for the operand reuse cache (bits 122 to 124 of the instruction)
    constexpr bool operator==(const RegisterOperand&) const = default;
};

/// One 16-byte instruction of compute capability 7.0 or newer.
struct MachineInstruction {
    std::uint64_t low = 0;  ///< its first 8 bytes
    std::uint64_t high = 0;
    std::optional<std::size_t> target;  ///< index of the instruction that a branch goes to, if it is in the kernel

    /// The lowest 12 bits: the operation, and where its operands come from.
    [[nodiscard]] std::uint16_t opcode() const { return static_cast<std::uint16_t>(low & 0xfff); }
    /// "FADD"; "0x1fe" for an unknown opcode.
    [[nodiscard]] std::string name() const;
    [[nodiscard]] bool is(std::string_view opcode_name) const;
    /// sass::Facts::slow; false for an unknown opcode.
    [[nodiscard]] bool slow() const;
    /// Whether it waits for the results of earlier variable-latency instructions, by the dependence barriers in its
    /// control bits (bits 116 to 121) or because it is DEPBAR.
    [[nodiscard]] bool waits() const;
    /// Bytes that a load or store of global, shared, local or generic memory moves for each thread; 0 for other
    /// instructions.
    [[nodiscard]] int access_bytes() const;
    /// The register that CS2R, CS2UR, S2R and S2UR read.
    [[nodiscard]] std::optional<std::uint8_t> special_register() const;
    [[nodiscard]] bool reads_clock() const;
    /// General registers that an instruction with three register operands (FFMA, IMAD) reads, without the zero
    /// register. Empty if one of its operands is no register.
    [[nodiscard]] std::vector<RegisterOperand> three_operands() const;
    /// "@!P0 "; empty for an instruction that is always executed.
    [[nodiscard]] std::string guard() const;
    /// "@!P0 BRA 0x40", "LDG.64"
    [[nodiscard]] std::string text() const;
};

/// Instructions [first, last).
struct CodeRange {
    std::size_t first = 0;
    std::size_t last = 0;
    [[nodiscard]] std::size_t size() const { return last - first; }
    constexpr bool operator==(const CodeRange&) const = default;
};

using OpcodeCounts = std::map<std::string, int>;

class KernelCode {
public:
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] std::span<const MachineInstruction> instructions() const { return instructions_; }
    [[nodiscard]] CodeRange all() const { return {0, instructions_.size()}; }
    /// How often each opcode occurs in a range.
    [[nodiscard]] OpcodeCounts counts(CodeRange range) const;
    /// The code between each clock read and the next one, in code order and without the reads. A clock read whose
    /// result is unused counts too.
    [[nodiscard]] std::vector<CodeRange> between_clock_reads() const;
    /// Loops: each from the target of a backward branch up to and including the branch. The branch to itself that ends
    /// every kernel does not count.
    [[nodiscard]] std::vector<CodeRange> loops() const;
    /// One line per instruction: offset, text, bytes. Three or more equal neighbours share a line.
    [[nodiscard]] std::string listing(CodeRange range) const;

private:
    friend KernelCode kernel_code(const Cubin& cubin, std::string_view kernel);
    std::string name_;
    std::vector<MachineInstruction> instructions_;
};

/// The reason why kernel_code() can't read this cubin's instructions; empty if it can. Compute capability 7.0
/// introduced the encoding, and it was checked up to 12.1.
[[nodiscard]] std::string unsupported_reason(const Cubin& cubin);

/// Throws InputError if there is no such kernel, if its code ends within an instruction, or if unsupported_reason() has
/// a reason.
[[nodiscard]] KernelCode kernel_code(const Cubin& cubin, std::string_view kernel);

}  // namespace gputomo::sass
