// Decodes a parsed PTX kernel: its parameters, variables, operands and instructions.
#pragma once

#include "ptx/ir.hpp"
#include "sim/exec/program.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace gputomo::sim {

class Decoder {
public:
    Decoder(const ptx::Module& module, const ptx::Kernel& kernel, const SymbolTable& symbols)
        : module_(module), kernel_(kernel), symbols_(symbols) {}

    /// May be called once. Throws InputError naming kernel, line and instruction.
    Program run();

private:
    // ---- variables and operands (decode_operands.cpp)
    [[nodiscard]] static std::uint16_t slot_count(std::size_t n);
    [[noreturn]] void fail(const std::string& what) const;
    void lay_out_parameters();
    void lay_out_local();
    void place_shared(const ptx::Variable& variable);
    void lay_out_shared();
    std::uint16_t constant(std::uint64_t bits);
    /// The bits of a literal, in the type of the instruction that reads it.
    [[nodiscard]] static std::uint64_t literal_bits(const ptx::Immediate& immediate, ptx::Type type);
    [[nodiscard]] std::uint64_t symbol_address(const std::string& name) const;
    std::uint16_t slot(const ptx::Operand& operand, ptx::Type type);
    /// Unused results go to a slot of their own.
    std::uint16_t sink();
    /// The condition code register of the extended-precision instructions.
    std::uint16_t carry();
    /// Fills Operation::waits and writes.
    void note_registers(Operation& op) const;
    std::uint16_t cost_index(const ptx::Instruction& instruction);
    [[nodiscard]] std::uint64_t parameter_offset(const std::string& name) const;
    [[nodiscard]] std::uint32_t label(const std::string& name) const;
    void set_address(const ptx::Operand& operand, Operation& op);
    void set_vector(const ptx::Operand& operand, Operation& op);
    void decode_destinations(const ptx::Instruction& instruction, Operation& op);
    void decode_sources(const ptx::Instruction& instruction, Operation& op);

    // ---- arithmetic (decode_arithmetic.cpp)
    void decode_arithmetic(const ptx::Instruction& instruction, Operation& op);
    [[nodiscard]] ExecuteFunction function_of(const ptx::Instruction& instruction) const;
    [[nodiscard]] static bool is_vector(const ptx::Instruction& mov);
    void decode_packing(const ptx::Instruction& instruction, Operation& op);
    /// The truth table must be a literal, as ptxas requires.
    void decode_lop3(const ptx::Instruction& instruction, Operation& op);
    /// Generic addresses are global ones, except in the windows of shared and local memory.
    void decode_cvta(const ptx::Instruction& instruction, Operation& op);

    // ---- the kernel, memory and control flow (decode.cpp)
    Operation decode(const ptx::Instruction& instruction);
    /// decode(), or what is refused when a thread reaches it.
    Operation decode_or_refuse(const ptx::Instruction& instruction);
    void decode_special(const ptx::Instruction& instruction, Operation& op);
    void decode_memory(const ptx::Instruction& instruction, Operation& op);
    void decode_atomic(const ptx::Instruction& instruction, Operation& op);
    void decode_texture(const ptx::Instruction& instruction, Operation& op);
    void decode_indexed_branch(const ptx::Instruction& instruction, Operation& op);
    void decode_barrier(const ptx::Instruction& instruction, Operation& op);

    const ptx::Module& module_;
    const ptx::Kernel& kernel_;
    const SymbolTable& symbols_;
    const ptx::Instruction* at_ = nullptr;
    Program program_;
    std::map<std::uint64_t, std::uint16_t> constant_slots_;
    std::map<std::string, std::uint16_t> costs_;
    std::map<std::string, std::uint64_t> shared_;
    std::map<std::string, std::uint64_t> local_;
    std::uint16_t carry_ = kNoSlot;
    std::uint16_t sink_ = kNoSlot;
};

}  // namespace gputomo::sim
