// The arithmetic operations that are timed: how PTX spells them, what depends on what, which GPUs have them, and which
// machine instruction a current one makes of them.
#pragma once

#include "ptx/builder.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gputomo::measure {

/// One row. A chain of an operation is x0 -> x1 -> x2 ...: each result is an operand of the next operation, and two
/// registers take turns as the destination, so that a compiler finds no constant to fold and no pair of additions to
/// merge (Wong 2010, IV-B, writes the same as t1 = f(t1, t2); t2 = f(t2, t1)).
struct TimedOperation {
    std::string_view name;  ///< key in `operations`: the PTX mnemonic, or CUDA's name of a sequence ("__expf")
    ptx::Type type;         ///< of the chain's registers
    /// One step of the chain. Either the operands of `name`, or a sequence of whole instructions separated by "; ".
    ///   d  the destination, the older of the last two results    a  the last result    b  as d: what it holds before
    ///   the step t u  scratch of the chain's type    l  scratch of 32 bits    q  scratch predicate    x y  32-bit
    ///   values that stay    p  a predicate that stays m  a word of shared memory
    std::string_view code;
    std::string_view family;  ///< names the unit that executes it, where it is one of its own: "int", "half", ...
    std::string_view opcodes =
        {};  ///< machine instructions that current GPUs have for it, one of them each: "IADD3|IMAD"; empty: not said
    int companions = 0;  ///< other machine instructions that each may take
    int size = 1;        ///< machine instructions of one step, roughly; long ones are timed in shorter chains
    int from_sm = 0;     ///< compute capability that has it, 20 for 2.0
    int until_sm = 999;  ///< the last one
    int from_ptx = 0;    ///< PTX ISA version that has it, 62 for 6.2
    /// An operation that the step needs besides to close the chain ("selp.b32" after a comparison): its time is taken
    /// off, and no rate is measured.
    std::string_view bridge = {};
};

/// All rows.
[[nodiscard]] std::span<const TimedOperation> all_operations();
/// Those that a GPU of this target has. Where `quick` is set, only those of the first ones that every GPU of the papers
/// has.
[[nodiscard]] std::vector<TimedOperation> timed_operations(const ptx::Target& target, bool quick = false);

/// A load of the one word in shared memory that all threads read: keeps no arithmetic unit busy, only issue slots.
[[nodiscard]] TimedOperation idle_operation();

/// A pipeline, seen through its simplest instruction.
struct TimedPipeline {
    std::string_view name;  ///< key in `pipelines`: "sp", "sfu", "dpu" (Wong 2010, Table II)
    TimedOperation operation;
};

/// The pipelines of a GPU of this target. From sm_20 on rsqrt.approx.f32 scales denormals before and after; the
/// flushing form is the bare instruction of the SFU.
[[nodiscard]] std::vector<TimedPipeline> timed_pipelines(const ptx::Target& target);

}  // namespace gputomo::measure
