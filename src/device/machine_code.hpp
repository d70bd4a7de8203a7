// The instructions that the driver's compiler made of a kernel: enough of them to tell whether what is timed is what
// was written.
#pragma once

#include "device/cubin.hpp"
#include "device/machine_opcodes.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::device {

/// A general register that an instruction reads.
struct RegisterOperand {
    int slot = 0;  ///< 0 to 2, the place among the operands
    std::uint8_t number = 0;
    bool reuse = false;  ///< the compiler marked it to be kept at its place for a later instruction (bits 122 to 124 of
                         ///< the instruction)
    constexpr bool operator==(const RegisterOperand&) const = default;
};

/// One 16-byte instruction of compute capability 7.0 or newer.
struct MachineInstruction {
    std::uint64_t low = 0;  ///< its first 8 bytes
    std::uint64_t high = 0;
    std::optional<std::size_t> target;  ///< index of the instruction that a branch goes to, where that is in the kernel

    /// The lowest 12 bits: what it does, and where it gets its operands.
    [[nodiscard]] std::uint16_t opcode() const { return static_cast<std::uint16_t>(low & 0xfff); }
    /// "FADD"; "0x1fe" where the opcode isn't known.
    [[nodiscard]] std::string name() const;
    [[nodiscard]] bool is(std::string_view opcode_name) const;
    /// OpcodeRow::slow; false where the opcode isn't known.
    [[nodiscard]] bool slow() const;
    /// Whether it is issued only once what earlier instructions load has come, as the compiler wrote into its control
    /// bits (bits 116 to 121), or by DEPBAR.
    [[nodiscard]] bool waits() const;
    /// Bytes that a load or store of global, shared, local or generic memory moves for each thread; 0 for other
    /// instructions.
    [[nodiscard]] int access_bytes() const;
    /// The register that CS2R, CS2UR, S2R and S2UR read.
    [[nodiscard]] std::optional<std::uint8_t> special_register() const;
    [[nodiscard]] bool reads_clock() const;
    /// General registers that an instruction of three such operands (FFMA, IMAD) reads, without the zero register;
    /// empty where one of the operands is something else.
    [[nodiscard]] std::vector<RegisterOperand> three_operands() const;
    /// "@!P0 "; empty for an instruction that is always carried out.
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
    /// How often each opcode stands in a range.
    [[nodiscard]] OpcodeCounts counts(CodeRange range) const;
    /// The code between each clock read and the next one, neither included, in the order of the code. A clock read
    /// whose result is thrown away counts too.
    [[nodiscard]] std::vector<CodeRange> between_clock_reads() const;
    /// Loops: from where a backward branch goes to the branch itself, included. The branch to itself that ends every
    /// kernel is none.
    [[nodiscard]] std::vector<CodeRange> loops() const;
    /// One line an instruction: offset, text, bytes. Equal instructions that follow each other share one line.
    [[nodiscard]] std::string listing(CodeRange range) const;

private:
    friend KernelCode decode(const Cubin& cubin, std::string_view kernel);
    std::string name_;
    std::vector<MachineInstruction> instructions_;
};

/// Why decode() can't read this cubin's instructions; empty where it can. Compute capability 7.0 brought the encoding,
/// and it was checked up to 12.1.
[[nodiscard]] std::string not_supported(const Cubin& cubin);

/// Throws InputError when the kernel isn't there, its code isn't whole instructions, or not_supported() says so.
[[nodiscard]] KernelCode decode(const Cubin& cubin, std::string_view kernel);

}  // namespace gputomo::device
