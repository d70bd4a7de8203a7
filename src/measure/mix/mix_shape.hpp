// What a mix of one other instruction and floating-point adds is made of: the workload of Volkov 2016, 4.1, 5.1
// and 5.2.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::measure {

/// What is mixed with floating-point adds.
enum class MixAccess : std::uint8_t {
    global,           ///< streaming loads, coalesced, each of a line that no other reads
    shared,           ///< loads of one word by all threads
    sfu,              ///< reciprocal square roots
    l1,               ///< loads that the SM's cache answers
    l2,               ///< loads that go past it to a cache of the whole GPU
    shared_conflict,  ///< loads with two-way bank conflicts
    tensor,  ///< products of matrices, 16x8x16 of half precision, added up in single precision; adds to one of a
             ///< thread's four sums
};

/// A pointer has 8 bytes and is read by two threads, so that a warp reads one line, as with the 4-byte pointers of
/// Volkov 2016, 5.1.
inline constexpr int kMixPointerBytes = 8;

/// In the order of the enumeration: "global", "shared", ...
[[nodiscard]] std::span<const MixAccess> mix_accesses();
[[nodiscard]] std::string_view name_of(MixAccess access);
[[nodiscard]] std::optional<MixAccess> mix_access_named(std::string_view name);
/// All names, with commas.
[[nodiscard]] std::string mix_access_names();

/// Then those that a turn costs are less than 1% (Volkov 2016, 5.1: 500 to 1000).
inline constexpr int kLoopLength = 720;

struct MixShape {
    MixAccess access = MixAccess::global;
    int alpha = 1;   ///< arithmetic instructions of the repeating group
    int chains = 1;  ///< independent chains of a warp (instruction-level parallelism)
    /// Adds alone; alpha and accesses are then not used.
    bool arithmetic_only = false;
    int accesses = 1;  ///< other instructions of the repeating group
    /// The compiler leaves moves out. Where it does not, joining the halves of a pointer after an add is an instruction
    /// and counts as an add.
    bool moves_vanish = false;
    int loop_length = kLoopLength;  ///< instructions of a turn of the loop, at most; a turn has five of its own besides

    [[nodiscard]] bool reads_lines() const;
    [[nodiscard]] bool reads_shared() const;
    [[nodiscard]] bool multiplies() const { return !arithmetic_only && access == MixAccess::tensor; }
    /// Of the other instruction, in PTX: what it does with words, and with whole pointers where it reads lines.
    [[nodiscard]] std::string_view instruction() const;
    [[nodiscard]] std::string_view wide_instruction() const;
    /// Adds of a repeating group, joins of pointers not counted. Their upper half is the same for all.
    [[nodiscard]] int adds() const;
    /// Loads of a whole pointer of a repeating group: where joining halves costs something, all that no arithmetic
    /// follows.
    [[nodiscard]] int wide_loads() const { return reads_lines() && !moves_vanish ? accesses - (alpha > 0 ? 1 : 0) : 0; }
    /// Whether a pointer is at last a word, to be joined with its upper half.
    [[nodiscard]] bool ends_as_word() const { return moves_vanish || alpha > 0; }
    [[nodiscard]] int group() const {
        return arithmetic_only ? 1 : accesses + alpha;
    }                                  ///< instructions of the repeating group
    [[nodiscard]] int groups() const;  ///< repeating groups of one chain in a turn
    /// Of the mix in one turn of the kernel's loop, all chains together, or fewer where they wait for slow loads.
    [[nodiscard]] int instructions() const { return groups() * chains * group(); }
    [[nodiscard]] int lines() const {
        return reads_lines() ? groups() * accesses : 0;
    }  ///< that a chain reads in a turn
    [[nodiscard]] std::string name() const;
};

[[nodiscard]] std::vector<CodeExpectation> expected_code(const MixShape& shape);

}  // namespace gputomo::measure
