// Instruction fetch: when a warp's next instruction is in its instruction buffer.
#pragma once

#include "machine/machine.hpp"
#include "sim/memory/memory_system.hpp"

#include <cstdint>
#include <string>

namespace gputomo::sim {

struct FetchSpec {
    bool fetches = false;                 ///< false: there is no paths.instruction, and instructions are always there
    std::uint64_t block_bytes = 1;        ///< bytes that one fetch brings into a warp's instruction buffer
    std::uint64_t line_bytes = 1;         ///< line of the first instruction cache
    std::uint64_t prefetch_lines = 0;     ///< lines requested in advance when a warp comes to a new line
    std::uint64_t instruction_bytes = 8;  ///< of one machine instruction, where the code is PTX
    double hidden_latency = 0;            ///< cycles of a hit in the first instruction cache, which pipelining hides
};
/// Bytes of one machine instruction; GPUs before Volta, which may not say it, have 8.
[[nodiscard]] std::uint64_t instruction_bytes_of(const machine::Machine& machine);

[[nodiscard]] FetchSpec fetch_spec_of(const machine::Machine& machine);

/// The state of one warp: the fetch block that its instruction buffer holds.
struct InstructionBuffer {
    std::uint64_t begin = 0, end = 0;  ///< addresses; equal where the buffer is empty
    [[nodiscard]] bool is_empty() const { return begin == end; }
    [[nodiscard]] bool holds(std::uint64_t address) const { return address >= begin && address < end; }
};

struct FetchUnit {
    FetchSpec spec;
    std::uint64_t code_end = 0;  ///< address behind the kernel's last instruction; nothing is prefetched from there on
    MemorySystem& memory;
};

struct FetchRequest {
    std::uint64_t address = 0;  ///< of the next instruction
    std::uint32_t sm = 0;
    std::uint32_t scheduler = 0;  ///< within the SM
};

/// Brings the block of an instruction that the buffer does not hold. Returns the cycle from which it can issue: `now`
/// where a pipelined hit brings it.
[[nodiscard]] double fetch_block(FetchUnit& unit, InstructionBuffer& buffer, const FetchRequest& request, double now);

/// Cycle from which the instruction can issue: `now` where the buffer holds it or a pipelined hit brings it.
[[nodiscard]] inline double fetch(FetchUnit& unit, InstructionBuffer& buffer, const FetchRequest& request, double now) {
    return buffer.holds(request.address) ? now : fetch_block(unit, buffer, request, now);
}

/// One line for the report of a deadlock.
[[nodiscard]] std::string describe(const FetchSpec& spec, const InstructionBuffer& buffer);

}  // namespace gputomo::sim
