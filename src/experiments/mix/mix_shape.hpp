// What a mix of one other instruction and floating-point adds is made of, and its kernel: the workload of Volkov 2016, 4.1, 5.1 and 5.2.
#pragma once

#include "experiments/compiled_kernel.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::experiments {

/// What is mixed with floating-point adds.
enum class MixAccess : std::uint8_t {
    global,           ///< streaming loads, coalesced, each of a line that no other reads
    shared,           ///< loads of one word by all threads
    sfu,              ///< reciprocal square roots
    l1,               ///< loads that the SM's cache answers
    l2,               ///< loads that go past it to a cache of the whole GPU
    shared_conflict,  ///< loads with two-way bank conflicts
    tensor,           ///< products of matrices, 16x8x16 of half precision, added up in single precision; adds to one of a thread's four sums
};

/// In the order of the enumeration: "global", "shared", ...
[[nodiscard]] std::span<const MixAccess> mix_accesses();
[[nodiscard]] std::string_view name_of(MixAccess access);
[[nodiscard]] std::optional<MixAccess> mix_access_named(std::string_view name);
/// All names, with commas.
[[nodiscard]] std::string mix_access_names();

/// Then those that a turn costs are less than 1% (Volkov 2016, 5.1: 500 to 1000).
inline constexpr int kTurn = 720;

struct MixShape {
    MixAccess access = MixAccess::global;
    int alpha = 1;   ///< arithmetic instructions of the repeating group
    int chains = 1;  ///< independent chains of a warp (instruction-level parallelism)
    /// Adds alone; alpha and accesses are then not used.
    bool arithmetic_only = false;
    int accesses = 1;  ///< other instructions of the repeating group
    /// The compiler leaves moves out. Where it does not, joining the halves of a pointer after an add is an instruction and counts as an add.
    bool moves_vanish = false;
    int turn = kTurn;  ///< instructions of a turn of the loop, at most; a turn has five of its own besides

    [[nodiscard]] bool reads_lines() const;
    [[nodiscard]] int group() const { return arithmetic_only ? 1 : accesses + alpha; }  ///< instructions of the repeating group
    [[nodiscard]] int groups() const;                                                   ///< repeating groups of one chain in a turn
    /// Of the mix in one turn of the kernel's loop, all chains together, or fewer where they wait for slow loads.
    [[nodiscard]] int instructions() const { return groups() * chains * group(); }
    [[nodiscard]] int lines() const { return reads_lines() ? groups() * accesses : 0; }  ///< that a chain reads in a turn
    [[nodiscard]] std::string name() const;
};

/// What one warp stores; times are those of its SM's clock.
struct MixRecord {
    struct Mark {
        std::uint32_t time = 0;
        std::uint32_t turns = 0;  ///< done until then
        std::uint32_t begin = 0;  ///< when the last of them began
    };
    Mark settled;                ///< the first end of a turn behind the time to settle
    Mark counted;                ///< and behind the window that counts
    Mark ended;                  ///< and behind the time in which others count
    std::uint32_t pointers = 0;  ///< sum over the chains
    std::uint32_t sm = 0;
    std::uint32_t arrival = 0;  ///< at the gate
    std::uint32_t start = 0;    ///< of the first turn
    std::uint32_t origin = 0;   ///< of the times to settle and to count: the same for all warps of an SM that come through a gate
    std::uint32_t turns = 0;    ///< in all
};

/// x + -0 is x for every x that is a number, zeros of both signs and denormal ones included. The kernel's argument `zero`.
inline constexpr std::uint32_t kMixZero = 0x80000000;
/// Compute capability from which on matrices of that shape are multiplied (PTX ISA 9.7.14.4).
inline constexpr int kTensorFrom = 80;

/// What chains without pointers start at and keep: 1.
inline constexpr std::uint32_t kMixOne = 0x3f800000;

inline constexpr std::uint32_t kGateCycles = 1'000'000;

/// A gate that opens when all blocks of the grid have come to it, or after kGateCycles; so all of them are on their SMs together, and where a scheduler
/// prefers old warps, young ones have come before the old ones take all of its time. Behind it the first block of an SM sets the origin of its times, so that what all
/// did in one window of time can be counted, however unevenly they went on. Then turns of a loop until `settle` cycles are over, until `settle` + `window` are, and
/// until `settle` + `window` + `after` are; at most `most_turns`. Below compute capability 2.0 there is no gate, and each warp's times begin at its own start.
/// Arguments: those of the lines, most_turns, settle, window, after (u32), zero (f32), records, gate (u64), goal (u32): what the word at `gate` has when
/// all have come, origins (u64): a zero for each SM.
[[nodiscard]] ptx::KernelBuilder mix_kernel(ptx::Target target, const MixShape& shape);
[[nodiscard]] std::vector<CodeExpectation> expected_code(const MixShape& shape);

}  // namespace gputomo::experiments
