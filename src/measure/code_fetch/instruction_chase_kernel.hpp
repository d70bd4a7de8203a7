// The kernel of the chase through code: a dispatcher and its slots.
#pragma once

#include "ptx/builder.hpp"
#include "units/warp.hpp"

#include <cstdint>

namespace gputomo::measure::code_chase {

/// Instructions of a slot: 64 or 128 bytes, depending on the GPU.
inline constexpr std::uint32_t kSlotInstructions = 8;
/// Bytes of the dispatcher, padded, if it lies in front of the slots. The first slot's address is a multiple of
/// kAlignment.
inline constexpr std::uint64_t kHead = 256, kAlignment = 512;
inline constexpr std::uint32_t kWarp = kWarpSize;
/// Parameters `wanted_sm` and `rival_sm`: any SM will do, or there is no rival.
inline constexpr std::uint32_t kAnySm = 0xffff'ffff, kNoSm = 0xffff'fffe;
/// Results: u32 claim flag, unused word, rival's claim flag, number of arrivals at the meeting point, hardware slots
/// of both warps. The records follow, a u32 clock reading each, and then the rival's.
inline constexpr std::int64_t kHeaderBytes = 32, kRivalClaim = 8, kMeetings = 12, kWarpSlot = 16, kRivalsSlot = 20;
/// Entries of the jump table after those of the slots: code that reads constants, and code that waits for the other
/// block.
inline constexpr std::uint32_t kConstantsEntry = 0, kMeetingEntry = 1, kFurtherEntries = 2;
/// Bytes of an entry of the jump table, which lies in constant memory, and of a constant cache line.
inline constexpr std::uint64_t kEntryBytes = 4, kTableLine = 64;

/// Entries of the jump table for `slots` slots. Slots that are 8 apart have neighbouring entries, and each of eight
/// such groups begins at a line. So sequences in steps of 2, 4 or 8 slots read as few lines as sequences of adjacent
/// slots.
[[nodiscard]] std::uint32_t entries_of(std::uint32_t slots);
[[nodiscard]] std::uint32_t entry_of(std::uint32_t slot, std::uint32_t slots);
/// Visits of a sequence that reads at most `lines` lines of the table, whichever of these steps it has.
[[nodiscard]] std::uint64_t visits_of_lines(std::uint64_t lines);

/// Padding instructions: between the prologue and the dispatcher, and within the dispatcher.
struct Filling {
    std::uint32_t before = 0, within = 0;
};

[[nodiscard]] ptx::KernelBuilder chase_kernel(ptx::Target target, std::uint32_t slots, Filling filling);

}  // namespace gputomo::measure::code_chase
