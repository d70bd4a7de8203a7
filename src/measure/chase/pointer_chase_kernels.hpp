// Kernels of the pointer chase and the layout of their results.
#pragma once

#include "measure/chase/pointer_chase.hpp"

namespace gputomo::measure {

/// Value of `wanted_sm` for a chase that may run anywhere.
inline constexpr std::uint32_t kAnySm = 0xffff'ffff;
/// Results: u32 claim flag, u32 begin, u32 end, u32 padding, u64 last address, u32 checksum, u32 unused; then the
/// records. The checksum is the sum of the low halves of what the recorded loads returned.
inline constexpr std::int64_t kHeaderBytes = 32, kSumOffset = 24;
/// A record: u16 cycles, at most kLongestReading. Records are small because caches that a launch empties must be
/// filled again for each launch.
inline constexpr std::int64_t kRecordBytes = 2;
inline constexpr std::uint32_t kLongestReading = 0xffff;

/// Loads in one record of the kernel that calibrates recording if single readings are disturbed.
inline constexpr int kLoadsOfPair = 2;

/// The code check of `loads` loads of an address each between two clock reads.
[[nodiscard]] TimedCode timed_loads(LoadHint hint, int loads);

}  // namespace gputomo::measure
