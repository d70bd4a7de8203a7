// The arithmetic operations that are timed: how PTX spells them, how a dependent chain of them is built, and which machine
// instruction a current GPU makes of them.
#pragma once

#include "ptx/builder.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gputomo::experiments {

struct TimedOperation {
    std::string_view mnemonic;  ///< "add.s32", also the key in `operations`
    ptx::Type type;             ///< of the chain's registers
    int sources;                ///< operands read
    std::string_view opcodes;   ///< machine instructions that current GPUs have for it, one of them each: "IADD3|IMAD"
    int companions = 0;         ///< other machine instructions that each may take
};

/// The rows of `operations` that the scan fills.
[[nodiscard]] std::span<const TimedOperation> timed_operations();

/// A pipeline, seen through its simplest instruction.
struct TimedPipeline {
    std::string_view name;  ///< key in `pipelines`: "sp", "sfu", "dpu" (Wong 2010, Table II)
    TimedOperation operation;
};

/// The pipelines of a GPU of this target. From sm_20 on rsqrt.approx.f32 scales denormals before and after; the flushing
/// form is the bare instruction of the SFU.
[[nodiscard]] std::vector<TimedPipeline> timed_pipelines(const ptx::Target& target);

/// One chain x0 -> x1 -> x2 ...: every operation reads the result of the one before. Two registers take turns as the
/// destination, so that a compiler finds no constant to fold and no pair of additions to merge into one.
struct Chain {
    ptx::Reg even;
    ptx::Reg odd;
};

/// Appends `count` dependent operations to each of the chains in turn. `count` is even: the last result is in `odd`.
void append_chains(ptx::KernelBuilder& kernel, const TimedOperation& operation, std::span<const Chain> chains, int count);

/// Bits of operands that keep a chain of any length from doing anything special: u32 pairs (low, high word) of `even` and
/// `odd`, to be read by ld.global.
[[nodiscard]] std::vector<std::uint64_t> initial_operands(const TimedOperation& operation, int chains);

}  // namespace gputomo::experiments
