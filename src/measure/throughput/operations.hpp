// The arithmetic operations that are timed: their PTX, their dependences, the GPUs that have them, and the machine
// instructions of current GPUs.
#pragma once

#include "ptx/builder.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gputomo::measure {

/// One row. A chain of an operation is x0 -> x1 -> x2 ...: each result is an operand of the next operation. Two
/// registers alternate as the destination, so that a compiler finds no constant to fold and no pair of additions to
/// merge. (Wong 2010, IV-B, writes this as t1 = f(t1, t2); t2 = f(t2, t1).)
struct TimedOperation {
    std::string_view name;  ///< key in `operations`: the PTX mnemonic, or CUDA's name of a sequence ("__expf")
    ptx::Type type;         ///< of the chain's registers
    /// One step of the chain: either the operands of `name`, or whole instructions separated by "; ". The operands are
    /// - d: the destination, the older of the last two results
    /// - a: the last result
    /// - b: what d holds before the step
    /// - t, u: scratch registers of the chain's type
    /// - l: a scratch register of 32 bits
    /// - q: a scratch predicate
    /// - x, y: 32-bit values that do not change
    /// - p: a predicate that does not change
    /// - m: a word of shared memory
    std::string_view code;
    std::string_view family;  ///< the unit that executes it if that is a separate one: "int", "half", ...
    /// Alternative machine instructions of current GPUs, one for each step: "IADD3|IMAD". Empty: unknown.
    std::string_view opcodes = {};
    int companions = 0;  ///< other machine instructions that each step may take
    int size = 1;        ///< approximate machine instructions of one step; long steps are timed in shorter chains
    int from_sm = 0;     ///< first compute capability that has it, 20 for 2.0
    int until_sm = 999;  ///< last compute capability that has it
    int from_ptx = 0;    ///< first PTX ISA version that has it, 62 for 6.2
    /// A further operation that the step needs to close the chain ("selp.b32" after a comparison). Its time is
    /// subtracted, and no rate is measured.
    std::string_view bridge = {};
};

/// All rows.
[[nodiscard]] std::span<const TimedOperation> all_operations();
/// The rows for a GPU of this target. If `quick`, only those among the first rows, which every GPU of the papers has.
[[nodiscard]] std::vector<TimedOperation> timed_operations(const ptx::Target& target, bool quick = false);

/// A load of the one word in shared memory that all threads read. It occupies issue slots but no arithmetic unit.
[[nodiscard]] TimedOperation idle_operation();

/// A pipeline, observed through its simplest instruction.
struct TimedPipeline {
    std::string_view name;  ///< key in `pipelines`: "sp", "sfu", "dpu" (Wong 2010, Table II)
    TimedOperation operation;
};

/// The pipelines of a GPU of this target. From sm_20 on rsqrt.approx.f32 scales denormals before and after; the
/// flushing form is the bare instruction of the SFU.
[[nodiscard]] std::vector<TimedPipeline> timed_pipelines(const ptx::Target& target);

}  // namespace gputomo::measure
