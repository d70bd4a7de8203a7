// The kernel of the chase through code: a dispatcher and slots, and where the compiler put them.
#pragma once

#include "ptx/builder.hpp"

#include <cstdint>

namespace gputomo::measure::code_chase {

/// Instructions of a slot: 64 or 128 bytes.
inline constexpr std::uint32_t kSlotInstructions = 8;
/// Bytes of the dispatcher where it lies in front of the slots, filled up; the first slot's place is a multiple of
/// kAlignment.
inline constexpr std::uint64_t kHead = 256, kAlignment = 512;
inline constexpr std::uint32_t kWarp = 32;
/// Parameters `wanted_sm` and `rival_sm`: any will do, or there is none.
inline constexpr std::uint32_t kAnySm = 0xffff'ffff, kNoSm = 0xffff'fffe;
/// Results: u32 claim flag, sink, claim flag of a rival, how often one of both came to where they meet, slots of both
/// warps in their SMs; then the records, a u32 clock reading each, and the rival's.
inline constexpr std::int64_t kHeaderBytes = 32, kRivalClaim = 8, kMeetings = 12, kWarpSlot = 16, kRivalsSlot = 20;
/// Entries of the jumps' table behind those of the slots: code that reads constants, and code that waits for the other
/// block.
inline constexpr std::uint32_t kConstantsEntry = 0, kMeetingEntry = 1, kFurtherEntries = 2;
/// Bytes of an entry of the jumps' table, which lies in constant memory, and of a line there.
inline constexpr std::uint64_t kEntryBytes = 4, kTableLine = 64;

/// Entries of the jumps' table for so many slots. Those of slots that lie 8 apart are neighbours, and eight groups of
/// them begin at a line each, so that tours in steps of 2, 4 or 8 slots read as few lines as tours of all slots of a
/// piece of code.
[[nodiscard]] std::uint32_t entries_of(std::uint32_t slots);
[[nodiscard]] std::uint32_t entry_of(std::uint32_t slot, std::uint32_t slots);
/// Visits of a tour that reads no more lines of the table, in whichever of these steps it goes.
[[nodiscard]] std::uint64_t visits_of_lines(std::uint64_t lines);

/// Instructions that fill up the code: between prologue and dispatcher, and in the dispatcher.
struct Filling {
    std::uint32_t before = 0, within = 0;
};

[[nodiscard]] ptx::KernelBuilder chase_kernel(ptx::Target target, std::uint32_t slots, Filling filling);

}  // namespace gputomo::measure::code_chase
