// The composition of a mix of floating-point adds and one other instruction: the workload of Volkov 2016, 4.1, 5.1 and
// 5.2.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::measure {

/// The instruction that is mixed with floating-point adds.
enum class MixAccess : std::uint8_t {
    global,           ///< coalesced streaming loads, each of a line that no other load reads
    shared,           ///< loads of one word by all threads
    sfu,              ///< reciprocal square roots
    l1,               ///< loads that hit in the L1
    l2,               ///< loads that bypass the L1 and hit in the L2
    shared_conflict,  ///< shared-memory loads with two-way bank conflicts
    /// matrix multiply-accumulate (MMA), 16x8x16, half precision with single-precision accumulators; adds use one of a
    /// thread's four accumulators
    tensor,
};

/// A pointer has 8 bytes and two threads read it, so a warp reads one line, as with the 4-byte pointers of Volkov
/// 2016, 5.1.
inline constexpr int kMixPointerBytes = 8;

/// In the order of the enumeration: "global", "shared", ...
[[nodiscard]] std::span<const MixAccess> mix_accesses();
[[nodiscard]] std::string_view name_of(MixAccess access);
[[nodiscard]] std::optional<MixAccess> mix_access_named(std::string_view name);
/// All names, separated by commas.
[[nodiscard]] std::string mix_access_names();

/// Loop length with which the loop's own instructions cost less than 1% (Volkov 2016, 5.1: 500 to 1000).
inline constexpr int kLoopLength = 720;

/// A loop whose body repeats groups of `accesses` other instructions and `alpha` adds, in `chains` independent chains.
struct MixShape {
    MixAccess access = MixAccess::global;
    int alpha = 1;   ///< arithmetic instructions of the repeating group
    int chains = 1;  ///< independent chains of a warp (instruction-level parallelism)
    /// Adds alone; alpha and accesses are unused.
    bool arithmetic_only = false;
    int accesses = 1;  ///< other instructions of the repeating group
    /// Whether the compiler removes moves. If not, joining the halves of a pointer after an add is an instruction and
    /// counts as an add.
    bool moves_vanish = false;
    int loop_length = kLoopLength;  ///< most instructions of a loop iteration, besides five of the loop itself

    [[nodiscard]] bool reads_lines() const;
    [[nodiscard]] bool reads_shared() const;
    [[nodiscard]] bool uses_mma() const { return !arithmetic_only && access == MixAccess::tensor; }
    /// The PTX mnemonic of the other instruction, for words and for whole pointers.
    [[nodiscard]] std::string_view instruction() const;
    [[nodiscard]] std::string_view wide_instruction() const;
    /// Adds of a repeating group without the joins of pointers. All pointers share their upper half.
    [[nodiscard]] int adds() const;
    /// Loads of a whole pointer in a repeating group. If joins cost an instruction, these are all loads that no
    /// arithmetic follows.
    [[nodiscard]] int wide_loads() const { return reads_lines() && !moves_vanish ? accesses - (alpha > 0 ? 1 : 0) : 0; }
    /// Whether a pointer ends as a word that has to be joined with its upper half.
    [[nodiscard]] bool ends_as_word() const { return moves_vanish || alpha > 0; }
    /// Instructions of the repeating group.
    [[nodiscard]] int group() const { return arithmetic_only ? 1 : accesses + alpha; }
    /// Repeating groups of one chain in a loop iteration.
    [[nodiscard]] int groups() const;
    /// Instructions of the mix in one loop iteration, all chains together; fewer than loop_length if they wait for
    /// slow loads.
    [[nodiscard]] int instructions() const { return groups() * chains * group(); }
    /// Lines that a chain reads in a loop iteration.
    [[nodiscard]] int lines() const { return reads_lines() ? groups() * accesses : 0; }
    [[nodiscard]] std::string name() const;
};

/// The code checks of a kernel with this mix.
[[nodiscard]] std::vector<CodeExpectation> expected_code(const MixShape& shape);

}  // namespace gputomo::measure
